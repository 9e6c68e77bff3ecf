//! The first words with a cluster: without them there is nothing to plan.

use objects::{ApiError, Cluster, Scope};

use crate::kube;

/// What a cluster says of itself when it is met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acquaintance {
    /// The version of its API, such as `v1.36.3`.
    pub version: String,
    /// How many nodes it has, where it may be asked.
    pub nodes: Option<usize>,
    /// Whether a simulator answers instead of the real thing.
    pub simulated: bool,
}

impl Acquaintance {
    /// Asks a cluster who it is.
    ///
    /// # Errors
    ///
    /// Where it does not answer, or does not know who asks. Not being allowed
    /// to see nodes is no error yet: the gate says so.
    pub async fn with(cluster: &Cluster) -> Result<Self, ApiError> {
        let version = cluster.version().await?;
        let nodes = cluster.list(&Scope::all(kube::kind("v1", "Node"))).await;
        Ok(Self {
            version: version.git_version,
            nodes: nodes.ok().map(|listed| listed.objects.len()),
            simulated: version.compiler == "simulated",
        })
    }

    /// `v1.36.3, 6 nodes, read-only`
    pub(super) fn title(&self) -> String {
        let nodes = match self.nodes {
            Some(1) => ", 1 node".to_owned(),
            Some(nodes) => format!(", {nodes} nodes"),
            None => String::new(),
        };
        let simulated = if self.simulated { ", simulated" } else { "" };
        format!("{}{nodes}, read-only{simulated}", self.version)
    }
}
