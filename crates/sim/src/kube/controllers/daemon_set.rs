//! Daemon sets keep a pod on every node that suits them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::pods::{digest, end, is_active, is_ready, label, make, owned, report};
use super::scheduler::{suits, tolerates};
use super::{DAEMON_SETS, NODES, PODS};
use crate::kube::Kube;
use crate::kube::object::{is_terminating, items, name};

const SOURCE: &str = "daemonset-controller";
const HASH: &str = "controller-revision-hash";

/// What every pod of a daemon set tolerates.
const TOLERATED: &[(&str, &str)] = &[
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// Brings the pods of all daemon sets in line.
pub(super) fn pass(kube: &Kube) {
    for set in kube.all(&DAEMON_SETS, "") {
        if !is_terminating(&set) {
            keep(kube, &set);
        }
    }
}

fn keep(kube: &Kube, set: &Value) {
    let hash = digest(&set["spec"]["template"]);
    let nodes = kube.all(&NODES, "");
    let pods = owned(kube, &PODS, set);
    for node in &nodes {
        let here: Vec<&Arc<Value>> =
            pods.iter().filter(|pod| node_of(pod) == Some(name(node))).collect();
        let active: Vec<&&Arc<Value>> = here.iter().filter(|pod| is_active(pod)).collect();
        match (wants(set, node), active.as_slice()) {
            (true, []) if here.is_empty() => {
                make(kube, set, SOURCE, |pod| place(pod, name(node), &hash));
            }
            (false, active) => active.iter().for_each(|pod| end(kube, set, pod, SOURCE)),
            (true, active) => active.iter().skip(1).for_each(|pod| end(kube, set, pod, SOURCE)),
        }
    }
    let lost = |pod: &&Arc<Value>| !nodes.iter().any(|node| Some(name(node)) == node_of(pod));
    pods.iter()
        .filter(|pod| is_active(pod))
        .filter(lost)
        .for_each(|pod| end(kube, set, pod, SOURCE));
    replace_one(kube, set, &pods, &hash);
    report(kube, &DAEMON_SETS, set, status(kube, set, &nodes, &hash));
}

/// Ends one pod of an old template, once all the others are ready.
fn replace_one(kube: &Kube, set: &Value, pods: &[Arc<Value>], hash: &str) {
    if set["spec"]["updateStrategy"]["type"] == "OnDelete" || pods.iter().any(|pod| !is_active(pod))
    {
        return;
    }
    let old = |pod: &&Arc<Value>| pod["metadata"]["labels"][HASH] != hash;
    let unready = |pod: &&Arc<Value>| !is_ready(pod);
    let next = pods.iter().filter(old).find(unready).or_else(|| {
        let calm = !pods.iter().any(|pod| !is_ready(pod));
        pods.iter().find(old).filter(|_| calm)
    });
    if let Some(pod) = next {
        end(kube, set, pod, SOURCE);
    }
}

/// Says whether a daemon set wants a pod on a node.
fn wants(set: &Value, node: &Value) -> bool {
    let mut pod = json!({ "spec": set["spec"]["template"]["spec"] });
    tolerate(&mut pod);
    let taints = items(&node["spec"]["taints"]).iter();
    let mut repelling = taints.filter(|taint| taint["effect"] != "PreferNoSchedule");
    suits(&pod, node) && repelling.all(|taint| tolerates(&pod, taint))
}

fn place(pod: &mut Value, node: &str, hash: &str) {
    label(pod, HASH, hash);
    pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!({ "nodeSelectorTerms": [{ "matchFields": [
            { "key": "metadata.name", "operator": "In", "values": [node] },
        ] }] });
    tolerate(pod);
}

fn tolerate(pod: &mut Value) {
    let host_network = pod["spec"]["hostNetwork"] == true;
    let Some(spec) = pod["spec"].as_object_mut() else { return };
    let list = spec.entry("tolerations").or_insert_with(|| json!([]));
    let Some(list) = list.as_array_mut() else { return };
    let network = host_network.then_some(&("node.kubernetes.io/network-unavailable", "NoSchedule"));
    for (key, effect) in TOLERATED.iter().chain(network) {
        list.push(json!({ "key": key, "operator": "Exists", "effect": effect }));
    }
}

/// Returns the node that a pod is on, or is meant for.
fn node_of(pod: &Value) -> Option<&str> {
    const MEANT: &str = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    pod["spec"]["nodeName"].as_str().or_else(|| pod.pointer(MEANT)?.as_str())
}

fn status(kube: &Kube, set: &Value, nodes: &[Arc<Value>], hash: &str) -> Value {
    let wanted: Vec<&str> =
        nodes.iter().filter(|node| wants(set, node)).map(|node| name(node)).collect();
    let pods = owned(kube, &PODS, set);
    let mut active: Vec<&Arc<Value>> = pods.iter().filter(|pod| is_active(pod)).collect();
    active.retain(|pod| node_of(pod).is_some_and(|node| wanted.contains(&node)));
    let ready = active.iter().filter(|pod| is_ready(pod)).count();
    let updated = active.iter().filter(|pod| pod["metadata"]["labels"][HASH] == hash).count();
    let mut status = json!({
        "currentNumberScheduled": active.len(), "desiredNumberScheduled": wanted.len(),
        "numberMisscheduled": 0, "numberReady": ready,
        "observedGeneration": set["metadata"]["generation"],
    });
    for (field, count) in [
        ("updatedNumberScheduled", updated),
        ("numberAvailable", ready),
        ("numberUnavailable", wanted.len().saturating_sub(ready)),
    ] {
        if count > 0 {
            status[field] = json!(count);
        }
    }
    status
}
