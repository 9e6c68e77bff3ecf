//! The labels and taints of a node, by what its configuration and its version
//! of Talos make of them.

use serde_json::{Value, json};

use crate::talos::{MachineConfig, NodeFacts};

const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";
const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// What is on a node once it has joined.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NodeMarks {
    /// Its labels.
    pub(super) labels: Vec<(String, String)>,
    /// Its taints, as the API writes them.
    pub(super) taints: Vec<Value>,
}

impl NodeMarks {
    pub(super) fn of(node: &NodeFacts, config: &MachineConfig) -> Self {
        let (kubelet, cluster) = (&config.kubelet, &config.cluster);
        let mut taints = kubelet.register_with_taints.clone();
        let mut labels: Vec<_> = kubelet.node_labels.clone().into_iter().collect();
        if cluster.external_cloud_provider {
            taints.push(json!({ "key": UNINITIALIZED, "value": "true", "effect": "NoSchedule" }));
        }
        if config.is_control_plane() || node.registers_with_taints() {
            taints.extend(kubelet.node_taints.iter().map(taint));
        } else if !kubelet.node_taints.is_empty() {
            // A kubelet that changes taints is refused, with all else that it changes.
            labels.clear();
        }
        if config.is_control_plane() {
            labels.push((CONTROL_PLANE.to_owned(), String::new()));
            let reserved = json!({ "key": CONTROL_PLANE, "effect": "NoSchedule" });
            if !cluster.schedule_on_control_planes && !taints.contains(&reserved) {
                taints.push(reserved);
            }
        }
        Self { labels, taints }
    }
}

/// Reads `value:effect` or `effect`.
fn taint((key, taint): (&String, &String)) -> Value {
    match taint.split_once(':') {
        Some((value, effect)) => json!({ "key": key, "value": value, "effect": effect }),
        None => json!({ "key": key, "effect": taint }),
    }
}
