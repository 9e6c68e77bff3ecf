//! Hardware that is missing, too small or not to be had.

use super::Rule;
use super::clouds::Group;
use crate::cluster::{Hetzner, Proxmox};
use crate::read::{Problem, Problems, Spanned};
use crate::scalar::{Bytes, ServerType};

/// Below it Talos' own checks fail on a control plane.
const LEAST_MEMORY: Bytes = Bytes::from_mib(1848 - 150);

/// Below it a worker's.
const LEAST_WORKER_MEMORY: Bytes = Bytes::from_mib(1024 - 150);

/// The system's partitions and the 6 GiB that its data partition needs.
const LEAST_DISK: Bytes = Bytes::from_gib(8);

const GOOD_MEMORY: Bytes = Bytes::from_gib(4);

/// Checks what a group of servers at Hetzner is ordered as.
pub(super) fn check_server(group: &Group<'_>, hetzner: &Hetzner, problems: &Problems) {
    let Some(server_type) = &group.settings.server_type else {
        problems.push(missing(group, "type", "`cax11`"));
        return;
    };
    check_zone(group, hetzner, problems);
    for fallback in &group.settings.fallbacks {
        match (&fallback.server_type, &fallback.location) {
            (None, None) => problems.push(
                Problem::error(Rule::MissingKey, fallback.at, "a fallback that changes nothing")
                    .label("give another `type`, another `location`, or both"),
            ),
            (Some(other), _) if other.architecture() != server_type.architecture() => {
                problems.push(other_architecture(server_type, other));
            }
            _ => {}
        }
    }
}

fn check_zone(group: &Group<'_>, hetzner: &Hetzner, problems: &Problems) {
    let zone = hetzner.location.zone();
    let fallbacks = group.settings.fallbacks.iter().filter_map(|it| it.location.as_ref());
    let locations = group.settings.location.iter().chain(fallbacks);
    for location in locations.filter(|location| location.zone() != zone) {
        let message = format!("`{}` is in another network zone", location.value);
        problems.push(
            Problem::error(Rule::NetworkZone, location.span, message)
                .label(format!("this is {}", location.zone()))
                .related(hetzner.location.span, format!("this is {zone}"))
                .note("a private network cannot leave its zone"),
        );
    }
}

fn other_architecture(one: &Spanned<ServerType>, other: &Spanned<ServerType>) -> Problem {
    let message = format!("`{}` has another architecture", other.value);
    Problem::error(Rule::Architecture, other.span, message)
        .label(format!("this is {}", other.architecture()))
        .related(one.span, format!("this is {}", one.architecture()))
        .note("the nodes of a group boot from one image")
}

fn missing(group: &Group<'_>, key: &str, example: &str) -> Problem {
    let message = format!("missing key `{key}` in {}", group.what);
    Problem::error(Rule::MissingKey, group.at, message)
        .label(format!("`{key}` is needed here, such as {example}"))
}

/// Checks what a group of VMs on Proxmox is made of.
pub(super) fn check_vm(group: &Group<'_>, proxmox: &Proxmox, problems: &Problems) {
    check_complete(group, proxmox, problems);
    check_memory(group, problems);
    check_cores(group, problems);
    if let Some(disk) = group.settings.disk.as_ref().filter(|disk| disk.value < LEAST_DISK) {
        let message = format!("a disk of {} is too small", disk.value);
        problems.push(
            Problem::error(Rule::TooSmall, disk.span, message)
                .label(format!("Talos needs {LEAST_DISK}")),
        );
    }
    check_hosts(group, proxmox, problems);
}

fn check_complete(group: &Group<'_>, proxmox: &Proxmox, problems: &Problems) {
    let settings = group.settings;
    let address = proxmox.network.host(21).map_or_else(String::new, |host| format!("`{host}`"));
    let needed = [
        ("cores", settings.cores.is_some(), "`2`"),
        ("memory", settings.memory.is_some(), "`4Gi`"),
        ("disk", settings.disk.is_some(), "`40Gi`"),
        ("firstAddress", settings.first_address.is_some(), address.as_str()),
    ];
    for (key, _, example) in needed.iter().filter(|(_, is_set, _)| !is_set) {
        problems.push(missing(group, key, example));
    }
}

fn check_memory(group: &Group<'_>, problems: &Problems) {
    let Some(memory) = &group.settings.memory else {
        return;
    };
    let least = if group.is_control_plane { LEAST_MEMORY } else { LEAST_WORKER_MEMORY };
    if memory.value < least {
        let message = format!("{} of memory is too little", memory.value);
        problems.push(
            Problem::error(Rule::TooSmall, memory.span, message)
                .label(format!("Talos needs {least}")),
        );
    } else if group.is_control_plane && memory.value < GOOD_MEMORY {
        let message = format!("{} of memory is little for a control plane", memory.value);
        problems.push(
            Problem::warning(Rule::Tight, memory.span, message)
                .label(format!("{GOOD_MEMORY} is better")),
        );
    }
}

fn check_cores(group: &Group<'_>, problems: &Problems) {
    let cores =
        group.settings.cores.as_ref().filter(|cores| group.is_control_plane && cores.get() < 2);
    if let Some(cores) = cores {
        let message = "one core is little for a control plane";
        problems.push(Problem::warning(Rule::Tight, cores.span, message).label("2 is better"));
    }
}

fn check_hosts(group: &Group<'_>, proxmox: &Proxmox, problems: &Problems) {
    let known: Vec<&str> = proxmox.hosts.iter().map(|host| host.as_str()).collect();
    for host in group.settings.hosts.iter().filter(|host| !known.contains(&host.as_str())) {
        let list = crate::scalar::one_of(&known).replace(" or ", " and ");
        let problem =
            Problem::error(Rule::UnknownHost, host.span, format!("unknown host `{}`", host.value))
                .label(format!("the cloud's `hosts` are {list}"));
        problems.push(proxmox.hosts.iter().fold(problem, |it, host| it.follows_from(host.span)));
    }
}
