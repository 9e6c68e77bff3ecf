//! Answers that are proposed, many of which follow from answers before.

use std::net::Ipv4Addr;

use super::question::Answers;
use crate::cluster::CloudKind;
use crate::scalar::{Cidr, Location, Version};
use crate::versions::{self, DEFAULT_KUBERNETES, DEFAULT_TALOS};

/// What is taken where no answer is given.
#[derive(Clone, Copy, Debug)]
pub(super) enum Proposal {
    /// Nothing.
    None,
    /// Always the same.
    Text(&'static str),
    /// The newest Talos that is tested.
    Talos,
    /// The newest Kubernetes that is tested and that Talos runs.
    Kubernetes,
    /// The first address of the network.
    Gateway,
    /// An address before the nodes'.
    Vip,
    /// The first node's address.
    FirstAddress,
    /// A type that the location has.
    ControlPlaneType,
    /// A larger one.
    WorkerType,
}

/// How far the workers' addresses are behind those of the control planes, where there is room.
const WORKERS_BEHIND: u32 = 10;

impl Proposal {
    /// The proposed answer.
    pub(super) fn after(self, answers: &Answers) -> Option<String> {
        match self {
            Self::None => None,
            Self::Text(text) => Some(text.to_owned()),
            Self::Talos => Some(DEFAULT_TALOS.to_string()),
            Self::Kubernetes => Some(kubernetes(answers).to_string()),
            Self::Gateway => host(answers, 1),
            Self::Vip => host(answers, first_number(answers)? - 1),
            Self::FirstAddress => host(answers, first_number(answers)?),
            Self::ControlPlaneType => Some(server_types(answers).0.to_owned()),
            Self::WorkerType => Some(server_types(answers).1.to_owned()),
        }
    }
}

fn kubernetes(answers: &Answers) -> Version {
    let talos = answers.read::<Version>("talos").ok();
    match talos.and_then(|talos| versions::talos_release(&talos)) {
        Some(release) if !release.runs(&DEFAULT_KUBERNETES) => {
            Version::new(release.newest.0, release.newest.1, 0)
        }
        _ => DEFAULT_KUBERNETES,
    }
}

/// Types for control planes and for workers. Arm servers stand in Europe only, and the
/// two generations of `cpx` share no location outside it.
fn server_types(answers: &Answers) -> (&'static str, &'static str) {
    match answers.read::<Location>("location") {
        Ok(Location::Ash | Location::Hil) => ("cpx21", "cpx31"),
        Ok(Location::Sin) => ("cpx22", "cpx32"),
        _ => ("cax11", "cax21"),
    }
}

fn host(answers: &Answers, number: u32) -> Option<String> {
    let network = answers.read::<Cidr>("network").ok()?;
    network.host(number).filter(|address| network.is_host(*address)).map(|host| host.to_string())
}

/// The number of the first node in its network: the eleventh address, or, where
/// the nodes would not fit behind it, the third, behind gateway and VIP.
fn first_number(answers: &Answers) -> Option<u32> {
    let network = answers.read::<Cidr>("network").ok()?;
    let fits = |first: u32| {
        let first = network.host(first)?;
        network.is_host(last_address(answers, network, first)?).then_some(())
    };
    Some(if fits(11).is_some() { 11 } else { 3 })
}

/// The first worker's address (Proxmox): ten behind the first control plane's, so that
/// both can grow, or right behind the last one's where the network is too small.
pub(super) fn worker_address(
    answers: &Answers,
    network: Cidr,
    first: Ipv4Addr,
) -> Option<Ipv4Addr> {
    let workers = answers.number("workers").ok()?;
    let behind = |distance: u32| u32::from(first).checked_add(distance).map(Ipv4Addr::from);
    let has_room = |address: &Ipv4Addr| {
        let last = u32::from(*address).checked_add(workers.saturating_sub(1));
        last.is_some_and(|last| network.is_host(last.into()))
    };
    behind(WORKERS_BEHIND)
        .filter(has_room)
        .or_else(|| behind(answers.number("control-planes").ok()?))
}

/// The last node's address.
pub(super) fn last_address(answers: &Answers, network: Cidr, first: Ipv4Addr) -> Option<Ipv4Addr> {
    let workers = answers.number("workers").ok()?;
    let control_planes = answers.number("control-planes").ok()?;
    let (start, count) = match answers.cloud() {
        CloudKind::Proxmox if workers > 0 => (worker_address(answers, network, first)?, workers),
        _ => (first, control_planes + workers),
    };
    u32::from(start).checked_add(count.saturating_sub(1)).map(Ipv4Addr::from)
}
