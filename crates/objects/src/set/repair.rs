//! Putting the list of who owns which field in order before an apply.
//!
//! Two things in `metadata.managedFields` would make a server-side apply fail
//! or forget fields. An object that was applied by a client that computed the
//! difference itself (`kubectl apply` without `--server-side`) has its fields
//! under an *update*: they would never be removed, because nobody applies them
//! any more. Those become ours, as `kubectl apply --server-side` makes them
//! its own. And an entry in a version that the API has stopped to serve cannot
//! be converted, so that every apply fails: it is written in our version.

use serde_json::{Map, Value, json};

use super::adopt::is_entry;
use crate::{FIELD_MANAGER, Object};

/// Where such a client keeps what it has applied.
const LAST_APPLIED: &str = "f:kubectl.kubernetes.io/last-applied-configuration";

/// A better list of who owns which field, for one state of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Repair {
    managed_fields: Vec<Value>,
    /// The managers whose fields become ours.
    taken: Vec<String>,
    uid: String,
    resource_version: String,
}

impl Repair {
    /// Finds what is to be put in order; `is_served` tells whether the API
    /// serves the object's kind in an `apiVersion`.
    pub(super) fn of(
        live: &Object,
        api_version: &str,
        is_served: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        let before = live.items("/metadata/managedFields");
        let served = in_served_versions(before.to_vec(), api_version, is_served);
        let mut taken = Vec::new();
        let managed_fields = from_client_side(served, &mut taken);
        let version = live.version()?;
        (managed_fields != before).then_some(Self {
            managed_fields,
            taken,
            uid: version.uid,
            resource_version: version.resource_version,
        })
    }

    /// Returns the managers whose fields become ours.
    pub(super) fn taken(&self) -> &[String] {
        &self.taken
    }

    /// Returns whether the fields of an entry become ours.
    pub(super) fn takes(&self, entry: &Value) -> bool {
        self.taken.iter().any(|manager| is_entry(entry, manager, "Update"))
    }

    /// Returns the better list.
    pub(super) fn managed_fields(&self) -> &[Value] {
        &self.managed_fields
    }

    /// Returns the life that is meant.
    pub(super) fn uid(&self) -> &str {
        &self.uid
    }

    /// Returns the JSON patch. It replaces the resource version by the same
    /// one, which fails where the object has changed since.
    pub(super) fn patch(&self) -> Value {
        json!([
            { "op": "test", "path": "/metadata/uid", "value": self.uid },
            { "op": "replace", "path": "/metadata/managedFields", "value": self.managed_fields },
            { "op": "replace", "path": "/metadata/resourceVersion",
                "value": self.resource_version },
        ])
    }
}

fn in_served_versions(
    entries: Vec<Value>,
    api_version: &str,
    is_served: impl Fn(&str) -> bool,
) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::with_capacity(entries.len());
    for mut entry in entries {
        let served = entry["apiVersion"].as_str().is_none_or(&is_served);
        if !served {
            entry["apiVersion"] = api_version.into();
        }
        match kept.iter_mut().find(|other| !served && is_same_entry(other, &entry)) {
            Some(same) => unite(&mut same["fieldsV1"], entry["fieldsV1"].take()),
            None => kept.push(entry),
        }
    }
    kept
}

fn is_same_entry(one: &Value, other: &Value) -> bool {
    ["manager", "operation", "apiVersion", "subresource"].iter().all(|key| one[key] == other[key])
}

