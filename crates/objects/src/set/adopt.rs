//! What may be done with objects that are there and not ours.

use serde_json::Value;

use super::StepError;
use crate::{FIELD_MANAGER, Object};

/// Which objects that somebody else has made may become ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adopt {
    /// None.
    Never,
    /// Those that no tool and no other set claims.
    Unmanaged,
    /// All.
    Always,
}

/// The label by which a set knows its members.
pub(super) const PART_OF: &str = "applyset.kubernetes.io/part-of";

/// Where other tools say that an object is theirs.
pub(super) const CLAIMS: &[(&str, &str, &str)] = &[
    ("annotations", "config.k8s.io/owning-inventory", "the inventory"),
    ("annotations", "meta.helm.sh/release-name", "the Helm release"),
    ("labels", "helm.toolkit.fluxcd.io/name", "the Flux HelmRelease"),
    ("labels", "kustomize.toolkit.fluxcd.io/name", "the Flux Kustomization"),
    ("annotations", "argocd.argoproj.io/tracking-id", "the Argo CD application"),
    ("labels", "kapp.k14s.io/app", "the kapp app"),
];

impl Adopt {
    /// Says whether a live object may be changed. `inventory` is the id of our set.
    pub(super) fn allows(self, live: &Object, inventory: Option<&str>) -> Result<(), StepError> {
        match (standing(live, inventory), self) {
            (Standing::Ours, _)
            | (Standing::Nobodys, Self::Unmanaged)
            | (Standing::Nobodys | Standing::Anothers(_), Self::Always) => Ok(()),
            (Standing::Nobodys, Self::Never) => Err(StepError::NotOurs { owner: None }),
            (Standing::Anothers(owner), _) => Err(StepError::NotOurs { owner: Some(owner) }),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    Ours,
    Nobodys,
    Anothers(String),
}

fn standing(live: &Object, inventory: Option<&str>) -> Standing {
    match part_of(live) {
        Some(set) if Some(set) == inventory => return Standing::Ours,
        Some(set) => return Standing::Anothers(format!("the set {set}")),
        None => {}
    }
    if is_applied_by_us(live) {
        return Standing::Ours;
    }
    let claim = CLAIMS.iter().find_map(|(place, key, what)| {
        Some(format!("{what} {}", live.at("/metadata")?.get(place)?.get(key)?.as_str()?))
    });
    claim.map_or(Standing::Nobodys, Standing::Anothers)
}

/// Returns the id of the set that an object is a member of.
pub(super) fn part_of(live: &Object) -> Option<&str> {
    live.at("/metadata/labels")?.get(PART_OF)?.as_str()
}

fn is_applied_by_us(live: &Object) -> bool {
    let entries = live.items("/metadata/managedFields");
    entries.iter().any(|entry| is_entry(entry, FIELD_MANAGER, "Apply"))
}

/// Returns whether an entry is this manager's, for the object as a whole.
pub(super) fn is_entry(entry: &Value, manager: &str, operation: &str) -> bool {
    let subresource = entry["subresource"].as_str().unwrap_or_default();
    entry["manager"] == manager && entry["operation"] == operation && subresource.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value on the spot")]
    fn live(metadata: Value) -> Object {
        let mut body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata });
        body["metadata"]["name"] = "a".into();
        Object::new(body).unwrap()
    }

    #[test]
    fn an_object_is_ours_nobodys_or_anothers() {
        let by = |manager: &str, operation: &str| {
            live(json!({ "managedFields": [{ "manager": manager, "operation": operation }] }))
        };
        let member = live(json!({ "labels": { PART_OF: "applyset-x-v1" } }));
        let helm = live(json!({ "annotations": { "meta.helm.sh/release-name": "shop" } }));
        let anothers = |owner: &str| Standing::Anothers(owner.to_owned());
        let cases = [
            (by("seaworthy", "Apply"), None, Standing::Ours),
            (by("seaworthy", "Update"), None, Standing::Nobodys),
            (by("kubectl-create", "Update"), None, Standing::Nobodys),
            (member.clone(), Some("applyset-x-v1"), Standing::Ours),
            (member.clone(), Some("applyset-y-v1"), anothers("the set applyset-x-v1")),
            (member, None, anothers("the set applyset-x-v1")),
            (helm, None, anothers("the Helm release shop")),
        ];
        for (live, inventory, expected) in cases {
            assert_eq!(standing(&live, inventory), expected, "{live:?}");
        }
    }

    #[test]
    fn adoption_is_as_wide_as_was_asked_for() {
        let nobodys = live(json!({}));
        let anothers = live(json!({ "labels": { "kapp.k14s.io/app": "17" } }));
        let allowed =
            |adopt: Adopt| [&nobodys, &anothers].map(|live| adopt.allows(live, None).is_ok());
        assert_eq!(allowed(Adopt::Never), [false, false]);
        assert_eq!(allowed(Adopt::Unmanaged), [true, false]);
        assert_eq!(allowed(Adopt::Always), [true, true]);
        let told = Adopt::Never.allows(&anothers, None).unwrap_err().to_string();
        assert!(told.starts_with("it belongs to the kapp app 17"), "{told}");
    }
}
