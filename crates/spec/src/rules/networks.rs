//! Networks that would overlap, or are too small.

use std::net::Ipv4Addr;

use super::Rule;
use super::addresses::network_span;
use crate::cluster::{AddonName, AddonOptions, Cloud, CloudKind, Cluster, Hetzner, Routing};
use crate::plan::{
    LARGEST_NETWORK, NetworkPlan, PoolSubnet, SMALLEST_NETWORK, SUBNETS_BEFORE_POOLS,
};
use crate::read::{Problem, Problems, Span};
use crate::scalar::Cidr;

/// The node's own address of Hetzner's gateway, on every server.
const HETZNER_GATEWAY: Ipv4Addr = Ipv4Addr::new(172, 31, 1, 1);

/// Networks that nobody can route.
const SPECIAL: [(Cidr, &str); 4] = [
    (
        Cidr::assert([169, 254, 0, 0], 16),
        "link-local addresses, the cloud's metadata service among them",
    ),
    (Cidr::assert([127, 0, 0, 0], 8), "the machine itself"),
    (Cidr::assert([224, 0, 0, 0], 4), "multicast"),
    (Cidr::assert([0, 0, 0, 0], 8), "no host"),
];

const PRIVATE: [Cidr; 3] = [
    Cidr::assert([10, 0, 0, 0], 8),
    Cidr::assert([172, 16, 0, 0], 12),
    Cidr::assert([192, 168, 0, 0], 16),
];

/// Every node takes a /24 of the pods' addresses.
const POD_PREFIX: u8 = 24;

/// A network of the cluster, with its name and the place that decides it.
struct Named {
    what: &'static str,
    cidr: Cidr,
    span: Span,
}

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    if let Cloud::Hetzner(hetzner) = &cluster.cloud
        && !check_network(cluster, hetzner, problems)
    {
        return;
    }
    let Some(plan) = NetworkPlan::of(cluster) else {
        return;
    };
    let networks = named(cluster, &plan);
    for network in &networks {
        check_special(network, cluster.cloud.kind(), problems);
    }
    check_overlaps(&networks, problems);
    check_sizes(cluster, &networks, problems);
    if let Cloud::Hetzner(hetzner) = &cluster.cloud {
        check_native_routing(cluster, hetzner, &plan, problems);
        check_subnets(cluster, &plan, problems);
    }
}

/// Checks that Hetzner's network can be cut into its parts.
fn check_network(cluster: &Cluster, hetzner: &Hetzner, problems: &Problems) -> bool {
    let cidr = hetzner.network();
    let at = hetzner.network.as_ref().map_or(hetzner.at, |network| network.span);
    if !(LARGEST_NETWORK..=SMALLEST_NETWORK).contains(&cidr.prefix()) {
        problems.push(
            Problem::error(
                Rule::NetworkSize,
                at,
                format!("a network of /{} cannot be divided", cidr.prefix()),
            )
            .label(format!("use /{LARGEST_NETWORK} to /{SMALLEST_NETWORK}, such as `10.0.0.0/16`"))
            .note("an eighth of it is for nodes, an eighth for services, and half for pods"),
        );
        return false;
    }
    if !PRIVATE.iter().any(|private| private.contains(cidr)) {
        problems.push(
            Problem::error(Rule::NotPrivate, at, format!("`{cidr}` is not a private network"))
                .label("use a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"),
        );
    }
    let subnets = NetworkPlan::subnet_count(cidr) - SUBNETS_BEFORE_POOLS;
    if let Some(pool) = cluster.pools.get(usize::try_from(subnets).unwrap_or(usize::MAX)) {
        problems.push(
            Problem::error(
                Rule::TooManyPools,
                pool.name.span,
                format!("{} pools do not fit into `{cidr}`", cluster.pools.len()),
            )
            .label(format!("there are subnets for {subnets} pools"))
            .related(at, "use a larger network"),
        );
        return false;
    }
    true
}

fn named(cluster: &Cluster, plan: &NetworkPlan) -> Vec<Named> {
    let network = network_span(cluster);
    let kubernetes = &cluster.kubernetes;
    let pods = kubernetes.pod_cidr.as_ref().map_or(network, |cidr| cidr.span);
    let services = kubernetes.service_cidr.as_ref().map_or(network, |cidr| cidr.span);
    vec![
        Named { what: "nodes", cidr: plan.nodes, span: network },
        Named { what: "pods", cidr: plan.pods, span: pods },
        Named { what: "services", cidr: plan.services, span: services },
    ]
}

fn check_special(network: &Named, cloud: CloudKind, problems: &Problems) {
    let Named { what, cidr, span } = network;
    if let Some((special, meaning)) = SPECIAL.iter().find(|(special, _)| special.overlaps(*cidr)) {
        problems.push(
            Problem::error(
                Rule::SpecialNetwork,
                *span,
                format!("`{cidr}` cannot be used for {what}"),
            )
            .label(format!("{special} is for {meaning}")),
        );
    }
    if cloud == CloudKind::Hetzner && cidr.holds(HETZNER_GATEWAY) {
        problems.push(
            Problem::error(
                Rule::SpecialNetwork,
                *span,
                format!("`{cidr}` holds {HETZNER_GATEWAY}"),
            )
            .label("that is the gateway of every server at Hetzner"),
        );
    }
}

fn check_overlaps(networks: &[Named], problems: &Problems) {
    for (index, one) in networks.iter().enumerate() {
        for other in networks[index + 1..].iter().filter(|other| other.cidr.overlaps(one.cidr)) {
            problems.push(overlap(one, other));
        }
    }
}

