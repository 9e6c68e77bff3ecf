//! Cilium: a node with an agent has a network.

use std::time::Duration;

use serde_json::Value;

use super::object::{Said, find, replace, report};
use super::presence::{Labels, PODS, present};
use crate::kube::object::items;
use crate::kube::{Key, Kube};

/// How long an agent takes to see that its node still waits for it.
pub(super) const REACTION: Duration = Duration::from_secs(1);

const AGENTS: Labels = &[("k8s-app", "cilium")];
const NODES: Key = Key::core("nodes");

/// The kinds that it follows.
pub(super) const FOLLOWED: &[Key] = &[PODS, NODES];

const NOT_READY: &str = "node.cilium.io/agent-not-ready";

/// Tells of every node with a working agent that its network is there. That
/// the node is ready then is its kubelet's to say.
pub(super) fn pass(kube: &Kube) {
    for agent in present(kube, AGENTS) {
        let node = agent["spec"]["nodeName"].as_str().unwrap_or_default();
        if let Some(node) = find(kube, &NODES, "", node) {
            announce(kube, &node);
        }
    }
}

fn announce(kube: &Kube, node: &Value) {
    let said = Said {
        kind: "NetworkUnavailable",
        status: false,
        reason: "CiliumIsUp",
        message: "Cilium is running on this node",
    };
    let mut told = node.clone();
    said.plainly(kube, &mut told);
    report(kube, &NODES, node, told, "cilium-agent");
    let Some(node) = find(kube, &NODES, "", crate::kube::object::name(node)) else { return };
    replace(kube, &NODES, &node, without_taint(&node, NOT_READY), "cilium-operator");
}

/// Returns a node without a taint.
pub(super) fn without_taint(node: &Value, key: &str) -> Value {
    let mut node = node.clone();
    let left: Vec<Value> = items(&node["spec"]["taints"])
        .iter()
        .filter(|taint| taint["key"] != key)
        .cloned()
        .collect();
    if let Some(spec) = node["spec"].as_object_mut() {
        if left.is_empty() {
            spec.remove("taints");
        } else {
            spec.insert("taints".to_owned(), left.into());
        }
    }
    node
}
