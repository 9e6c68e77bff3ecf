//! The garbage collector: objects whose owners are gone go too.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::attempt;
use super::pods::{CONTROLLER, delete};
use crate::kube::Kube;
use crate::kube::api::{Patch, Write};
use crate::kube::object::{finalizers, is_terminating, items, name, namespace, uid};
use crate::kube::resource::Key;

/// Collects what has no owner left, and lets owners go that wait for it.
pub(super) fn pass(kube: &Kube) {
    let all = everything(kube);
    let by_uid: HashMap<&str, &Arc<Value>> = all.iter().map(|(_, one)| (uid(one), one)).collect();
    for (key, one) in &all {
        let owners = items(&one["metadata"]["ownerReferences"]);
        let owner = |reference: &Value| by_uid.get(reference["uid"].as_str().unwrap_or_default());
        let gone = !owners.is_empty() && owners.iter().all(|reference| owner(reference).is_none());
        let awaited =
            owners.iter().filter_map(owner).any(|owner| waits(owner, "foregroundDeletion"));
        if (gone || awaited) && !is_terminating(one) {
            delete(kube, key, one);
        }
    }
    for (key, one) in all.iter().filter(|(_, one)| is_terminating(one)) {
        let owned = |other: &&(Key, Arc<Value>)| owner_at(&other.1, one).is_some();
        let dependents: Vec<&(Key, Arc<Value>)> = all.iter().filter(owned).collect();
        if waits(one, "orphan") {
            for (key, other) in dependents {
                disown(kube, key, other, one);
            }
            release(kube, key, one, "orphan");
        } else if waits(one, "foregroundDeletion") && dependents.is_empty() {
            release(kube, key, one, "foregroundDeletion");
        }
    }
}

fn everything(kube: &Kube) -> Vec<(Key, Arc<Value>)> {
    let state = kube.state();
    let keys: Vec<Key> = state.store.keys().cloned().collect();
    let of = |key: &Key| {
        state.store.all(key).map(|one| (key.clone(), Arc::clone(one))).collect::<Vec<_>>()
    };
    keys.iter().flat_map(of).collect()
}

fn waits(object: &Value, finalizer: &str) -> bool {
    is_terminating(object) && finalizers(object).iter().any(|one| one == finalizer)
}

fn owner_at(object: &Value, owner: &Value) -> Option<usize> {
    items(&object["metadata"]["ownerReferences"]).iter().position(|one| one["uid"] == uid(owner))
}

fn disown(kube: &Kube, key: &Key, object: &Value, owner: &Value) {
    let mut owners = items(&object["metadata"]["ownerReferences"]).to_vec();
    owners.retain(|one| one["uid"] != uid(owner));
    change(kube, key, object, &json!({ "metadata": { "ownerReferences": owners } }));
}

fn release(kube: &Kube, key: &Key, object: &Value, finalizer: &str) {
    let mut left = finalizers(object);
    left.retain(|one| one != finalizer);
    change(kube, key, object, &json!({ "metadata": { "finalizers": left } }));
}

fn change(kube: &Kube, key: &Key, object: &Value, patch: &Value) {
    let Ok(place) = kube.place(key, namespace(object), name(object)) else { return };
    attempt(kube.patch(&place, &Patch::Merge(patch.clone()), &Write::by(CONTROLLER)));
}