fn overlap(one: &Named, other: &Named) -> Problem {
    let problem = Problem::error(
        Rule::Overlap,
        other.span,
        format!("the networks of {} and {} overlap", one.what, other.what),
    );
    if one.span == other.span {
        return problem
            .label(format!(
                "{} are in {}, {} in {} by default",
                one.what, one.cidr, other.what, other.cidr
            ))
            .help(format!("set `kubernetes.{}Cidr`", other.what.trim_end_matches('s')));
    }
    problem
        .label(format!("{} are in {}", other.what, other.cidr))
        .related(one.span, format!("{} are in {}", one.what, one.cidr))
}

fn check_sizes(cluster: &Cluster, networks: &[Named], problems: &Problems) {
    for Named { what, cidr, span } in networks {
        let prefix = cidr.prefix();
        if *what == "services" && !(12..=24).contains(&prefix) {
            problems.push(
                Problem::error(
                    Rule::ServiceCidrSize,
                    *span,
                    format!("a /{prefix} cannot be used for services"),
                )
                .label("use /12 to /24")
                .note("Kubernetes refuses larger networks, and smaller ones run out"),
            );
        }
        let fits = 1_u64 << POD_PREFIX.saturating_sub(prefix);
        let nodes = u64::from(cluster.node_count());
        if *what == "pods" && (prefix > POD_PREFIX || fits < nodes) {
            let fits = if prefix > POD_PREFIX { 0 } else { fits };
            problems.push(
                Problem::error(
                    Rule::PodCidrSize,
                    *span,
                    format!("`{cidr}` has too few addresses for pods"),
                )
                .label(format!("it is enough for {fits} nodes, the cluster has {nodes}"))
                .note(format!("every node takes a /{POD_PREFIX}")),
            );
        }
    }
}

fn check_native_routing(
    cluster: &Cluster,
    hetzner: &Hetzner,
    plan: &NetworkPlan,
    problems: &Problems,
) {
    let Some(cilium) = cluster.addons.get(AddonName::Cilium) else {
        return;
    };
    let AddonOptions::Cilium { routing, .. } = &cilium.options else {
        return;
    };
    if routing.as_ref().is_some_and(|routing| routing.value == Routing::Tunnel) {
        return;
    }
    let at = routing.as_ref().map_or(cilium.name.span, |routing| routing.span);
    if cluster.addons.get(AddonName::HcloudCcm).is_none() {
        problems.push(
            Problem::error(Rule::NativeRouting, at, "native routing needs `hcloud-ccm`")
                .label("add `hcloud-ccm: {}`")
                .note("the cloud controller makes the routes between the nodes' pods"),
        );
    }
    if let Some(pods) =
        cluster.kubernetes.pod_cidr.as_ref().filter(|pods| !plan.network.contains(pods.value))
    {
        let network = hetzner.network.as_ref().map_or(hetzner.at, |network| network.span);
        problems.push(
            Problem::error(
                Rule::NativeRouting,
                pods.span,
                "pods must be inside the network for native routing",
            )
            .label(format!("use a part of {}", plan.network))
            .related(network, "the network"),
        );
    }
}

fn check_subnets(cluster: &Cluster, plan: &NetworkPlan, problems: &Problems) {
    let network = network_span(cluster);
    for (index, pool) in cluster.pools.iter().enumerate() {
        let Some(PoolSubnet { subnet, .. }) = plan.pools.get(index) else {
            continue;
        };
        let at = pool.subnet.as_ref().map_or(pool.name.span, |subnet| subnet.span);
        if !plan.nodes.contains(*subnet) {
            problems.push(
                Problem::error(
                    Rule::Subnet,
                    at,
                    format!("`{subnet}` is not part of the node network"),
                )
                .label(format!("use a part of {}", plan.nodes))
                .follows_from(network),
            );
            continue;
        }
        check_subnet_is_free(cluster, plan, index, at, problems);
        let (count, room) = (cluster.pool_count(pool), NetworkPlan::capacity(*subnet));
        if count > room {
            let at = pool.count.as_ref().map_or(at, |count| count.span);
            problems.push(
                Problem::error(
                    Rule::SubnetFull,
                    at,
                    format!("{count} nodes do not fit into `{subnet}`"),
                )
                .label(format!("{room} do"))
                .follows_from(network)
                .help("use a larger network, or a second pool"),
            );
        }
    }
}

fn check_subnet_is_free(
    cluster: &Cluster,
    plan: &NetworkPlan,
    index: usize,
    at: Span,
    problems: &Problems,
) {
    let PoolSubnet { subnet, .. } = &plan.pools[index];
    let own = [
        ("the control planes", Some(plan.control_plane)),
        ("the load balancers", plan.load_balancers),
    ];
    if let Some((what, _)) =
        own.iter().find(|(_, cidr)| cidr.is_some_and(|cidr| cidr.overlaps(*subnet)))
    {
        problems.push(
            Problem::error(Rule::Subnet, at, format!("`{subnet}` is taken"))
                .label(format!("it belongs to {what}"))
                .follows_from(network_span(cluster)),
        );
    }
    if let Some(before) =
        plan.pools[..index].iter().position(|other| other.subnet.overlaps(*subnet))
    {
        let other = &cluster.pools[before];
        let span = other.subnet.as_ref().map_or(other.name.span, |subnet| subnet.span);
        problems.push(
            Problem::error(Rule::Subnet, at, format!("two pools would share `{subnet}`"))
                .label("choose another subnet")
                .related(span, format!("`{}` has it", other.name.value)),
        );
    }
}
