//! Addresses of servers and load balancers in private networks.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use super::{LoadBalancer, Network, Server};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::shelf::Resource;

/// An address in a network, reserved from the call on, seen once attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PrivateNet {
    pub(crate) network: i64,
    pub(crate) ip: Ipv4Addr,
    pub(crate) mac: String,
    pub(crate) attached: bool,
}

/// The address that somebody would like to have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish {
    pub(crate) ip: Option<Ipv4Addr>,
    pub(crate) ip_range: Option<Ipv4Net>,
}

/// Something with addresses in private networks.
pub(crate) trait Attached: Resource {
    fn private(&self) -> &[PrivateNet];
}

impl PrivateNet {
    /// An address that is reserved, for a resource with this id.
    pub(crate) fn reserved(network: i64, ip: Ipv4Addr, owner: i64) -> Self {
        let [.., a, b, c] = owner.to_be_bytes();
        let mac = format!("86:00:00:{a:02x}:{b:02x}:{c:02x}");
        Self { network, ip, mac, attached: false }
    }
}

impl Attached for Server {
    fn private(&self) -> &[PrivateNet] {
        &self.private
    }
}

impl Attached for LoadBalancer {
    fn private(&self) -> &[PrivateNet] {
        &self.private
    }
}

/// Returns the ids of those that are attached to a network.
pub(crate) fn attached_to<T: Attached>(project: &Project, network: i64) -> Vec<i64> {
    let is_in = |it: &&T| it.private().iter().any(|net| net.network == network && net.attached);
    T::shelf(project).iter().filter(is_in).map(|it| it.card().id).collect()
}

/// Finds a free address in a network, in a zone, as wished.
pub(crate) fn assign(
    project: &Project,
    network: &Network,
    zone: &str,
    wish: Wish,
) -> Result<Ipv4Addr, Refusal> {
    let taken = taken(project, network.card.id);
    let is_free = |ip: &Ipv4Addr| !network.is_reserved(*ip) && !taken.contains(ip);
    let subnets = network.subnets.iter().filter(|subnet| {
        subnet.network_zone == zone && wish.ip_range.is_none_or(|range| range == subnet.ip_range)
    });
    let none = || Code::NoSubnetAvailable.because("no subnet or address is available");
    match wish.ip {
        None => subnets.flat_map(|it| it.ip_range.hosts()).find(is_free).ok_or_else(none),
        Some(ip) => {
            let mut hosts = subnets.flat_map(|it| it.ip_range.hosts());
            hosts.find(|host| *host == ip).ok_or_else(none)?;
            let message = format!("address {ip} is not available");
            Some(ip).filter(is_free).ok_or_else(|| Code::IpNotAvailable.because(message))
        }
    }
}

/// Returns all addresses of a network that somebody has or will have.
fn taken(project: &Project, network: i64) -> BTreeSet<Ipv4Addr> {
    let servers = project.servers.iter().flat_map(|it| it.private.iter());
    let balancers = project.load_balancers.iter().flat_map(|it| it.private.iter());
    servers.chain(balancers).filter(|it| it.network == network).map(|it| it.ip).collect()
}
