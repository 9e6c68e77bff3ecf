//! Whether a tenant is there: which of its pods run.

use std::sync::Arc;

use serde_json::Value;

use crate::kube::object::{has_condition, is_terminating};
use crate::kube::{Key, Kube};

pub(super) const PODS: Key = Key::core("pods");

/// The labels by which the pods of a workload are told.
pub(super) type Labels = &'static [(&'static str, &'static str)];

/// Returns the pods of a workload that run and are ready, by name.
pub(super) fn present(kube: &Kube, labels: Labels) -> Vec<Arc<Value>> {
    let mut pods = kube.all(&PODS, "");
    pods.retain(|pod| is_of(pod, labels) && works(pod));
    pods
}

/// Returns the pod of a workload that leads, if any of them can.
pub(super) fn leader(kube: &Kube, labels: Labels) -> Option<Arc<Value>> {
    present(kube, labels).into_iter().next()
}

/// Says whether a pod is one of a workload.
pub(super) fn is_of(pod: &Value, labels: Labels) -> bool {
    labels.iter().all(|(key, value)| pod["metadata"]["labels"][*key] == *value)
}

/// Says whether what is in a pod can work.
pub(super) fn works(pod: &Value) -> bool {
    pod["status"]["phase"] == "Running"
        && has_condition(pod, "Ready", "True")
        && !is_terminating(pod)
}
