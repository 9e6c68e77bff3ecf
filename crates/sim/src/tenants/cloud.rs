//! The cloud as the controllers inside a cluster reach it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

/// The project of a cloud in which a cluster's servers are.
///
/// What is asked for has happened when a call returns; whoever asks lets the
/// time pass that it takes.
pub trait Cloud: Send + Sync {
    /// Returns the server of a name.
    fn server(&self, name: &str) -> Option<CloudServer>;
    /// Returns the id of a network, by its id or its name.
    fn network(&self, id_or_name: &str) -> Option<i64>;
    /// Has packets to a destination go to an address of a network, instead of
    /// wherever they went before; the refusal is in the cloud's words.
    fn route(&self, network: i64, to: Ipv4Net, gateway: Ipv4Addr) -> Result<(), String>;
    /// Returns a volume.
    fn volume(&self, id: i64) -> Option<CloudVolume>;
    /// Makes a volume and returns its id; one of that name is taken as it is.
    fn create_volume(&self, order: VolumeOrder) -> Result<i64, String>;
    /// Attaches a volume to a server.
    fn attach_volume(&self, volume: i64, server: i64) -> Result<(), String>;
    /// Detaches a volume from whatever server it is attached to.
    fn detach_volume(&self, volume: i64);
    /// Deletes a volume that is attached to nothing.
    fn delete_volume(&self, volume: i64) -> Result<(), String>;
}

/// A server of the cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudServer {
    /// Its id.
    pub id: i64,
    /// The name of its type, such as `cax11`.
    pub server_type: String,
    /// Where it stands, such as `fsn1`.
    pub location: String,
    /// The zone of that place, as its metadata say.
    pub zone: String,
    /// Its public address, where it has one.
    pub public: Option<Ipv4Addr>,
    /// Its addresses in private networks, by the networks' ids.
    pub private: BTreeMap<i64, Ipv4Addr>,
}

/// A volume of the cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudVolume {
    /// Its id.
    pub id: i64,
    /// The server that it is attached to.
    pub server: Option<i64>,
}

/// A volume that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeOrder {
    /// Its name.
    pub name: String,
    /// Its size in gigabytes.
    pub size: u32,
    /// Where it is to be, such as `fsn1`.
    pub location: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
}
