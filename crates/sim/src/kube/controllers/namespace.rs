//! Namespaces: each gets an account and the authority's certificate, and one
//! that ends takes everything in it along.

use serde_json::{Value, json};

use super::attempt;
use super::pods::{CONTROLLER, annotate, delete};
use crate::kube::Kube;
use crate::kube::api::{NAMESPACES, Write, set_condition};
use crate::kube::object::{is_terminating, items, name};
use crate::kube::resource::Key;

const MAPS: Key = Key::core("configmaps");
const TRUST: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";
const ACCOUNTS: Key = Key::core("serviceaccounts");
const PODS: Key = super::PODS;

/// Brings all namespaces in line.
pub(super) fn pass(kube: &Kube) {
    for namespace in kube.all(&NAMESPACES, "") {
        if is_terminating(&namespace) {
            empty(kube, &namespace);
        } else {
            equip(kube, name(&namespace));
        }
    }
}

/// Gives a namespace its default account, and the authority's certificate.
fn equip(kube: &Kube, namespace: &str) {
    let metadata = |name: &str| json!({ "name": name, "namespace": namespace });
    let account =
        json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("default") });
    put(kube, &ACCOUNTS, namespace, account);
    let authority = kube.state().authority.clone();
    if let Some(authority) = authority {
        let mut map = json!({ "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": metadata("kube-root-ca.crt"), "data": { "ca.crt": authority } });
        annotate(&mut map, "kubernetes.io/description", TRUST);
        put(kube, &MAPS, namespace, map);
    }
}

fn put(kube: &Kube, key: &Key, namespace: &str, object: Value) {
    let Ok(place) = kube.place(key, namespace, name(&object)) else { return };
    if kube.get(&place).is_err() {
        attempt(kube.create(&place.named(""), object, &Write::by(CONTROLLER)));
    }
}

/// Ends what is in a namespace, and the namespace once nothing is left.
fn empty(kube: &Kube, namespace: &Value) {
    let mut left = 0;
    let mut held = false;
    let keys: Vec<Key> = kube.state().store.keys().cloned().collect();
    for key in keys {
        let inside = kube.all(&key, name(namespace));
        for one in inside.iter().filter(|one| !is_terminating(one)) {
            delete(kube, &key, one);
        }
        let rest = kube.all(&key, name(namespace));
        held |=
            key != PODS && rest.iter().any(|one| !items(&one["metadata"]["finalizers"]).is_empty());
        left += rest.len();
    }
    if left == 0 {
        return release(kube, namespace);
    }
    tell(kube, namespace, left, held);
}

/// Says what still holds a namespace back.
fn tell(kube: &Kube, namespace: &Value, left: usize, held: bool) {
    let mut changed = namespace.clone();
    let now = kube.clock().stamp();
    let remaining = format!("Some resources are remaining: {left} objects are left");
    let rows = [
        ("NamespaceContentRemaining", "True", "SomeResourcesRemain", remaining.as_str()),
        if held {
            (
                "NamespaceFinalizersRemaining",
                "True",
                "SomeFinalizersRemain",
                "Some content in the namespace has finalizers remaining",
            )
        } else {
            (
                "NamespaceFinalizersRemaining",
                "False",
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
            )
        },
    ];
    for (kind, status, reason, message) in rows {
        set_condition(
            &mut changed,
            json!({ "type": kind, "status": status, "reason": reason,
            "message": message, "lastTransitionTime": now }),
        );
    }
    super::pods::report(kube, &NAMESPACES, namespace, changed["status"].take());
}

/// Takes the finalizer away that holds a namespace.
fn release(kube: &Kube, namespace: &Value) {
    let mut changed = namespace.clone();
    changed["spec"]["finalizers"] = json!([]);
    let Ok(mut place) = kube.place(&NAMESPACES, "", name(namespace)) else { return };
    "finalize".clone_into(&mut place.subresource);
    attempt(kube.update(&place, changed, &Write::by(CONTROLLER)));
}
