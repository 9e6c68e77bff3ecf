//! Volumes of pods: the scheduler chooses a node, and lets the claims be bound
//! for it before the pod goes there.

use std::sync::Arc;

use serde_json::{Value, json};

use super::attempt;
use crate::kube::Kube;
use crate::kube::api::{Patch, Write};
use crate::kube::object::{items, name, namespace};
use crate::kube::resource::Key;

pub(crate) const CLAIMS: Key = Key::core("persistentvolumeclaims");
const CLASSES: Key = Key::new("storage.k8s.io", "storageclasses");

/// The annotation by which the scheduler says where a volume is needed.
pub(crate) const SELECTED: &str = "volume.kubernetes.io/selected-node";

/// Returns the names of a pod's claims.
pub(crate) fn claim_names(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = items(&pod["spec"]["volumes"]).iter();
    volumes.filter_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
}

/// Returns the claims of a pod, or why the scheduler cannot place it.
pub(super) fn claims(kube: &Kube, pod: &Value) -> Result<Vec<Arc<Value>>, String> {
    let known = kube.all(&CLAIMS, namespace(pod));
    let find = |wanted: &str| {
        let found = known.iter().find(|claim| name(claim) == wanted).cloned();
        found.ok_or_else(|| format!("persistentvolumeclaim \"{wanted}\" not found"))
    };
    let claims = claim_names(pod).map(find).collect::<Result<Vec<_>, _>>()?;
    if claims.iter().any(|claim| !is_bound(claim) && !waits_for_a_pod(kube, claim)) {
        return Err("pod has unbound immediate PersistentVolumeClaims".to_owned());
    }
    Ok(claims)
}

/// Returns the node for which a volume is already being made.
pub(super) fn selected(claims: &[Arc<Value>]) -> Option<&str> {
    claims.iter().find_map(|claim| claim["metadata"]["annotations"][SELECTED].as_str())
}

/// Asks for the volumes that are missing on a node, and says whether the pod
/// must wait for any.
pub(super) fn select(kube: &Kube, claims: &[Arc<Value>], node: &str) -> bool {
    let mut waits = false;
    for claim in claims.iter().filter(|claim| !is_bound(claim)) {
        waits = true;
        if claim["metadata"]["annotations"][SELECTED] == node {
            continue;
        }
        let patch = Patch::Merge(json!({ "metadata": { "annotations": { SELECTED: node } } }));
        let place = kube.place(&CLAIMS, namespace(claim), name(claim));
        attempt(place.and_then(|place| kube.patch(&place, &patch, &Write::by("kube-scheduler"))));
    }
    waits
}

/// Says whether a claim has its volume.
pub(crate) fn is_bound(claim: &Value) -> bool {
    claim["status"]["phase"] == "Bound"
}

fn waits_for_a_pod(kube: &Kube, claim: &Value) -> bool {
    let class = claim["spec"]["storageClassName"].as_str().unwrap_or_default();
    let classes = kube.all(&CLASSES, "");
    let mut classes = classes.iter().filter(|one| name(one) == class);
    classes.any(|one| one["volumeBindingMode"] == "WaitForFirstConsumer")
}
