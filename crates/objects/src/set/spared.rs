//! Members that are no longer wished for, and stay all the same.

use super::adopt::CLAIMS;
use super::prune::Pruner;
use super::stranger::Seen;
use crate::{ApiError, Object, Order, Scope};

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

impl Pruner<'_> {
    /// Says why a namespace stays, where it does.
    pub(super) async fn spared_namespace(
        &self,
        member: &Object,
        order: &Order,
    ) -> Result<Option<Spared>, ApiError> {
        let kept = |because: String| Ok(Some(Spared::Kept(because)));
        let name = &member.id().name;
        if OF_THE_CLUSTER.contains(&name.as_str()) {
            return kept("it belongs to the cluster".to_owned());
        }
        let mut wished = order.objects().iter().map(Object::id);
        if let Some(inside) = wished.find(|id| id.namespace.as_ref() == Some(name)) {
            return kept(format!("{inside} is still wished for"));
        }
        if self.inventory.namespace() == name {
            return kept(format!("{} is in it", self.inventory.parent()));
        }
        let catalogue = self.pace.repeat(|| self.cluster.catalogue()).await?;
        if !catalogue.stale.is_empty() {
            let silent = catalogue.stale.join(", ");
            let because = "which may have something in it";
            return kept(format!("the API did not hear from {silent}, {because}"));
        }
        let mut strangers = self.strangers(member, order);
        for resource in catalogue.listed_in_namespaces() {
            let scope = Scope::all(resource.kind).within(name);
            match strangers.among(&scope, is_furniture).await? {
                Seen::Stays(object, because) => {
                    return kept(format!("{} in it {because}", object.id()));
                }
                // A definition that was pruned a moment ago took its objects along.
                Seen::Nothing | Seen::KindGone => {}
            }
        }
        Ok(None)
    }
}

fn is_furniture(object: &Object) -> bool {
    FURNITURE.iter().any(|(group, kind, name)| {
        object.kind().is(group, kind) && name.is_none_or(|name| object.id().name == name)
    })
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
    fn furniture_is_what_every_namespace_has() {
        for (kind, name, furniture) in [
            ("ConfigMap", "kube-root-ca.crt", true),
            ("ServiceAccount", "default", true),
            ("Event", "e", true),
            ("ConfigMap", "a", false),
            ("ServiceAccount", "runner", false),
        ] {
            assert_eq!(is_furniture(&live(kind, name, json!({}))), furniture, "{kind}/{name}");
        }
    }
}
