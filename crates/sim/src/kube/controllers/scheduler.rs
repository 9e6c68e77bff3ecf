//! The scheduler: taints, node selectors, the nodes that pods name, and volumes.
//! Resources and affinities between pods are not looked at.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::pods::is_active;
use super::{About, NODES, PODS, attempt, record, volumes};
use crate::kube::Kube;
use crate::kube::api::{Write, set_condition};
use crate::kube::object::{has_condition, items, name, namespace, pairs, texts};

const SCHEDULER: &str = "default-scheduler";

/// How many pods are on each node.
type Load = BTreeMap<String, usize>;

/// Puts all pods that wait for a node on one.
pub(super) fn pass(kube: &Kube) {
    let nodes = kube.all(&NODES, "");
    let (placed, waiting): (Vec<_>, Vec<_>) =
        kube.all(&PODS, "").into_iter().partition(|pod| pod["spec"]["nodeName"].is_string());
    let mut load = Load::new();
    for pod in &placed {
        let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        *load.entry(node.to_owned()).or_default() += 1;
    }
    for pod in waiting.iter().filter(|pod| is_active(pod)) {
        schedule(kube, pod, &nodes, &mut load);
    }
}

fn schedule(kube: &Kube, pod: &Value, nodes: &[Arc<Value>], load: &mut Load) {
    let claims = match volumes::claims(kube, pod) {
        Ok(claims) => claims,
        Err(why) => return refuse(kube, pod, &unplaceable(nodes.len(), &why)),
    };
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut fitting = Vec::new();
    for node in nodes {
        match obstacle(pod, node) {
            None => fitting.push(name(node)),
            Some(reason) => *reasons.entry(reason).or_default() += 1,
        }
    }
    let count = |node: &&str| load.get(*node).copied().unwrap_or_default();
    let Some(node) = fitting.into_iter().min_by_key(count) else {
        return refuse(kube, pod, &explanation(nodes.len(), &reasons));
    };
    let node = volumes::selected(&claims).unwrap_or(node);
    *load.entry(node.to_owned()).or_default() += 1;
    if volumes::select(kube, &claims, node) {
        return;
    }
    let Ok(mut place) = kube.place(&PODS, namespace(pod), name(pod)) else { return };
    "binding".clone_into(&mut place.subresource);
    let binding = json!({ "target": { "kind": "Node", "name": node } });
    let bound = kube.change(|state| state.bind(&place, &binding, &Write::by("kube-scheduler")));
    if attempt(bound).is_some() {
        let message = format!("Successfully assigned {}/{} to {node}", namespace(pod), name(pod));
        let (kind, reason, source) = ("Normal", "Scheduled", SCHEDULER);
        record(kube, &About { object: pod, kind, reason, message: &message, source });
    }
}

/// Returns why a pod cannot be on a node, in the scheduler's words.
fn obstacle(pod: &Value, node: &Value) -> Option<String> {
    if node["spec"]["unschedulable"] == true
        && !tolerates(
            pod,
            &json!({ "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule" }),
        )
    {
        return Some("node(s) were unschedulable".to_owned());
    }
    let repelling =
        items(&node["spec"]["taints"]).iter().filter(|taint| taint["effect"] != "PreferNoSchedule");
    for taint in repelling {
        if !tolerates(pod, taint) {
            return Some("node(s) had untolerated taint(s)".to_owned());
        }
    }
    (!suits(pod, node)).then(|| "node(s) didn't match Pod's node affinity/selector".to_owned())
}

fn explanation(nodes: usize, reasons: &BTreeMap<String, usize>) -> String {
    if nodes == 0 {
        return "no nodes available to schedule pods".to_owned();
    }
    let reasons: Vec<String> =
        reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    unplaceable(nodes, &reasons.join(", "))
}

fn unplaceable(nodes: usize, why: &str) -> String {
    format!(
        "0/{nodes} nodes are available: {why}. no new claims to deallocate, preemption: 0/{nodes} nodes are available: {nodes} Preemption is not helpful for scheduling."
    )
}

/// Says once why a pod is on no node.
fn refuse(kube: &Kube, pod: &Value, message: &str) {
    let told = items(&pod["status"]["conditions"]).iter().any(|one| one["message"] == message);
    if told && has_condition(pod, "PodScheduled", "False") {
        return;
    }
    let mut changed = pod.clone();
    let condition = json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
        "lastProbeTime": null, "lastTransitionTime": kube.clock().stamp(),
        "observedGeneration": pod["metadata"]["generation"],
    });
    set_condition(&mut changed, condition);
    let Ok(mut place) = kube.place(&PODS, namespace(pod), name(pod)) else { return };
    "status".clone_into(&mut place.subresource);
    if attempt(kube.update(&place, changed, &Write::by("kube-scheduler"))).is_some() {
        let (kind, reason, source) = ("Warning", "FailedScheduling", SCHEDULER);
        record(kube, &About { object: pod, kind, reason, message, source });
    }
}

/// Says whether a pod tolerates a taint.
pub(super) fn tolerates(pod: &Value, taint: &Value) -> bool {
    items(&pod["spec"]["tolerations"]).iter().any(|one| {
        let effect = one["effect"].as_str().unwrap_or_default();
        let key = one["key"].as_str().unwrap_or_default();
        let exists = one["operator"] == "Exists";
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let effect_fits = effect.is_empty() || taint["effect"] == effect;
        let key_fits = (key.is_empty() && exists) || taint["key"] == key;
        effect_fits && key_fits && (exists || text(&one["value"]) == text(&taint["value"]))
    })
}

/// Says whether a node is one that a pod asks for.
pub(super) fn suits(pod: &Value, node: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    let selected = pairs(&pod["spec"]["nodeSelector"]).all(|(key, value)| labels[key] == value);
    let terms = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"];
    let fits = |term: &Value| {
        let field = |one: &Value| {
            one["key"] == "metadata.name" && texts(&one["values"]).iter().any(|v| v == name(node))
        };
        items(&term["matchFields"]).iter().all(field)
            && items(&term["matchExpressions"]).iter().all(|one| expression(one, labels))
    };
    selected && (terms.is_null() || items(terms).iter().any(fits))
}

fn expression(expression: &Value, labels: &Value) -> bool {
    let value = expression["key"].as_str().and_then(|key| labels.get(key)).and_then(Value::as_str);
    let listed =
        value.is_some_and(|value| texts(&expression["values"]).iter().any(|one| one == value));
    match expression["operator"].as_str() {
        Some("In") => listed,
        Some("NotIn") => !listed,
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        _ => false,
    }
}
