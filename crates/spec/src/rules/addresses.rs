//! Addresses of nodes, gateways and VIPs.

use std::net::Ipv4Addr;

use super::Rule;
use super::counts::MOST_NODES;
use crate::cluster::{Cloud, Cluster, Machines, NodeGroup, Proxmox};
use crate::plan::{NetworkPlan, pool_node_name, vmid};
use crate::read::{Problem, Problems, Span, Spanned};
use crate::scalar::Cidr;

/// An address that is taken, by whom, and where that is written.
struct Taken {
    address: Ipv4Addr,
    by: String,
    span: Span,
}

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    // Refused already; every node costs a comparison with every other.
    if cluster.node_count() > MOST_NODES {
        return;
    }
    let Some(plan) = NetworkPlan::of(cluster) else {
        return;
    };
    let mut taken = match &cluster.cloud {
        // Unique by construction, and no VIP can meet them.
        Cloud::Hetzner(_) => return,
        Cloud::Proxmox(proxmox) => check_proxmox(cluster, proxmox, problems),
        Cloud::Machines(machines) => check_machines(machines, problems),
    };
    check_unique(&taken, problems);
    taken.extend(plan.gateway.map(|address| Taken {
        address,
        by: "the gateway".to_owned(),
        span: gateway_span(cluster),
    }));
    check_vip(cluster, &plan, &taken, problems);
}

/// Where the nodes' network is written, or the cloud that has a default.
pub(super) fn network_span(cluster: &Cluster) -> Span {
    match &cluster.cloud {
        Cloud::Hetzner(hetzner) => {
            hetzner.network.as_ref().map_or(hetzner.at, |network| network.span)
        }
        Cloud::Proxmox(proxmox) => proxmox.network.span,
        Cloud::Machines(machines) => machines.network.span,
    }
}

fn gateway_span(cluster: &Cluster) -> Span {
    match &cluster.cloud {
        Cloud::Hetzner(_) => network_span(cluster),
        Cloud::Proxmox(proxmox) => proxmox.gateway.span,
        Cloud::Machines(machines) => {
            machines.gateway.as_ref().map_or(machines.at, |gateway| gateway.span)
        }
    }
}

fn check_proxmox(cluster: &Cluster, proxmox: &Proxmox, problems: &Problems) -> Vec<Taken> {
    check_gateway(proxmox.gateway.value, proxmox.gateway.span, &proxmox.network, problems);
    let control_plane = (&cluster.control_plane.group, "cp", cluster.control_plane_count());
    let pools = cluster
        .pools
        .iter()
        .map(|pool| (&pool.group, pool.name.as_str(), cluster.pool_count(pool)));
    let mut taken = Vec::new();
    for (group, name, count) in std::iter::once(control_plane).chain(pools) {
        let addresses = vm_addresses(cluster, group, name, count);
        // One message for a group: its addresses follow each other.
        if let Some(problem) = addresses.iter().find_map(|address| vm_problem(proxmox, address)) {
            problems.push(problem);
        }
        taken.extend(addresses);
    }
    check_vm_numbers(proxmox, &taken, problems);
    taken
}

/// The range is one mistake, however many VMs do not fit into it.
fn check_vm_numbers(proxmox: &Proxmox, taken: &[Taken], problems: &Problems) {
    let (from, to) = (&proxmox.vmids.from, &proxmox.vmids.to);
    let numbered = taken
        .iter()
        .filter(|it| proxmox.network.is_host(it.address))
        .filter_map(|it| Some((vmid(proxmox, it.address)?, it)));
    let Some((number, highest)) = numbered.max_by_key(|(number, _)| *number) else {
        return;
    };
    if from.value > to.value || number <= to.get() {
        return;
    }
    problems.push(
        Problem::error(
            Rule::VmIds,
            to.span,
            format!("`{}` would be VM {number}, behind the end of the range", highest.by),
        )
        .label(format!("use {number} at least, or a lower `from`"))
        .related(highest.span, "a VM's number is `from` plus the host part of its address")
        .follows_from(from.span)
        .follows_from(proxmox.network.span),
    );
}

fn vm_addresses(cluster: &Cluster, group: &NodeGroup, name: &str, count: u32) -> Vec<Taken> {
    let Some(first) = &group.first_address else {
        return Vec::new();
    };
    let node = |number: u32| {
        let address = u32::from(first.value).checked_add(number - 1)?;
        let by = pool_node_name(&cluster.name, name, number);
        Some(Taken { address: address.into(), by, span: first.span })
    };
    (1..=count).filter_map(node).collect()
}

fn vm_problem(proxmox: &Proxmox, taken: &Taken) -> Option<Problem> {
    let Taken { address, by, span } = taken;
    if let Some(problem) = outside(*address, by, *span, &proxmox.network) {
        return Some(problem);
    }
    (*address == proxmox.gateway.value).then(|| is_gateway(by, *span, proxmox.gateway.span))
}

