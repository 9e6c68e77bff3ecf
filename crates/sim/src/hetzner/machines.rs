//! Who is told that a server runs.

use std::net::Ipv4Addr;

use serde::Serialize;

use super::selector::Labels;

/// What stands behind the servers: told of each change of power, in order.
///
/// The cloud goes on at once; whoever needs time to boot takes it elsewhere.
pub trait Machines: Send + Sync {
    /// The server was powered on, or something about it changed while it runs.
    fn runs(&self, machine: &Machine);
    /// The server was powered off; its disk stays.
    fn stopped(&self, machine: &Machine);
    /// The server is gone, with its disk; it may have been running.
    fn gone(&self, machine: &Machine);
}

/// What is known of a server from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The server's id.
    pub id: i64,
    /// Its name, which is its host name too.
    pub name: String,
    /// The loopback address on which it listens, public or not.
    pub address: Ipv4Addr,
    /// Its public address, where it has one.
    pub public_ipv4: Option<Ipv4Addr>,
    /// Its addresses in private networks.
    pub private: Vec<PrivateAddress>,
    /// Its labels.
    pub labels: Labels,
    /// The image that is on its disk.
    pub image: MachineImage,
    /// What was handed over at its creation.
    pub user_data: Option<String>,
    /// The name of its type, such as `cax11`.
    pub server_type: String,
    /// Where it stands, such as `fsn1`.
    pub location: String,
    /// The network zone of that place, such as `eu-central`.
    pub network_zone: String,
}

/// An address in a private network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateAddress {
    /// The network's id.
    pub network: i64,
    /// The address.
    pub ip: Ipv4Addr,
    /// The interface's hardware address.
    pub mac: String,
}

/// The image of a machine's disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineImage {
    /// The image's id.
    pub id: i64,
    /// Its description.
    pub description: String,
    /// Its architecture: `x86` or `arm`.
    pub architecture: String,
    /// Its labels.
    pub labels: Labels,
}

/// What the metadata service tells a server about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Metadata {
    /// The server's id.
    pub instance_id: i64,
    /// Its name.
    pub hostname: String,
    /// The network zone.
    pub region: String,
    /// The location with its data centre.
    pub availability_zone: String,
    /// The public address, where there is one.
    pub public_ipv4: Option<Ipv4Addr>,
}

/// The data centre of a location, as the metadata service names it. The API has
/// none any more; the nodes' zone label still comes from here.
fn datacenter(location: &str) -> String {
    let number = match location {
        "fsn1" => 14,
        "nbg1" => 3,
        "hel1" => 2,
        _ => 1,
    };
    format!("{location}-dc{number}")
}

impl Machine {
    /// Returns what the metadata service would say.
    pub fn metadata(&self) -> Metadata {
        Metadata {
            instance_id: self.id,
            hostname: self.name.clone(),
            region: self.network_zone.clone(),
            availability_zone: datacenter(&self.location),
            public_ipv4: self.public_ipv4,
        }
    }
}
