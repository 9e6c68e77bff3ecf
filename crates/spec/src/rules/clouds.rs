//! Settings that belong to another cloud, or are missing for this one.

use super::Rule;
use super::hardware::{check_server, check_vm};
use crate::cluster::{
    Cloud, CloudKind, Cluster, Hetzner, Install, Machines, NodeGroup, Proxmox, Registry,
};
use crate::plan::wants_load_balancer;
use crate::read::{Problem, Problems, Span, Spanned};
use crate::scalar::RegistryHost;

/// CPU models without the instructions that Talos is compiled for.
const OLD_CPUS: [&str; 6] = ["qemu64", "qemu32", "kvm64", "kvm32", "x86-64-v1", "486"];

/// A group of nodes with the name that messages use.
pub(super) struct Group<'a> {
    pub(super) what: String,
    pub(super) at: Span,
    pub(super) settings: &'a NodeGroup,
    pub(super) is_control_plane: bool,
}

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    for group in groups(cluster) {
        check_foreign(&group, cluster.cloud.kind(), problems);
        match &cluster.cloud {
            Cloud::Hetzner(hetzner) => check_server(&group, hetzner, problems),
            Cloud::Proxmox(proxmox) => check_vm(&group, proxmox, problems),
            Cloud::Machines(_) => {}
        }
    }
    match &cluster.cloud {
        Cloud::Hetzner(hetzner) => {
            check_public(cluster, hetzner, problems);
            check_vip(cluster, problems);
        }
        Cloud::Proxmox(proxmox) => check_proxmox(proxmox, problems),
        Cloud::Machines(machines) => check_machines(cluster, machines, problems),
    }
    check_foreign_settings(cluster, problems);
    check_endpoint(cluster, problems);
}

fn groups(cluster: &Cluster) -> Vec<Group<'_>> {
    let control_plane = Group {
        what: "`controlPlane`".to_owned(),
        at: cluster.control_plane.group.at,
        settings: &cluster.control_plane.group,
        is_control_plane: true,
    };
    let pools = cluster.pools.iter().map(|pool| Group {
        what: format!("pool `{}`", pool.name.value),
        at: pool.name.span,
        settings: &pool.group,
        is_control_plane: false,
    });
    std::iter::once(control_plane).chain(pools).collect()
}

fn check_foreign(group: &Group<'_>, cloud: CloudKind, problems: &Problems) {
    let settings = group.settings;
    let hetzner = [
        ("type", settings.server_type.as_ref().map(|it| it.span)),
        ("location", settings.location.as_ref().map(|it| it.span)),
        ("fallbacks", settings.fallbacks.first().map(|it| it.at)),
    ];
    let proxmox = [
        ("cores", settings.cores.as_ref().map(|it| it.span)),
        ("memory", settings.memory.as_ref().map(|it| it.span)),
        ("disk", settings.disk.as_ref().map(|it| it.span)),
        ("hosts", settings.hosts.first().map(|it| it.span)),
        ("firstAddress", settings.first_address.as_ref().map(|it| it.span)),
    ];
    let foreign = |keys: &[(&str, Option<Span>)], owner: CloudKind, instead: &str| {
        for (key, span) in keys {
            if let Some(span) = span.filter(|_| owner != cloud) {
                problems.push(foreign_key(key, span, owner, cloud, instead));
            }
        }
    };
    foreign(
        &hetzner,
        CloudKind::Hetzner,
        if cloud == CloudKind::Proxmox { "use `cores`, `memory` and `disk`" } else { "remove it" },
    );
    foreign(
        &proxmox,
        CloudKind::Proxmox,
        if cloud == CloudKind::Hetzner { "the server's `type` decides" } else { "remove it" },
    );
    if let Some(install) = settings.install.as_ref().filter(|_| cloud != CloudKind::Machines) {
        problems.push(foreign_install(install, cloud));
    }
}

/// A server or VM boots from a disk that holds Talos already.
fn foreign_install(install: &Install, cloud: CloudKind) -> Problem {
    foreign_key(
        "install",
        install.at,
        CloudKind::Machines,
        cloud,
        "remove it: the image is on the only disk",
    )
}

fn foreign_key(
    key: &str,
    span: Span,
    owner: CloudKind,
    cloud: CloudKind,
    instead: &str,
) -> Problem {
    let (owner, cloud) = (owner.as_str(), cloud.as_str());
    Problem::error(
        Rule::ForeignKey,
        span,
        format!("`{key}` is for {owner}, this cluster runs on {cloud}"),
    )
    .label(instead)
}

/// Talos' own images come from a registry that has no IPv6 address.
fn check_public(cluster: &Cluster, hetzner: &Hetzner, problems: &Problems) {
    let Some(public) = hetzner.public_ipv4.as_ref().filter(|public| !public.value) else {
        return;
    };
    let is_mirrored = |(host, registry): &(Spanned<RegistryHost>, Registry)| {
        host.as_str() == "ghcr.io" && !registry.endpoints.is_empty()
    };
    if cluster.talos.registries.iter().any(is_mirrored) {
        return;
    }
    problems.push(
        Problem::warning(Rule::NoIpv4, public.span, "the nodes cannot reach ghcr.io")
            .label("it has no IPv6 address")
            .note("Talos and the kubelet come from there")
            .help(
                "name a mirror in `talos.registries`, or route the network through a NAT gateway",
            ),
    );
}

