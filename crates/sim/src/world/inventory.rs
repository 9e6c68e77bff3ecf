//! What there is in a world, for those who compare two worlds.

use std::sync::Arc;

use serde_json::Value;

use super::World;
use crate::hetzner::Holding;
use crate::talos::Etcd;

/// What there is in a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Inventory {
    /// What the project at the cloud holds.
    pub holdings: Vec<Holding>,
    /// The clusters that any node was ever configured for, by their id.
    pub clusters: Vec<ClusterInventory>,
}

/// What there is in a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterInventory {
    /// Each etcd that was bootstrapped; there should be one.
    pub etcds: Vec<Etcd>,
    /// All objects of its Kubernetes.
    pub objects: Vec<Arc<Value>>,
}

impl World {
    /// Returns what there is now.
    pub fn inventory(&self) -> Inventory {
        Inventory { holdings: self.hetzner.holdings(), clusters: self.neighbourhood.inventory() }
    }
}
