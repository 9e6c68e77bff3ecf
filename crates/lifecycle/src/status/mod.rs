//! `status`: what is there now of a cluster. Only reads, and is quick.
//!
//! ```text
//!              ┌─► cloud:  inventory, prices ──┐
//!  Site ───────┤                               ├─► Now
//!              └─► nodes:  Talos, Kubernetes ──┘
//! ```
//!
//! Nothing here is an error: what could not be looked at is [`Seen::Blind`],
//! and all the rest is told.

mod cloud;
mod nodes;

use std::time::Duration;

use events::Failure;
use serde::Serialize;
use spec::Euro;

use crate::{Ground, Site};

/// How long each look may take; they go on at the same time.
const PATIENCE: Duration = Duration::from_secs(10);

/// What there is now of a cluster.
#[derive(Debug, Serialize)]
pub struct Now {
    /// What the cloud has of ours.
    pub items: Seen<Vec<Thing>>,
    /// The nodes, in the order of the plan, and servers of ours that the plan
    /// does not know.
    pub nodes: Vec<NodeNow>,
    /// What all of it costs a month, where the cloud says so.
    pub monthly: Option<Euro>,
}

/// What a look brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Seen<T> {
    /// This.
    Saw(T),
    /// Nothing, because it could not be looked at.
    Blind(Failure),
}

/// Something of ours that the cloud has, beside servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Thing {
    /// What it is.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// What can be said of it in a line.
    pub about: String,
    /// What it costs a month, where the cloud says so.
    pub monthly: Option<Euro>,
}

/// A node as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeNow {
    /// Its name.
    pub name: String,
    /// Its server; none where there is none.
    pub server: Seen<Option<ServerNow>>,
    /// What Talos says; none where there is nobody to ask.
    pub talos: Option<Seen<String>>,
    /// What Kubernetes says; none where there is nobody to ask.
    pub kubernetes: Option<Seen<String>>,
}

/// A server as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerNow {
    /// Its type.
    #[serde(rename = "type")]
    pub server_type: String,
    /// Where it is.
    pub location: String,
    /// What it is doing.
    pub status: String,
    /// How it is reached from outside.
    pub address: Option<std::net::IpAddr>,
    /// What it costs a month, where the cloud says so.
    pub monthly: Option<Euro>,
}

/// Looks at all that there is of a cluster.
pub async fn now(site: &Site) -> Now {
    let Ground::Hetzner(hetzner) = &site.ground else {
        let mut nodes = cloud::machines(site);
        nodes::look(site, &mut nodes).await;
        return Now { items: Seen::Saw(Vec::new()), nodes, monthly: None };
    };
    let cloud = cloud::look(hetzner).await;
    let mut nodes = cloud.servers(site);
    nodes::look(site, &mut nodes).await;
    let monthly = cloud.monthly(&nodes);
    Now { items: cloud.things(), nodes, monthly }
}

impl<T> Seen<T> {
    /// Returns what was seen.
    pub fn saw(&self) -> Option<&T> {
        match self {
            Self::Saw(it) => Some(it),
            Self::Blind(_) => None,
        }
    }
}

/// Waits for a look no longer than it may take.
async fn in_time<T>(look: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let late = || Failure::transient(format!("no answer within {} s", PATIENCE.as_secs()));
    tokio::time::timeout(PATIENCE, look).await.unwrap_or_else(|_| Err(late()))
}
