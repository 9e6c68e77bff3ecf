//! Members that are no longer wished for, and stay all the same.

use std::collections::HashSet;

use super::Mode;
use super::adopt::{CLAIMS, part_of};
use super::inventory::Inventory;
use crate::{ApiError, Cluster, Object, Order, Resource, Scope};

/// Annotations that say that an object outlives its set.
const KEEPS: &[(&str, &str)] = &[
    ("client.lifecycle.config.k8s.io/deletion", "detach"),
    ("cli-utils.sigs.k8s.io/on-remove", "keep"),
];

/// Namespaces that belong to the cluster itself.
const OF_THE_CLUSTER: &[&str] = &["default", "kube-system", "kube-public", "kube-node-lease"];

/// What every namespace has, or what lives and dies with something else.
const FURNITURE: &[(&str, &str, Option<&str>)] = &[
    ("", "ConfigMap", Some("kube-root-ca.crt")),
    ("", "ServiceAccount", Some("default")),
    ("", "Endpoints", None),
    ("", "Event", None),
    ("events.k8s.io", "Event", None),
    ("metrics.k8s.io", "PodMetrics", None),
];

/// Why a member stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spared {
    /// It says so, and leaves the set.
    Detached(String),
    /// Deleting it would destroy what is not ours; it stays a member.
    Kept(String),
    /// It lives and dies with another object.
    NotOurs,
    /// It is on its way out already, and has to be seen gone.
    Leaving,
}

/// Says why a member stays, by what it says of itself.
pub(super) fn by_itself(live: &Object) -> Option<Spared> {
    let owners = live.items("/metadata/ownerReferences");
    let controlled = owners.iter().any(|owner| owner["controller"] == true);
    if live.at("/metadata/deletionTimestamp").is_some() && !controlled {
        return Some(Spared::Leaving);
    }
    let keeps = KEEPS.iter().find(|(key, value)| live.mark("annotations", key) == Some(value));
    if let Some((key, value)) = keeps {
        return Some(Spared::Detached(format!("it has the annotation {key}: {value}")));
    }
    if controlled {
        return Some(Spared::NotOurs);
    }
    let claim = CLAIMS.iter().find_map(|(place, key, what)| {
        Some(format!("it belongs to {what} {} as well", live.mark(place, key)?))
    });
    claim.map(Spared::Kept)
}

/// Says why a namespace stays, where it does.
pub(super) async fn namespace(
    cluster: &Cluster,
    inventory: &Inventory,
    order: &Order,
    name: &str,
    mode: Mode,
) -> Result<Option<Spared>, ApiError> {
    let kept = |because: String| Ok(Some(Spared::Kept(because)));
    if OF_THE_CLUSTER.contains(&name) {
        return kept("it belongs to the cluster".to_owned());
    }
    let mut wished = order.objects().iter().map(Object::id);
    if let Some(inside) = wished.find(|id| id.namespace.as_deref() == Some(name)) {
        return kept(format!("{inside} is still wished for"));
    }
    if inventory.namespace() == name {
        return kept(format!("{} is in it", inventory.parent()));
    }
    let mut seen = HashSet::new();
    for resource in cluster.all_resources().await? {
        let lists = resource.namespaced && resource.verbs.iter().any(|verb| verb == "list");
        let first = seen.insert((resource.kind.group.clone(), resource.plural.clone()));
        if lists
            && first
            && let Some(because) = stranger(cluster, inventory, &resource, name, mode).await?
        {
            return kept(because);
        }
    }
    Ok(None)
}

/// Says which object in a namespace stays, and is no furniture.
async fn stranger(
    cluster: &Cluster,
    inventory: &Inventory,
    resource: &Resource,
    namespace: &str,
    mode: Mode,
) -> Result<Option<String>, ApiError> {
    let mut found = None;
    let scope = Scope::all(resource.kind.clone()).within(namespace);
    let show = |object: Object| {
        if found.is_none()
            && let Some(because) = stays(&object, inventory.id(), mode)
        {
            found = Some(format!("{} in it {because}", object.id()));
        }
    };
    match cluster.list_each(&scope, show).await {
        Ok(_) => Ok(found),
        // A definition that was pruned a moment ago took its objects along.
        Err(error) => cluster.unless_gone(&resource.kind, error).await.map(|()| None),
    }
}

/// Members had their turn before their namespace, unless nothing has one.
fn stays(object: &Object, set: &str, mode: Mode) -> Option<&'static str> {
    let furniture = FURNITURE.iter().any(|(group, kind, name)| {
        object.kind().is(group, kind) && name.is_none_or(|name| object.id().name == name)
    });
    let owned = !object.items("/metadata/ownerReferences").is_empty();
    let leaves = object.at("/metadata/deletionTimestamp").is_some();
    if furniture || owned || leaves {
        return None;
    }
    match (part_of(object) == Some(set), mode) {
        (true, Mode::DryRun) => None,
        (true, Mode::ForReal) => Some("is still there"),
        (false, _) => Some("is not of this set"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn live(kind: &str, name: &str, mut metadata: Value) -> Object {
        metadata["name"] = name.into();
        Object::new(json!({ "apiVersion": "v1", "kind": kind, "metadata": metadata })).unwrap()
    }

    #[test]
    fn members_stay_where_they_say_so_or_others_claim_them() {
        let spared = |metadata: Value| by_itself(&live("ConfigMap", "a", metadata));
        let note = |key: &str, value: &str| json!({ "annotations": { key: value } });
        assert_eq!(spared(json!({})), None);
        let detach = spared(note("client.lifecycle.config.k8s.io/deletion", "detach"));
        assert!(matches!(detach, Some(Spared::Detached(_))), "{detach:?}");
        let keep = spared(note("cli-utils.sigs.k8s.io/on-remove", "keep"));
        assert!(matches!(keep, Some(Spared::Detached(_))), "{keep:?}");
        assert_eq!(spared(note("cli-utils.sigs.k8s.io/on-remove", "delete")), None);
        let helm = spared(note("meta.helm.sh/release-name", "shop"));
        let words = "it belongs to the Helm release shop as well".to_owned();
        assert_eq!(helm, Some(Spared::Kept(words)));
        let owned = spared(json!({ "ownerReferences": [{ "controller": true }] }));
        assert_eq!(owned, Some(Spared::NotOurs));
        let leaving = spared(json!({ "deletionTimestamp": "2026-11-16T12:00:00Z" }));
        assert_eq!(leaving, Some(Spared::Leaving));
    }

    #[test]
    fn furniture_and_members_are_no_strangers() {
        let stranger = |object: &Object| stays(object, "applyset-x-v1", Mode::DryRun).is_some();
        assert!(!stranger(&live("ConfigMap", "kube-root-ca.crt", json!({}))));
        assert!(!stranger(&live("ServiceAccount", "default", json!({}))));
        assert!(!stranger(&live("Event", "e", json!({}))));
        assert!(stranger(&live("ConfigMap", "a", json!({}))));
        let label = "applyset.kubernetes.io/part-of";
        let member = live("Secret", "a", json!({ "labels": { label: "applyset-x-v1" } }));
        assert!(!stranger(&member));
        // Its turn came before that of its namespace, and it is there all the same.
        assert_eq!(stays(&member, "applyset-x-v1", Mode::ForReal), Some("is still there"));
        assert!(stranger(&live("Secret", "a", json!({ "labels": { label: "applyset-y-v1" } }))));
    }
}