fn from_client_side(mut entries: Vec<Value>, taken: &mut Vec<String>) -> Vec<Value> {
    let Some(first) = entries.iter().position(is_client_side) else { return entries };
    let manager = entries[first]["manager"].as_str().unwrap_or_default().to_owned();
    let ours = entries.iter().position(|entry| is_entry(entry, FIELD_MANAGER, "Apply"));
    let ours = ours.unwrap_or(first);
    let api_version = entries[ours]["apiVersion"].clone();
    for at in 0..entries.len() {
        // Entries of other versions may hold paths that this one does not have.
        if at != ours
            && is_entry(&entries[at], &manager, "Update")
            && entries[at]["apiVersion"] == api_version
        {
            let fields = entries[at]["fieldsV1"].take();
            unite(&mut entries[ours]["fieldsV1"], fields);
        }
    }
    entries[ours]["manager"] = FIELD_MANAGER.into();
    entries[ours]["operation"] = "Apply".into();
    entries.retain(|entry| !is_entry(entry, &manager, "Update"));
    taken.push(manager);
    // Several clients may have applied the object one after the other.
    from_client_side(entries, taken)
}

fn is_client_side(entry: &Value) -> bool {
    let annotations = &entry["fieldsV1"]["f:metadata"]["f:annotations"];
    let whole = entry["subresource"].as_str().unwrap_or_default().is_empty();
    whole && entry["operation"] == "Update" && annotations.get(LAST_APPLIED).is_some()
}

/// A set of fields is a tree of maps, and their union the union of the trees.
fn unite(into: &mut Value, from: Value) {
    let Value::Object(from) = from else { return };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    if let Value::Object(into) = into {
        for (key, value) in from {
            unite(into.entry(key).or_insert_with(|| Value::Object(Map::new())), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value on the spot")]
    fn live(entries: Value) -> Object {
        Object::new(json!({ "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "a", "uid": "u", "resourceVersion": "7",
                "managedFields": entries } }))
        .unwrap()
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value on the spot")]
    fn entry(manager: &str, operation: &str, version: &str, fields: Value) -> Value {
        json!({ "manager": manager, "operation": operation, "apiVersion": version,
            "fieldsType": "FieldsV1", "fieldsV1": fields })
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value on the spot")]
    fn client_side(data: Value) -> Value {
        json!({ "f:metadata": { "f:annotations": { LAST_APPLIED: {} } }, "f:data": data })
    }

    #[test]
    fn fields_of_a_client_side_apply_become_ours() {
        let theirs = entry(
            "kubectl-client-side-apply",
            "Update",
            "v1",
            client_side(json!({ ".": {}, "f:a": {} })),
        );
        let other = entry("controller", "Update", "v1", json!({ "f:data": { "f:c": {} } }));
        let repair = Repair::of(&live(json!([theirs, other])), "v1", |_| true).unwrap();
        let moved = entry("seaworthy", "Apply", "v1", client_side(json!({ ".": {}, "f:a": {} })));
        assert_eq!(repair.managed_fields, [moved, other.clone()]);
        assert_eq!(Repair::of(&live(json!([other])), "v1", |_| true), None);
    }

    #[test]
    fn they_are_added_to_what_is_ours_already() {
        let ours = entry("seaworthy", "Apply", "v1", json!({ "f:data": { "f:b": {} } }));
        let theirs = entry("kubectl", "Update", "v1", client_side(json!({ "f:a": {} })));
        let old = entry("kubectl", "Update", "v1beta1", json!({ "f:x": {} }));
        let repair = Repair::of(&live(json!([theirs, ours, old])), "v1", |_| true).unwrap();
        let all = client_side(json!({ "f:a": {}, "f:b": {} }));
        assert_eq!(repair.managed_fields, [entry("seaworthy", "Apply", "v1", all)]);
    }

    #[test]
    fn a_version_that_is_gone_is_written_in_ours() {
        let old = entry("seaworthy", "Apply", "x.example/v1beta1", json!({ "f:a": {} }));
        let new = entry("seaworthy", "Apply", "x.example/v1", json!({ "f:b": {} }));
        let is_served = |version: &str| version == "x.example/v1";
        let repair = Repair::of(&live(json!([new, old])), "x.example/v1", is_served).unwrap();
        let both = entry("seaworthy", "Apply", "x.example/v1", json!({ "f:a": {}, "f:b": {} }));
        assert_eq!(repair.managed_fields, [both]);
        assert_eq!(repair.patch()[2]["value"], "7");
    }
}
