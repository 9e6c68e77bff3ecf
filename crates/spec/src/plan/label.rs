//! Labels: how everything that was made for a cluster is found again.

use std::collections::BTreeMap;

use events::{ClusterId, Role};
use serde::Serialize;

use super::node::NodePlan;
use crate::cluster::Cluster;
use crate::scalar::{LabelKey, LabelValue};

/// Labels of a resource in the cloud.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct LabelSet {
    labels: BTreeMap<LabelKey, LabelValue>,
}

impl LabelSet {
    /// The prefix of our own label keys.
    pub const PREFIX: &'static str = "seaworthy.dev";

    /// The labels of everything that belongs to a cluster.
    pub fn of_cluster(cluster: &Cluster, id: ClusterId) -> Self {
        let labels = cluster
            .labels
            .iter()
            .map(|(key, value)| (key.value.clone(), value.value.clone()))
            .collect();
        let labels = Self { labels }.own("cluster", cluster.name.as_str());
        // Before the first run nothing carries an identity.
        if id == ClusterId::NIL { labels } else { labels.own("cluster-id", &id.to_string()) }
    }

    /// The labels of a node's server or VM.
    #[must_use]
    pub fn of_node(&self, node: &NodePlan) -> Self {
        let role = match node.role {
            Role::ControlPlane => "control-plane",
            Role::Worker => "worker",
        };
        let labels = self.clone().own("role", role);
        match &node.pool {
            Some(pool) => labels.own("pool", pool.as_str()),
            None => labels,
        }
    }

    /// The same labels with the run that makes the resource, for things whose name the cloud chooses.
    #[must_use]
    pub fn of_run(&self, run: &LabelValue) -> Self {
        self.clone().own("run", run.as_str())
    }

    /// A selector for everything that belongs to a cluster.
    pub fn cluster_selector(id: ClusterId) -> String {
        format!("{}/cluster-id={id}", Self::PREFIX)
    }

    /// A selector for a cluster's servers of one role.
    pub fn role_selector(id: ClusterId, role: Role) -> String {
        let role = match role {
            Role::ControlPlane => "control-plane",
            Role::Worker => "worker",
        };
        format!("{},{}/role={role}", Self::cluster_selector(id), Self::PREFIX)
    }

    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| name.as_str() == key).map(|(_, value)| value.as_str())
    }

    /// All labels.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    fn own(mut self, key: &str, value: &str) -> Self {
        let key = LabelKey::assert(&format!("{}/{key}", Self::PREFIX));
        self.labels.insert(key, LabelValue::assert(value));
        self
    }
}
