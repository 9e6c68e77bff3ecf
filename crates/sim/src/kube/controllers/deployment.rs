//! Deployments move from one replica set to the next.

use std::sync::Arc;

use serde_json::{Value, json};

use super::pods::{CONTROLLER, annotate, digest, label, owned, reference, set_status};
use super::{About, DEPLOYMENTS, REPLICA_SETS, attempt, record};
use crate::kube::Kube;
use crate::kube::api::{Patch, Write, set_condition};
use crate::kube::object::{is_terminating, name, namespace};

const HASH: &str = "pod-template-hash";
const REVISION: &str = "deployment.kubernetes.io/revision";

/// Brings the replica sets of all deployments in line.
pub(super) fn pass(kube: &Kube) {
    for deployment in kube.all(&DEPLOYMENTS, "") {
        if !is_terminating(&deployment) {
            roll(kube, &deployment);
        }
    }
}

fn roll(kube: &Kube, deployment: &Value) {
    let sets = owned(kube, &REPLICA_SETS, deployment);
    let hash = digest(&deployment["spec"]["template"]);
    let current = sets.iter().find(|set| set["metadata"]["labels"][HASH] == hash.as_str());
    let wanted = deployment["spec"]["replicas"].as_u64().unwrap_or(1);
    let Some(current) = current else {
        return make(kube, deployment, &hash, &sets);
    };
    if deployment["spec"]["paused"] != true {
        let old: Vec<&Arc<Value>> = sets.iter().filter(|set| name(set) != name(current)).collect();
        step(kube, deployment, current, &old, wanted);
    }
    let mut told = deployment.clone();
    annotate(&mut told, REVISION, &revision(current).unwrap_or(1).to_string());
    let sets = owned(kube, &REPLICA_SETS, deployment);
    told["status"] = status(kube, deployment, name(current), &sets, wanted);
    if told != *deployment {
        set_status(kube, &DEPLOYMENTS, &told);
    }
}

/// Makes the replica set of the current template, with as many pods as there
/// may be beside the old ones.
fn make(kube: &Kube, deployment: &Value, hash: &str, sets: &[Arc<Value>]) {
    let revisions = sets.iter().filter_map(|set| revision(set));
    let next = revisions.max().unwrap_or_default() + 1;
    let replicas = first_replicas(deployment, sets);
    let mut template = deployment["spec"]["template"].clone();
    label(&mut template, HASH, hash);
    let mut selector = deployment["spec"]["selector"].clone();
    selector["matchLabels"][HASH] = json!(hash);
    let set_name = format!("{}-{hash}", name(deployment));
    let mut set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": set_name,
            "labels": template["metadata"]["labels"], "ownerReferences": [reference(deployment)],
        },
        "spec": { "replicas": replicas, "selector": selector, "template": template },
    });
    annotate(&mut set, REVISION, &next.to_string());
    for (key, value) in bounds(deployment) {
        annotate(&mut set, key, &value);
    }
    let place = kube.place(&REPLICA_SETS, namespace(deployment), "");
    let made = attempt(place.and_then(|place| kube.create(&place, set, &Write::by(CONTROLLER))));
    if made.is_some() && replicas > 0 {
        announce(kube, deployment, &set_name, 0, replicas);
    }
}

fn first_replicas(deployment: &Value, sets: &[Arc<Value>]) -> u64 {
    let wanted = deployment["spec"]["replicas"].as_u64().unwrap_or(1);
    let before: u64 = sets.iter().filter_map(|set| set["spec"]["replicas"].as_u64()).sum();
    let strategy = &deployment["spec"]["strategy"];
    if strategy["type"] == "Recreate" {
        return if before == 0 { wanted } else { 0 };
    }
    let surge = share(&strategy["rollingUpdate"]["maxSurge"], wanted, true);
    (wanted + surge).saturating_sub(before).min(wanted)
}

