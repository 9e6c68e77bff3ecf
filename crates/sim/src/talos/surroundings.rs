//! What is around a node: its cluster, Kubernetes, and whoever holds its plug.

use std::sync::Arc;

use super::{Cluster, MachineConfig, NodeFacts};

/// What a node asks of its surroundings and what it tells them.
///
/// The calls come from the node's own tasks and must not block; whoever has
/// much to do spawns a task.
pub trait Surroundings: Send + Sync {
    /// Returns the cluster that a configuration belongs to; usually from a
    /// [`Clusters`](super::Clusters).
    fn cluster(&self, config: &MachineConfig) -> Cluster;

    /// The node's etcd is sound and its static pods start: its Kubernetes API
    /// may be served on its address, with what the configuration says.
    fn control_plane_up(&self, node: &NodeFacts, config: &Arc<MachineConfig>);

    /// The node's kubelet runs: it may register the node with the cluster's
    /// Kubernetes API, under the hostname.
    fn kubelet_up(&self, node: &NodeFacts, hostname: &str, config: &Arc<MachineConfig>);

    /// The node's kubelet and static pods, if any, have stopped.
    fn kubernetes_down(&self, node: &NodeFacts);

    /// Says whether a node that asked to be restarted comes up again; it stays
    /// off otherwise.
    fn restarts(&self, _node: &NodeFacts) -> bool {
        true
    }

    /// The node has switched itself off.
    fn powered_off(&self, _node: &NodeFacts) {}
}

/// What the Kubernetes API says about a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubernetesNode {
    /// Whether it is ready.
    pub ready: bool,
    /// Whether it is cordoned.
    pub unschedulable: bool,
}
