//! Who can come in.

use super::Rule;
use crate::cluster::{CloudKind, Cluster, Firewall, Protocol, Sources};
use crate::plan::{TALOS_PORT, firewall_rules, has_public_balancer};
use crate::read::{Problem, Problems};

/// Hetzner's limits for one firewall.
const MOST_RULES: usize = 50;
const MOST_EFFECTIVE: usize = 500;

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    let Some(firewall) = &cluster.firewall else {
        return;
    };
    check_sources(firewall, problems);
    check_everybody(firewall, problems);
    check_load_balancer(cluster, firewall, problems);
    check_ports(firewall, problems);
    check_limits(firewall, problems);
}

fn check_sources(firewall: &Firewall, problems: &Problems) {
    let apis = [("Talos", &firewall.talos_api), ("Kubernetes", &firewall.kubernetes_api)];
    for (api, sources) in apis {
        let Some(Sources { at, ranges }) = sources else {
            continue;
        };
        if ranges.is_empty() {
            problems.push(
                Problem::error(
                    Rule::NobodyMayEnter,
                    *at,
                    format!("nobody could reach the {api} API"),
                )
                .label("name a source, such as `my-ip`")
                .note("seaworthy itself has to reach it"),
            );
        }
    }
    for exception in firewall.extra.iter().filter(|exception| exception.sources.is_empty()) {
        problems.push(
            Problem::error(Rule::NobodyMayEnter, exception.at, "an opening for nobody")
                .label("name a source"),
        );
    }
}

fn check_everybody(firewall: &Firewall, problems: &Problems) {
    let ranges = firewall.talos_api.iter().flat_map(|sources| &sources.ranges);
    for range in ranges.filter(|range| range.is_everybody()) {
        problems.push(
            Problem::warning(
                Rule::OpenToAll,
                range.span,
                format!("everybody can reach port {TALOS_PORT}"),
            )
            .label("name the networks that need it")
            .note("until it has its config, a node takes one from whoever comes first"),
        );
    }
}

/// A restricted API looks closed, but a load balancer leads around the firewall.
/// Whoever writes `public: true` has been told.
fn check_load_balancer(cluster: &Cluster, firewall: &Firewall, problems: &Problems) {
    let Some(Sources { at, ranges }) = &firewall.kubernetes_api else {
        return;
    };
    let settings = cluster.control_plane.load_balancer.as_ref();
    let is_meant = settings.is_some_and(|balancer| balancer.public.is_some());
    let is_open = cluster.cloud.kind() == CloudKind::Hetzner && has_public_balancer(cluster);
    let is_restricted = !ranges.is_empty() && !ranges.iter().any(|range| range.is_everybody());
    if !is_open || is_meant || !is_restricted {
        return;
    }
    problems.push(
        Problem::warning(
            Rule::UnguardedLoadBalancer,
            *at,
            "everybody can reach the Kubernetes API through the load balancer",
        )
        .label("this guards the nodes, not the load balancer")
        .note(
            "Hetzner's firewalls do not apply to load balancers: only the API's own \
             authentication, by certificate or token, keeps others out",
        )
        .help(
            "`loadBalancer: { public: false }` in `controlPlane` keeps it in the private \
             network; `public: true` says that it is meant to be open",
        )
        .follows_from(cluster.cloud.at())
        .follows_from(settings.map_or(*at, |balancer| balancer.at)),
    );
}

fn check_ports(firewall: &Firewall, problems: &Problems) {
    for exception in &firewall.extra {
        let has_ports = matches!(exception.protocol.value, Protocol::Tcp | Protocol::Udp);
        match &exception.port {
            None if has_ports => problems.push(
                Problem::error(Rule::MissingKey, exception.protocol.span, "the port is missing")
                    .label("this protocol has ports: set `port`"),
            ),
            Some(port) if !has_ports => problems.push(
                Problem::error(Rule::BadValue, port.span, "this protocol has no ports")
                    .label("remove it")
                    .related(exception.protocol.span, "the protocol"),
            ),
            _ => {}
        }
    }
}

fn check_limits(firewall: &Firewall, problems: &Problems) {
    let rules = firewall_rules(Some(firewall));
    let effective: usize = rules.iter().map(|rule| rule.sources.len()).sum();
    if rules.len() > MOST_RULES {
        problems.push(
            Problem::error(
                Rule::FirewallTooLarge,
                firewall.at,
                format!("the firewall would have {} rules", rules.len()),
            )
            .label(format!("Hetzner allows {MOST_RULES}, three of them are ours")),
        );
    } else if effective > MOST_EFFECTIVE {
        problems.push(
            Problem::error(
                Rule::FirewallTooLarge,
                firewall.at,
                format!("the firewall would have {effective} pairs of rule and source"),
            )
            .label(format!("Hetzner allows {MOST_EFFECTIVE}")),
        );
    }
}
