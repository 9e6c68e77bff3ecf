//! What the stages need of every cloud, and no more.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};

use events::{Failure, Made, Permit};

use crate::{CallError, Item};

/// What the stages need of every cloud: the machine behind a node, and what
/// there is to be cleared away. How networks and machines are made differs so
/// much from cloud to cloud that each brings calls of its own for it.
pub trait Cloud: Send + Sync + 'static {
    /// Returns the machine of a node, by the node's name. A machine that has
    /// the name but is not ours is an error.
    fn host(&self, node: &str) -> impl Future<Output = Result<Option<Host>, Failure>> + Send;

    /// Lists all that is provably ours, in an order in which it can go. A
    /// look that could not see everything is an error, never a shorter list.
    fn inventory(&self) -> impl Future<Output = Result<Vec<Item>, Failure>> + Send;

    /// Looks whether the next step of taking an item away is done.
    fn is_removed(&self, item: &Item) -> impl Future<Output = Result<bool, Failure>> + Send;

    /// Takes the next step of taking an item away; see [`Item::call`].
    fn remove(
        &self,
        permit: Permit,
        item: &Item,
    ) -> impl Future<Output = Result<Made, CallError>> + Send;
}

/// The machine of a node, as the cloud sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its id in the cloud.
    pub id: String,
    /// What Kubernetes calls it, where the cloud has a controller there.
    pub provider_id: Option<String>,
    /// How it is reached from outside.
    pub public: Option<IpAddr>,
    /// Its addresses in private networks.
    pub private: Vec<Ipv4Addr>,
    /// Whether it runs.
    pub power: Power,
}

/// Whether a machine runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Power {
    /// It does.
    On,
    /// It does not, and the cloud has a word for what it does.
    Other(String),
    /// Nobody can tell.
    Unknown,
}