fn check_machines(machines: &Machines, problems: &Problems) -> Vec<Taken> {
    let gateway = machines.gateway.as_ref();
    if let Some(gateway) = gateway {
        check_gateway(gateway.value, gateway.span, &machines.network, problems);
    }
    for (index, machine) in machines.nodes.iter().enumerate() {
        let (address, span) = (machine.address.value, machine.address.span);
        if let Some(problem) = outside(address, machine.name.as_str(), span, &machines.network) {
            problems.push(problem);
        }
        if let Some(gateway) = gateway.filter(|gateway| gateway.value == address) {
            problems.push(is_gateway(machine.name.as_str(), span, gateway.span));
        }
        let Some(mac) = &machine.mac else { continue };
        let mut before = machines.nodes[..index].iter().filter_map(|other| other.mac.as_ref());
        if let Some(first) = before.find(|other| other.value == mac.value) {
            problems.push(
                Problem::error(
                    Rule::DuplicateAddress,
                    mac.span,
                    format!("two machines have the MAC address `{}`", mac.value),
                )
                .label("every network card has one of its own")
                .related(first.span, "the first one"),
            );
        }
    }
    let taken = |machine: &crate::cluster::Machine| Taken {
        address: machine.address.value,
        by: machine.name.value.to_string(),
        span: machine.address.span,
    };
    machines.nodes.iter().map(taken).collect()
}

fn check_gateway(gateway: Ipv4Addr, span: Span, network: &Spanned<Cidr>, problems: &Problems) {
    if !network.is_host(gateway) {
        problems.push(
            Problem::error(
                Rule::OutsideNetwork,
                span,
                if network.holds(gateway) {
                    format!("the gateway `{gateway}` cannot be used")
                } else {
                    format!("the gateway `{gateway}` is not in the network")
                },
            )
            .label(expected_host(gateway, network.value))
            .follows_from(network.span),
        );
    }
}

/// Why an address is not a host's, and which would be.
fn expected_host(address: Ipv4Addr, network: Cidr) -> String {
    let expected = format!("expected an address of a host in {network}");
    match network.number_of(address) {
        None => expected,
        Some(0) => format!("this is the network's own address; {expected}"),
        Some(_) => format!("this is the broadcast address; {expected}"),
    }
}

fn outside(address: Ipv4Addr, who: &str, span: Span, network: &Spanned<Cidr>) -> Option<Problem> {
    (!network.is_host(address)).then(|| {
        Problem::error(
            Rule::OutsideNetwork,
            span,
            format!("`{who}` would have the address {address}"),
        )
        .label(expected_host(address, network.value))
        .follows_from(network.span)
    })
}

fn is_gateway(who: &str, span: Span, gateway: Span) -> Problem {
    Problem::error(
        Rule::DuplicateAddress,
        span,
        format!("`{who}` would have the gateway's address"),
    )
    .label("choose another address")
    .related(gateway, "the gateway")
}

fn check_unique(taken: &[Taken], problems: &Problems) {
    let mut reported: Vec<(Span, Span)> = Vec::new();
    for (index, one) in taken.iter().enumerate() {
        let Some(first) = taken[..index].iter().find(|other| other.address == one.address) else {
            continue;
        };
        // Two groups that run into each other share many addresses; the first tells all.
        if reported.contains(&(first.span, one.span)) {
            continue;
        }
        reported.push((first.span, one.span));
        problems.push(
            Problem::error(
                Rule::DuplicateAddress,
                one.span,
                format!("two nodes would have the address {}", one.address),
            )
            .label(format!("`{}` has it here", one.by))
            .related(first.span, format!("`{}` has it here", first.by)),
        );
    }
}

fn check_vip(cluster: &Cluster, plan: &NetworkPlan, taken: &[Taken], problems: &Problems) {
    let Some(vip) = &cluster.control_plane.vip else {
        return;
    };
    if !plan.control_plane.is_host(vip.value) {
        problems.push(
            Problem::error(
                Rule::OutsideNetwork,
                vip.span,
                format!("the VIP `{}` cannot be used", vip.value),
            )
            .label(expected_host(vip.value, plan.control_plane))
            .note("the control plane that holds it announces it to its neighbours")
            .follows_from(network_span(cluster)),
        );
    } else if let Some(other) = taken.iter().find(|taken| taken.address == vip.value) {
        let problem = Problem::error(
            Rule::DuplicateAddress,
            vip.span,
            format!("the VIP is the address of {}", other.by),
        )
        .label("choose an address that nobody has");
        problems.push(problem.related(other.span, format!("{} has it", other.by)));
    }
}
