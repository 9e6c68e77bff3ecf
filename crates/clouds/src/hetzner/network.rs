//! Networks, their subnets and their routes.

use std::net::Ipv4Addr;

use events::{Call, Made};
use ipnet::Ipv4Net;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Started, made};
use super::client::Pass;
use super::creation::Creation;
use super::wish::{differs, named};
use super::{Hetzner, HetznerError, Id, Kind, LoadBalancer, Ours, Resource, Server, Wish};
use crate::Labels;

/// A private network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Network {
    /// Its id.
    pub id: Id<Self>,
    /// Its name.
    pub name: String,
    /// Its addresses.
    pub ip_range: Ipv4Net,
    /// Its parts.
    #[serde(default)]
    pub subnets: Vec<Subnet>,
    /// Where packets for addresses outside the subnets go.
    #[serde(default)]
    pub routes: Vec<Route>,
    /// The servers in it.
    #[serde(default)]
    pub servers: Vec<Id<Server>>,
    /// The load balancers in it.
    #[serde(default)]
    pub load_balancers: Vec<Id<LoadBalancer>>,
    /// What it is protected from.
    #[serde(default)]
    pub protection: Protection,
    /// Its labels.
    #[serde(default)]
    pub labels: Labels,
}

/// A part of a network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Subnet {
    /// Its addresses; none while Hetzner chooses them.
    #[serde(default)]
    pub ip_range: Option<Ipv4Net>,
    /// The locations that it reaches, by the name of their zone.
    pub network_zone: String,
}

/// A route of a network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Route {
    /// Where packets are to go.
    pub destination: Ipv4Net,
    /// The server that takes them.
    pub gateway: Ipv4Addr,
}

/// What something is protected from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Protection {
    /// Being deleted.
    #[serde(default)]
    pub delete: bool,
}

/// The wish for a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateNetwork {
    /// Its name.
    pub name: String,
    /// Its addresses.
    pub ip_range: Ipv4Net,
    /// Its labels; the cluster's id is added.
    pub labels: Labels,
}

/// The wish for a subnet. Hetzner makes them one after the other: a second one
/// meanwhile is answered with a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddSubnet {
    /// The network.
    pub network: Ours<Network>,
    /// The subnet's addresses.
    pub ip_range: Ipv4Net,
    /// The zone of its locations.
    pub network_zone: String,
}

// === impl Network ===

impl Resource for Network {
    const KIND: Kind = Kind::Network;

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

// === impl CreateNetwork ===

impl CreateNetwork {
    /// Returns what is different about a network that is there.
    pub fn differences(&self, there: &Network) -> Vec<String> {
        differs("ip_range", &there.ip_range, &self.ip_range).into_iter().collect()
    }
}

impl Creation for CreateNetwork {
    type Resource = Network;

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn body(&self, labels: &Labels) -> Value {
        json!({ "name": self.name, "ip_range": self.ip_range, "labels": labels })
    }
}

// === impl AddSubnet ===

impl AddSubnet {
    fn body(&self) -> Value {
        json!({ "type": "cloud", "ip_range": self.ip_range, "network_zone": self.network_zone })
    }
}

impl Wish for AddSubnet {
    fn call(&self) -> Call {
        let name = format!("{} to network {}", self.ip_range, self.network.name);
        named("add subnet", name, &self.body())
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        let network = hetzner.get(self.network.id).await?;
        let is_it = |subnet: &Subnet| subnet.ip_range == Some(self.ip_range);
        Ok(network.filter(|network| network.subnets.iter().any(is_it)).map(|it| made(&it)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        let path = format!("/networks/{}/actions/add_subnet", self.network.id);
        let started: Started = hetzner.post(pass, &path, &self.body()).await?;
        Ok(started.on(&*self.network))
    }
}
