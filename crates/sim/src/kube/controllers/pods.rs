//! Pods that belong to somebody: making them, counting them, ending them.

use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{About, PODS, attempt, record};
use crate::kube::Kube;
use crate::kube::api::{DeleteOptions, Write};
use crate::kube::object::{
    controller, has_condition, is_terminating, map_at, metadata, name, namespace, uid,
};
use crate::kube::resource::Key;

/// Who the controllers are, in `managedFields`.
pub(super) const CONTROLLER: &str = "kube-controller-manager";

/// Returns the objects of a kind that an object controls.
pub(super) fn owned(kube: &Kube, key: &Key, owner: &Value) -> Vec<Arc<Value>> {
    let mut all = kube.all(key, namespace(owner));
    all.retain(|one| controller(one).is_some_and(|by| by["uid"] == uid(owner)));
    all
}

/// Returns a reference to an owner that controls.
pub(super) fn reference(owner: &Value) -> Value {
    json!({ "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": name(owner),
        "uid": uid(owner), "controller": true, "blockOwnerDeletion": true })
}

/// Makes a pod from an owner's template; `change` sees it before it is made.
pub(super) fn make(kube: &Kube, owner: &Value, source: &str, change: impl FnOnce(&mut Value)) {
    let template = &owner["spec"]["template"];
    let mut pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": template["metadata"],
        "spec": template["spec"] });
    if !pod["metadata"].is_object() {
        pod["metadata"] = json!({});
    }
    let fields = metadata(&mut pod);
    fields.remove("creationTimestamp");
    fields.insert("generateName".to_owned(), format!("{}-", name(owner)).into());
    fields.insert("ownerReferences".to_owned(), json!([reference(owner)]));
    change(&mut pod);
    let Ok(place) = kube.place(&PODS, namespace(owner), "") else { return };
    let (kind, reason, message) = match kube.create(&place, pod, &Write::by(CONTROLLER)) {
        Ok(pod) => ("Normal", "SuccessfulCreate", format!("Created pod: {}", name(&pod))),
        Err(refusal) => ("Warning", "FailedCreate", format!("Error creating: {refusal}")),
    };
    if kind == "Normal" {
        record(kube, &About { object: owner, kind, reason, message: &message, source });
    }
}

/// Ends a pod that an owner does not need any more.
pub(super) fn end(kube: &Kube, owner: &Value, pod: &Value, source: &str) {
    delete(kube, &PODS, pod);
    let message = format!("Deleted pod: {}", name(pod));
    let about = About {
        object: owner,
        kind: "Normal",
        reason: "SuccessfulDelete",
        message: &message,
        source,
    };
    record(kube, &about);
}

/// Ends an object.
pub(super) fn delete(kube: &Kube, key: &Key, object: &Value) {
    let Ok(place) = kube.place(key, namespace(object), name(object)) else { return };
    attempt(kube.delete(&place, &DeleteOptions::default(), &Write::by(CONTROLLER)));
}

/// Says whether a pod is of use: neither over nor ending.
pub(super) fn is_active(pod: &Value) -> bool {
    let phase = &pod["status"]["phase"];
    !is_terminating(pod) && *phase != "Succeeded" && *phase != "Failed"
}

/// Says whether a pod is ready.
pub(super) fn is_ready(pod: &Value) -> bool {
    has_condition(pod, "Ready", "True")
}

/// Replaces an object's status where it differs.
pub(super) fn report(kube: &Kube, key: &Key, object: &Value, status: Value) {
    if object["status"] != status {
        let mut changed = object.clone();
        changed["status"] = status;
        set_status(kube, key, &changed);
    }
}

/// Writes the status of an object.
pub(super) fn set_status(kube: &Kube, key: &Key, changed: &Value) {
    let Ok(mut place) = kube.place(key, namespace(changed), name(changed)) else { return };
    "status".clone_into(&mut place.subresource);
    attempt(kube.update(&place, changed.clone(), &Write::by(CONTROLLER)));
}

/// Returns a short digest of a template, for names and labels.
pub(super) fn digest(template: &Value) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let digest = Sha256::digest(template.to_string().as_bytes());
    let letters =
        digest.iter().take(10).map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]));
    letters.collect()
}

/// Writes a label into the metadata of an object or of a template.
pub(super) fn label(object: &mut Value, key: &str, value: &str) {
    let labels = metadata(object).entry("labels").or_insert_with(|| json!({}));
    labels[key] = json!(value);
}

/// Writes an annotation into the metadata of an object.
pub(super) fn annotate(object: &mut Value, key: &str, value: &str) {
    let annotations = map_at(object, "metadata").entry("annotations").or_insert_with(|| json!({}));
    annotations[key] = json!(value);
}