/// Returns the annotations that say how many pods a deployment may have.
fn bounds(deployment: &Value) -> [(&'static str, String); 2] {
    let wanted = deployment["spec"]["replicas"].as_u64().unwrap_or(1);
    let surge = share(&deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"], wanted, true);
    [
        ("deployment.kubernetes.io/desired-replicas", wanted.to_string()),
        ("deployment.kubernetes.io/max-replicas", (wanted + surge).to_string()),
    ]
}

/// Takes the next step of a rolling update: as many new pods as there may be
/// at once, and as few old ones as must be.
fn step(kube: &Kube, deployment: &Value, current: &Value, old: &[&Arc<Value>], wanted: u64) {
    let strategy = &deployment["spec"]["strategy"];
    let replicas = |set: &Value| set["spec"]["replicas"].as_u64().unwrap_or_default();
    let ready = |set: &Value| set["status"]["readyReplicas"].as_u64().unwrap_or_default();
    let (now, before): (u64, u64) = (replicas(current), old.iter().map(|set| replicas(set)).sum());
    if strategy["type"] == "Recreate" {
        let alive: u64 =
            old.iter().map(|set| set["status"]["replicas"].as_u64().unwrap_or_default()).sum();
        old.iter().filter(|set| replicas(set) > 0).for_each(|set| scale(kube, deployment, set, 0));
        if before == 0 && alive == 0 && now != wanted {
            scale(kube, deployment, current, wanted);
        }
        return;
    }
    let window = &strategy["rollingUpdate"];
    let surge = share(&window["maxSurge"], wanted, true);
    let lacking = share(&window["maxUnavailable"], wanted, false);
    let lacking = if surge == 0 { lacking.max(1) } else { lacking };
    let room = (wanted + surge).saturating_sub(now + before);
    let next = if now > wanted { wanted } else { (now + room).min(wanted) };
    if next != now {
        return scale(kube, deployment, current, next);
    }
    let all_ready = ready(current) + old.iter().map(|set| ready(set)).sum::<u64>();
    let unready_old = before.saturating_sub(old.iter().map(|set| ready(set)).sum());
    let mut spare = (all_ready + lacking).saturating_sub(wanted) + unready_old;
    for set in old.iter().filter(|set| replicas(set) > 0) {
        let fewer = replicas(set).min(spare);
        if fewer > 0 {
            scale(kube, deployment, set, replicas(set) - fewer);
            spare -= fewer;
        }
    }
}

/// Reads a number or a share of the replicas.
fn share(value: &Value, of: u64, up: bool) -> u64 {
    let percent = value
        .as_str()
        .and_then(|text| text.strip_suffix('%'))
        .and_then(|text| text.parse::<u64>().ok());
    match percent {
        Some(percent) if up => (of * percent).div_ceil(100),
        Some(percent) => of * percent / 100,
        None => value.as_u64().unwrap_or_default(),
    }
}

fn scale(kube: &Kube, deployment: &Value, set: &Value, replicas: u64) {
    let before = set["spec"]["replicas"].as_u64().unwrap_or_default();
    let Ok(place) = kube.place(&REPLICA_SETS, namespace(set), name(set)) else { return };
    let mut patch = json!({ "spec": { "replicas": replicas } });
    for (key, value) in bounds(deployment) {
        annotate(&mut patch, key, &value);
    }
    attempt(kube.patch(&place, &Patch::Merge(patch), &Write::by(CONTROLLER)));
    announce(kube, deployment, name(set), before, replicas);
}

fn announce(kube: &Kube, deployment: &Value, set: &str, before: u64, replicas: u64) {
    let way = if replicas > before { "up" } else { "down" };
    let message = format!("Scaled {way} replica set {set} from {before} to {replicas}");
    let (kind, reason, source) = ("Normal", "ScalingReplicaSet", "deployment-controller");
    record(kube, &About { object: deployment, kind, reason, message: &message, source });
}

fn revision(object: &Value) -> Option<u64> {
    object["metadata"]["annotations"][REVISION].as_str()?.parse().ok()
}

fn status(
    kube: &Kube,
    deployment: &Value,
    current: &str,
    sets: &[Arc<Value>],
    wanted: u64,
) -> Value {
    let sum = |field: &str| {
        sets.iter().map(|set| set["status"][field].as_u64().unwrap_or_default()).sum::<u64>()
    };
    let (replicas, ready) = (sum("replicas"), sum("readyReplicas"));
    let set = sets.iter().find(|set| name(set) == current);
    let updated = set.map_or(0, |set| set["status"]["replicas"].as_u64().unwrap_or_default());
    let mut status = json!({
        "observedGeneration": deployment["metadata"]["generation"],
        "terminatingReplicas": sum("terminatingReplicas"),
    });
    let missing = wanted.saturating_sub(ready);
    for (field, count) in [
        ("replicas", replicas),
        ("updatedReplicas", updated),
        ("readyReplicas", ready),
        ("availableReplicas", ready),
        ("unavailableReplicas", missing),
    ] {
        if count > 0 {
            status[field] = json!(count);
        }
    }
    status["conditions"] =
        deployment["status"].get("conditions").cloned().unwrap_or_else(|| json!([]));
    let mut whole = json!({ "status": status });
    let lacking =
        share(&deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"], wanted, false);
    let now = kube.clock().stamp();
    set_condition(&mut whole, available(ready + lacking >= wanted, &now));
    let complete = updated == wanted && replicas == wanted && ready >= wanted;
    progress(&mut whole, current, complete, &now);
    whole["status"].take()
}

fn available(yes: bool, now: &str) -> Value {
    let (status, reason, message) = if yes {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    json!({ "type": "Available", "status": status, "reason": reason, "message": message,
        "lastUpdateTime": now, "lastTransitionTime": now })
}

/// Says how far the rollout is.
fn progress(whole: &mut Value, current: &str, complete: bool, now: &str) {
    let (reason, message) = if complete {
        ("NewReplicaSetAvailable", format!("ReplicaSet \"{current}\" has successfully progressed."))
    } else {
        ("ReplicaSetUpdated", format!("ReplicaSet \"{current}\" is progressing."))
    };
    set_condition(
        whole,
        json!({ "type": "Progressing", "status": "True", "reason": reason,
        "message": message, "lastUpdateTime": now, "lastTransitionTime": now }),
    );
}
