//! Who owns which fields of an object.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FieldPath, FieldSet, NotFields};
use crate::Object;

/// All owners of an object's fields: its `managedFields`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    shares: Vec<Share>,
}

/// What one owner owns, in the terms of one version of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Who.
    pub owner: Owner,
    /// The version whose fields these are, such as `apps/v1`.
    pub api_version: String,
    /// When it last changed, to the second. Nothing can be ordered by it.
    pub time: Option<Timestamp>,
    /// What.
    pub fields: FieldSet,
}

/// Somebody who owns fields. The same program is several owners if it applies
/// and updates, or writes the status too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Owner {
    /// The name that it gives itself, such as `kubectl`.
    pub manager: String,
    /// How it came to own them.
    pub operation: Operation,
    /// Through which subresource, such as `status` or `scale`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subresource: Option<String>,
}

/// How somebody came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

/// Why the owners of an object cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OwnersError {
    /// An entry of `managedFields` has another form.
    #[error("managedFields cannot be read: {0}")]
    Entry(String),
    /// The fields of an entry have another form.
    #[error("the fields of {manager} cannot be read")]
    Fields {
        /// Whose entry it is.
        manager: String,
        /// What is wrong.
        source: NotFields,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    manager: String,
    operation: Operation,
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    subresource: String,
    time: Option<Timestamp>,
    #[serde(default)]
    fields_v1: Option<Value>,
}

// === impl Owners ===

impl Owners {
    /// Reads them off an object. One without `managedFields` has none: they
    /// can be cleared, and backups drop them.
    pub fn of(object: &Object) -> Result<Self, OwnersError> {
        let entries = object.items("/metadata/managedFields").iter();
        let shares: Result<Vec<Share>, OwnersError> = entries.map(share).collect();
        Ok(Self { shares: shares? })
    }

    /// Returns what each owns, in the object's order.
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// Returns what a manager owns by applying the object itself. There are
    /// several shares where it has applied several versions.
    pub fn applied_by(&self, manager: &str) -> impl Iterator<Item = &Share> {
        self.shares.iter().filter(move |share| share.owner.applies_as(manager))
    }

    /// Returns all fields that a manager owns by applying the object itself.
    pub fn fields_applied_by(&self, manager: &str) -> FieldSet {
        self.applied_by(manager).fold(FieldSet::default(), |all, share| all.union(&share.fields))
    }

    /// Returns who owns a field, alone or with others.
    pub fn of_field(&self, path: &FieldPath) -> impl Iterator<Item = &Share> {
        self.shares.iter().filter(move |share| share.fields.covers(path))
    }
}

fn share(entry: &Value) -> Result<Share, OwnersError> {
    let entry = Entry::deserialize(entry).map_err(|error| OwnersError::Entry(error.to_string()))?;
    let Entry { manager, operation, api_version, subresource, time, fields_v1 } = entry;
    let fields = fields_v1.as_ref().map_or(Ok(FieldSet::default()), FieldSet::from_fields_v1);
    let fields = match fields {
        Ok(fields) => fields,
        Err(source) => return Err(OwnersError::Fields { manager, source }),
    };
    let subresource = Some(subresource).filter(|name| !name.is_empty());
    Ok(Share { owner: Owner { manager, operation, subresource }, api_version, time, fields })
}

// === impl Owner ===

impl Owner {
    /// Returns whether it is this manager, applying the object itself.
    pub fn applies_as(&self, manager: &str) -> bool {
        self.manager == manager && self.operation == Operation::Apply && self.subresource.is_none()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.manager)?;
        match &self.subresource {
            Some(subresource) => write!(f, " through {subresource}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(managed: &Value) -> Object {
        Object::new(json!({ "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": { "name": "web", "managedFields": managed } }))
        .unwrap()
    }

    #[test]
    fn owners_are_told_apart_and_found_by_field() {
        let entry = |manager: &str, operation: &str, subresource: &str, fields: Value| {
            json!({ "manager": manager, "operation": operation, "apiVersion": "apps/v1",
                "subresource": subresource, "time": "2026-11-16T01:02:03Z",
                "fieldsType": "FieldsV1", "fieldsV1": fields })
        };
        let replicas = json!({ "f:spec": { "f:replicas": {} } });
        let owners = Owners::of(&object(&json!([
            entry("seaworthy", "Apply", "", json!({ "f:spec": { "f:selector": {} } })),
            entry("seaworthy", "Update", "", replicas.clone()),
            entry("kube-controller-manager", "Update", "scale", replicas),
        ])))
        .unwrap();
        let who = |path: &str| -> Vec<String> {
            owners.of_field(&path.parse().unwrap()).map(|share| share.owner.to_string()).collect()
        };
        assert_eq!(who("spec.replicas"), ["seaworthy", "kube-controller-manager through scale"]);
        assert_eq!(who("spec.selector.matchLabels.app"), ["seaworthy"]);
        assert_eq!(who("spec.paused"), [""; 0]);
        let ours: Vec<&Share> = owners.applied_by("seaworthy").collect();
        assert_eq!(ours.len(), 1);
        assert_eq!(ours[0].time, Some("2026-11-16T01:02:03Z".parse().unwrap()));
        assert_eq!(owners.fields_applied_by("seaworthy").len(), 1);
    }

    #[test]
    fn what_cannot_be_read_says_whose_it_is() {
        assert_eq!(Owners::of(&object(&json!([]))).unwrap(), Owners::default());
        let odd = json!([{ "manager": "m", "operation": "Apply", "fieldsV1": { "q": {} } }]);
        let error = Owners::of(&object(&odd)).unwrap_err();
        assert_eq!(error.to_string(), "the fields of m cannot be read");
        let error = Owners::of(&object(&json!([{ "operation": "Guess" }]))).unwrap_err();
        assert!(error.to_string().starts_with("managedFields cannot be read"), "{error}");
    }
}