/// Hetzner would have to be told of every move of the address, by a token on each
/// control plane; the load balancer does the same work without one.
fn check_vip(cluster: &Cluster, problems: &Problems) {
    let Some(vip) = &cluster.control_plane.vip else {
        return;
    };
    problems.push(
        Problem::error(Rule::ForeignKey, vip.span, "a shared address does not work at Hetzner")
            .label("remove `vip`: the load balancer leads to all control planes")
            .note(
                "Hetzner's networks are routed: a control plane cannot announce an address to \
                 its neighbours, it would have to move an alias IP through Hetzner's API",
            ),
    );
}

fn check_proxmox(proxmox: &Proxmox, problems: &Problems) {
    if proxmox.hosts.is_empty() {
        problems.push(
            Problem::error(Rule::MissingKey, proxmox.at, "`hosts` names no host")
                .label("name one at least"),
        );
    }
    if let Some(cpu) = proxmox.cpu.as_ref().filter(|cpu| OLD_CPUS.contains(&cpu.as_str())) {
        problems.push(
            Problem::error(
                Rule::OldCpu,
                cpu.span,
                format!("Talos does not boot on the CPU model `{}`", cpu.value),
            )
            .label("use `host` or `x86-64-v2-AES`")
            .note("Talos is compiled for x86-64-v2"),
        );
    }
    if let Some(fingerprint) = &proxmox.fingerprint {
        let digits: String = fingerprint.as_str().split(':').collect();
        if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            problems.push(
                Problem::error(
                    Rule::BadValue,
                    fingerprint.span,
                    "this is not a SHA-256 fingerprint",
                )
                .label("expected 64 hexadecimal digits, with or without colons"),
            );
        }
    }
    if proxmox.vmids.from.value > proxmox.vmids.to.value {
        problems.push(
            Problem::error(Rule::VmIds, proxmox.vmids.to.span, "the range of VM numbers is empty")
                .label("this is the highest number")
                .related(proxmox.vmids.from.span, "this is the lowest"),
        );
    }
}

fn check_machines(cluster: &Cluster, machines: &Machines, problems: &Problems) {
    if cluster.talos.install.is_some() {
        return;
    }
    for machine in &machines.nodes {
        let pool = cluster.pools.iter().find(|pool| pool.name.value == machine.pool.value);
        let group = pool.map_or(&cluster.control_plane.group, |pool| &pool.group);
        if machine.install.is_none() && group.install.is_none() {
            problems.push(
                Problem::error(
                    Rule::NoInstallDisk,
                    machine.name.span,
                    format!("nothing says where Talos is installed on `{}`", machine.name.value),
                )
                .label("it needs `install: { disk: /dev/sda }` or a `diskSelector`")
                .help("`talos.install` is for all machines"),
            );
        }
    }
}

fn check_foreign_settings(cluster: &Cluster, problems: &Problems) {
    let cloud = cluster.cloud.kind();
    if let Some(install) = cluster.talos.install.as_ref().filter(|_| cloud != CloudKind::Machines) {
        problems.push(foreign_install(install, cloud));
    }
    if cloud == CloudKind::Hetzner {
        return;
    }
    if let Some(firewall) = &cluster.firewall {
        problems.push(foreign_key(
            "firewall",
            firewall.at,
            CloudKind::Hetzner,
            cloud,
            "guard the network yourself",
        ));
    }
    if let Some(balancer) = &cluster.control_plane.load_balancer {
        problems.push(foreign_key(
            "loadBalancer",
            balancer.at,
            CloudKind::Hetzner,
            cloud,
            "use `vip` or `hostname`",
        ));
    }
    for subnet in cluster.pools.iter().filter_map(|pool| pool.subnet.as_ref()) {
        problems.push(foreign_key(
            "subnet",
            subnet.span,
            CloudKind::Hetzner,
            cloud,
            "all nodes share one network",
        ));
    }
    if let Some(limit) = &cluster.max_monthly_eur {
        problems.push(foreign_key(
            "maxMonthlyEur",
            limit.span,
            CloudKind::Hetzner,
            cloud,
            "remove it: there are no prices to compare",
        ));
    }
}

fn check_endpoint(cluster: &Cluster, problems: &Problems) {
    let control_plane = &cluster.control_plane;
    let balancer = control_plane.load_balancer.as_ref();
    let enabled = balancer.and_then(|balancer| balancer.enabled.as_ref());
    let has_balancer = cluster.cloud.kind() == CloudKind::Hetzner && wants_load_balancer(cluster);
    let has_endpoint =
        has_balancer || control_plane.vip.is_some() || control_plane.hostname.is_some();
    let instead = match cluster.cloud.kind() {
        CloudKind::Hetzner => "keep the load balancer, or set `hostname`",
        CloudKind::Proxmox | CloudKind::Machines => "set `vip` or `hostname`",
    };
    if !has_endpoint && cluster.control_plane_count() > 1 {
        problems.push(
            Problem::error(
                Rule::NoEndpoint,
                control_plane.group.at,
                "nothing leads to all control planes",
            )
            .label(instead)
            .note("a kubeconfig that names one node stops working with that node")
            .follows_from(enabled.map_or(control_plane.group.at, |enabled| enabled.span)),
        );
    }
}
