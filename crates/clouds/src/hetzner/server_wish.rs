//! Servers as they are wanted.

use std::net::Ipv4Addr;

use events::{Call, Made};
use serde_json::{Value, json};

use super::answer::{Started, made};
use super::client::Pass;
use super::creation::Creation;
use super::wish::{differs, idempotent, named};
use super::{
    Firewall, Hetzner, HetznerError, Id, Image, Network, Ours, PlacementGroup, Server,
    ServerStatus, SshKey, Wish,
};
use crate::Labels;

/// The wish for a server. It is made powered off: only a server that is in the
/// network with the address that is planned for it may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateServer {
    /// Its name.
    pub name: String,
    /// Its type, such as `cax11`.
    pub server_type: String,
    /// Where it is to be.
    pub location: String,
    /// What is on its disk.
    pub image: Id<Image>,
    /// The keys that spare it a password.
    pub ssh_keys: Vec<Id<SshKey>>,
    /// The firewalls that are around it from the beginning: anybody who can
    /// reach a node without a configuration can give it one.
    pub firewalls: Vec<Id<Firewall>>,
    /// The group that keeps it apart from its siblings.
    pub placement_group: Option<Id<PlacementGroup>>,
    /// Which public addresses it gets.
    pub public: PublicAddresses,
    /// Its labels; the cluster's id is added.
    pub labels: Labels,
}

/// Which public addresses a server gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicAddresses {
    /// An IPv4 address.
    pub ipv4: bool,
    /// An IPv6 network.
    pub ipv6: bool,
}

/// The wish that a server is in a network, at an address of our choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachServer {
    /// The server.
    pub server: Ours<Server>,
    /// The network.
    pub network: Id<Network>,
    /// Its address there.
    pub ip: Ipv4Addr,
}

/// The wish that a server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerOn {
    /// The server.
    pub server: Ours<Server>,
}

// === impl CreateServer ===

impl CreateServer {
    /// Returns what is different about a server that is there.
    pub fn differences(&self, there: &Server) -> Vec<String> {
        let group = |id: Option<Id<PlacementGroup>>| {
            id.map_or_else(|| "none".to_owned(), |id| id.to_string())
        };
        let is_in = there.placement_group.as_ref().map(|group| group.id);
        [
            differs("server_type", &there.server_type.name, &self.server_type),
            differs("location", &there.location.name, &self.location),
            differs("placement_group", &group(is_in), &group(self.placement_group)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Creation for CreateServer {
    type Resource = Server;

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn body(&self, labels: &Labels) -> Value {
        let firewalls = self.firewalls.iter().map(|id| json!({ "firewall": id }));
        let mut body = json!({
            "name": self.name,
            "server_type": self.server_type,
            "location": self.location,
            "image": self.image.to_string(),
            "ssh_keys": self.ssh_keys,
            "firewalls": firewalls.collect::<Vec<_>>(),
            "public_net": { "enable_ipv4": self.public.ipv4, "enable_ipv6": self.public.ipv6 },
            "start_after_create": false,
            "labels": labels,
        });
        if let Some(group) = self.placement_group {
            body["placement_group"] = json!(group);
        }
        body
    }
}

// === impl AttachServer ===

impl AttachServer {
    fn body(&self) -> Value {
        json!({ "network": self.network, "ip": self.ip })
    }
}

impl Wish for AttachServer {
    fn call(&self) -> Call {
        let name = format!("{} ({}) to network {}", self.server.name, self.server.id, self.network);
        named("attach server", name, &self.body())
    }

    /// A server at another address is in the network all the same: the gate
    /// that reads back says so, and a second call would be refused.
    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        let server = hetzner.get(self.server.id).await?;
        Ok(server.filter(|server| server.address_in(self.network).is_some()).map(|it| made(&it)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        let path = format!("/servers/{}/actions/attach_to_network", self.server.id);
        let started: Started = hetzner.post(pass, &path, &self.body()).await?;
        Ok(started.on(&*self.server))
    }
}

// === impl PowerOn ===

impl Wish for PowerOn {
    fn call(&self) -> Call {
        let name = format!("{} ({})", self.server.name, self.server.id);
        idempotent("power on server", name, &json!({}))
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        let is_on = |server: &Server| {
            matches!(server.status, ServerStatus::Starting | ServerStatus::Running)
        };
        Ok(hetzner.get(self.server.id).await?.filter(is_on).map(|server| made(&server)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        let path = format!("/servers/{}/actions/poweron", self.server.id);
        let started: Started = hetzner.post(pass, &path, &json!({})).await?;
        Ok(started.on(&*self.server))
    }
}
