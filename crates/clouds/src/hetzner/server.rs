//! Servers as they are.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use ipnet::Ipv6Net;
use serde::Deserialize;

use super::{Firewall, Id, Kind, Network, PlacementGroup, Protection, Resource, Volume};
use crate::Labels;

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Server {
    /// Its id, which is also in its Kubernetes node's provider id.
    pub id: Id<Self>,
    /// Its name.
    pub name: String,
    /// What it is doing.
    pub status: ServerStatus,
    /// How it is reached from outside.
    pub public_net: PublicNet,
    /// How it is reached from inside.
    #[serde(default)]
    pub private_net: Vec<PrivateNet>,
    /// What it runs on.
    pub server_type: Named,
    /// Where it is.
    pub location: Named,
    /// The group that keeps it apart from its siblings.
    #[serde(default)]
    pub placement_group: Option<Grouped>,
    /// The volumes that are attached to it.
    #[serde(default)]
    pub volumes: Vec<Id<Volume>>,
    /// What it is protected from.
    #[serde(default)]
    pub protection: Protection,
    /// Its labels.
    #[serde(default)]
    pub labels: Labels,
}

/// What a server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants are Hetzner's own words")]
pub enum ServerStatus {
    Initializing,
    Starting,
    Running,
    Stopping,
    Off,
    Deleting,
    Rebuilding,
    Migrating,
    #[serde(other)]
    Unknown,
}

impl fmt::Display for ServerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Initializing => "initializing",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Off => "off",
            Self::Deleting => "deleting",
            Self::Rebuilding => "rebuilding",
            Self::Migrating => "migrating",
            Self::Unknown => "in a state that is not known here",
        })
    }
}

/// How a server is reached from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct PublicNet {
    /// Its IPv4 address, where it has one.
    #[serde(default)]
    pub ipv4: Option<PublicIpv4>,
    /// Its IPv6 network, where it has one.
    #[serde(default)]
    pub ipv6: Option<PublicIpv6>,
    /// The firewalls around it.
    #[serde(default)]
    pub firewalls: Vec<FirewallState>,
}

/// A public IPv4 address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PublicIpv4 {
    /// The address.
    pub ip: Ipv4Addr,
}

/// A public IPv6 network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PublicIpv6 {
    /// The network; the server has its first address.
    pub ip: Ipv6Net,
}

/// A firewall on a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FirewallState {
    /// Which.
    pub id: Id<Firewall>,
    /// `applied`, or `pending` while it is not there yet.
    pub status: String,
}

/// How a server is reached in a network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PrivateNet {
    /// The network.
    pub network: Id<Network>,
    /// Its address there.
    pub ip: Ipv4Addr,
    /// The address of its network card.
    #[serde(default)]
    pub mac_address: String,
}

/// Something of which only the name matters here.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
}

/// The placement group of a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Grouped {
    /// Which.
    pub id: Id<PlacementGroup>,
}

impl Resource for Server {
    const KIND: Kind = Kind::Server;

    fn id(&self) -> Id<Self> {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn is_protected(&self) -> bool {
        self.protection.delete
    }
}

impl Server {
    /// Returns its address in a network.
    pub fn address_in(&self, network: Id<Network>) -> Option<Ipv4Addr> {
        self.private_net.iter().find(|net| net.network == network).map(|net| net.ip)
    }

    /// Returns its address from outside, IPv4 where it has one.
    pub fn public_address(&self) -> Option<IpAddr> {
        let first = |net: &PublicIpv6| Some(IpAddr::V6(first_address(net.ip)));
        let v4 = self.public_net.ipv4.as_ref().map(|v4| IpAddr::V4(v4.ip));
        v4.or_else(|| self.public_net.ipv6.as_ref().and_then(first))
    }

    /// Returns whether a firewall is put on it, in force or not yet.
    pub fn has_firewall(&self, firewall: Id<Firewall>) -> bool {
        self.public_net.firewalls.iter().any(|state| state.id == firewall)
    }

    /// Returns whether a firewall is in force on it.
    pub fn is_behind(&self, firewall: Id<Firewall>) -> bool {
        let in_force = |state: &FirewallState| state.id == firewall && state.status == "applied";
        self.public_net.firewalls.iter().any(in_force)
    }
}

/// A server has the address `::1` of its network.
fn first_address(net: Ipv6Net) -> std::net::Ipv6Addr {
    (u128::from(net.network()) + 1).into()
}
