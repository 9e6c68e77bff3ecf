//! What the stages need of every cloud, and no more.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;

use crate::Item;

/// What the stages need of every cloud: the machine behind a node, and what
/// there is to be cleared away. How networks and machines are made and removed
/// differs so much from cloud to cloud that each brings calls of its own for it.
pub trait Cloud: Send + Sync + 'static {
    /// Why a look failed.
    type Error: std::error::Error;

    /// Returns the machine of a node, by the node's name. A machine that has
    /// the name but is not ours is an error.
    fn host(&self, node: &str) -> impl Future<Output = Result<Option<Host>, Self::Error>> + Send;

    /// Lists all that was made for the cluster and is provably ours, in an order
    /// in which it can go. A look that could not see everything is an error,
    /// never a shorter list.
    fn inventory(&self) -> impl Future<Output = Result<Vec<Item>, Self::Error>> + Send;
}

/// The machine of a node, as far as whoever provides it knows it: what it is
/// told apart by before any secret goes there. Its [`Display`](fmt::Display) is
/// what journals call it, such as `server 42`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// What it is, such as `server`.
    pub kind: &'static str,
    /// What it is told apart by among those of its kind.
    pub id: String,
    /// The id that the machine must tell itself, where it has one.
    pub instance: Option<String>,
    /// The hardware addresses of network cards that it must have.
    pub cards: Vec<String>,
    /// How it is reached from outside, once it is.
    pub address: Option<IpAddr>,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.id)
    }
}
