//! Replica sets keep a number of pods alive.

use std::sync::Arc;

use serde_json::{Value, json};

use super::pods::{end, is_active, is_ready, make, owned, report};
use super::{PODS, REPLICA_SETS};
use crate::kube::Kube;
use crate::kube::object::is_terminating;

const SOURCE: &str = "replicaset-controller";

/// Brings the pods of all replica sets in line.
pub(super) fn pass(kube: &Kube) {
    for set in kube.all(&REPLICA_SETS, "") {
        if !is_terminating(&set) {
            keep(kube, &set);
        }
    }
}

fn keep(kube: &Kube, set: &Value) {
    let all = owned(kube, &PODS, set);
    let active: Vec<&Arc<Value>> = all.iter().filter(|pod| is_active(pod)).collect();
    let wanted =
        usize::try_from(set["spec"]["replicas"].as_u64().unwrap_or(1)).unwrap_or(usize::MAX);
    for _ in active.len()..wanted {
        make(kube, set, SOURCE, |_| {});
    }
    // Those that are not ready are of the least use.
    let mut order = active;
    order.sort_by_key(|pod| is_ready(pod));
    for pod in order.iter().take(order.len().saturating_sub(wanted)) {
        end(kube, set, pod, SOURCE);
    }
    report(kube, &REPLICA_SETS, set, status(kube, set));
}

fn status(kube: &Kube, set: &Value) -> Value {
    let all = owned(kube, &PODS, set);
    let active = all.iter().filter(|pod| is_active(pod)).count();
    let ready = all.iter().filter(|pod| is_active(pod) && is_ready(pod)).count();
    let ending = all.iter().filter(|pod| is_terminating(pod)).count();
    let mut status = json!({
        "replicas": active, "fullyLabeledReplicas": active, "terminatingReplicas": ending,
        "observedGeneration": set["metadata"]["generation"],
    });
    if ready > 0 {
        status["readyReplicas"] = json!(ready);
        status["availableReplicas"] = json!(ready);
    }
    status
}
