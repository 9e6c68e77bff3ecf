//! Server-side apply: what a manager says replaces what it said before.

use serde_json::Value;

use super::field_set::{FieldSet, item_key};
use super::managed::{self, Entry, Manager};
use super::ordered::interleave;
use super::shape::{ListType, Shape};
use crate::kube::object::items;
use crate::kube::refusal::Refusal;

/// Merges an applied configuration into the live object, and writes into the
/// result who owns what.
///
/// # Errors
/// Where others own a field with another value, unless the caller insists.
pub(crate) fn apply(
    live: &Value,
    config: &Value,
    manager: &Manager,
    force: bool,
    now: &str,
    shape: Shape<'_>,
) -> Result<Value, Refusal> {
    let mut entries = managed::entries(&live["metadata"]["managedFields"]);
    let wanted = FieldSet::of(config, shape);
    let mut merged = live.clone();
    merge(&mut merged, config, shape);
    let changed = FieldSet::changed(live, &merged, shape);
    let conflicts = conflicts(&entries, manager, &changed.intersection(&wanted));
    if !conflicts.is_empty() && !force {
        return Err(Refusal::apply_conflict(&conflicts));
    }
    for entry in entries.iter_mut().filter(|entry| entry.manager != *manager) {
        let mut lost = entry.fields.intersection(&changed);
        lost = lost.intersection(&wanted);
        entry.fields.subtract(&lost);
    }
    let said_before = take(&mut entries, manager);
    let mut gone = said_before.as_ref().map(|entry| entry.fields.clone()).unwrap_or_default();
    gone.subtract(&wanted);
    let mut kept = wanted.clone();
    for entry in &entries {
        kept.add(&entry.fields);
    }
    remove(&mut merged, &gone, Some(&kept), shape);
    let same = said_before.as_ref().is_some_and(|entry| entry.fields == wanted);
    let time = said_before.filter(|_| same && changed.is_empty()).map(|entry| entry.time);
    let time = time.unwrap_or_else(|| now.to_owned());
    entries.push(Entry { manager: manager.clone(), time, fields: wanted });
    for entry in &mut entries {
        if entry.manager != *manager {
            entry.fields.keep_existing(&merged, shape);
        }
    }
    managed::write(&mut merged, entries);
    Ok(merged)
}

fn take(entries: &mut Vec<Entry>, manager: &Manager) -> Option<Entry> {
    // An applier may move to another version of the API and stays the same.
    let same = |entry: &Entry| {
        let Manager { name, operation, subresource, .. } = &entry.manager;
        *name == manager.name
            && *operation == manager.operation
            && *subresource == manager.subresource
    };
    let at = entries.iter().position(same)?;
    Some(entries.remove(at))
}

fn conflicts(entries: &[Entry], manager: &Manager, changed: &FieldSet) -> Vec<(String, String)> {
    let others = entries.iter().filter(|entry| {
        entry.manager.name != manager.name || entry.manager.operation != manager.operation
    });
    let mut found = Vec::new();
    for entry in others {
        let who = describe(&entry.manager);
        let fields = entry.fields.intersection(changed).paths();
        found.extend(fields.into_iter().map(|field| (who.clone(), field)));
    }
    found
}

fn describe(manager: &Manager) -> String {
    let subresource = match manager.subresource.as_str() {
        "" => String::new(),
        name => format!(" with subresource \"{name}\""),
    };
    format!("\"{}\"{subresource} using {}", manager.name, manager.api_version)
}

fn merge(live: &mut Value, config: &Value, shape: Shape<'_>) {
    match config {
        Value::Object(config) if live.is_object() && !shape.is_atomic() => {
            let Some(fields) = live.as_object_mut() else { return };
            for (name, value) in config {
                merge(fields.entry(name.clone()).or_insert(Value::Null), value, shape.field(name));
            }
        }
        Value::Array(config) if live.is_array() && shape.list() != ListType::Atomic => {
            *live = Value::Array(merge_list(items(live), config, shape));
        }
        other => *live = other.clone(),
    }
}

fn merge_list(live: &[Value], config: &[Value], shape: Shape<'_>) -> Vec<Value> {
    let mut left: Vec<(usize, Value)> = live.iter().cloned().enumerate().collect();
    let mut wanted = Vec::new();
    for item in config {
        let key = item_key(item, shape);
        match left.iter().position(|(_, old)| item_key(old, shape) == key) {
            Some(at) => {
                let (place, mut old) = left.remove(at);
                merge(&mut old, item, shape.item());
                wanted.push((Some(place), old));
            }
            None => wanted.push((None, item.clone())),
        }
    }
    interleave(wanted, left)
}

/// Removes from the object what is gone and nobody else keeps.
fn remove(value: &mut Value, gone: &FieldSet, kept: Option<&FieldSet>, shape: Shape<'_>) {
    for (key, child) in &gone.children {
        let kept = kept.and_then(|kept| kept.children.get(key));
        if child.own && kept.is_none() {
            delete(value, key, shape);
        } else if let Some(name) = key.strip_prefix("f:") {
            if let Some(inner) = value.get_mut(name) {
                remove(inner, child, kept, shape.field(name));
                if kept.is_none() && is_empty(inner) {
                    delete(value, key, shape);
                }
            }
        } else if let Some(list) = value.as_array_mut() {
            let item = list.iter_mut().find(|item| item_key(item, shape) == *key);
            if let Some(item) = item {
                remove(item, child, kept, shape.item());
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn delete(value: &mut Value, key: &str, shape: Shape<'_>) {
    match (key.strip_prefix("f:"), value) {
        (Some(name), Value::Object(fields)) => drop(fields.remove(name)),
        (None, Value::Array(list)) => list.retain(|item| item_key(item, shape) != key),
        _ => {}
    }
}

#[cfg(test)]
fn owner_of(object: &Value, path: &str) -> Vec<String> {
    let entries = managed::entries(&object["metadata"]["managedFields"]);
    let owners =
        entries.into_iter().filter(|entry| entry.fields.paths().iter().any(|one| one == path));
    owners.map(|entry| entry.manager.name).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::managed::{Operation, record_update};
    use super::*;

    fn manager(name: &str, operation: Operation) -> Manager {
        let api_version = "apps/v1".to_owned();
        Manager { name: name.to_owned(), operation, subresource: String::new(), api_version }
    }

    fn applied(live: &Value, config: &Value, who: &str, force: bool) -> Result<Value, Refusal> {
        let who = manager(who, Operation::Apply);
        apply(live, config, &who, force, "now", Shape::builtin("Deployment"))
    }

    fn config(replicas: u32, ports: &[u32]) -> Value {
        let ports: Vec<Value> = ports.iter().map(|port| json!({ "containerPort": port })).collect();
        json!({ "metadata": { "name": "web", "labels": { "app": "web" } }, "spec": {
            "replicas": replicas,
            "template": { "spec": { "containers": [{ "name": "c", "ports": ports }] } },
        } })
    }

    #[test]
    fn fields_are_written_as_the_real_api_writes_them() {
        let object = applied(&json!({}), &config(2, &[80]), "me", false).unwrap();
        assert_eq!(
            object["metadata"]["managedFields"][0]["fieldsV1"],
            json!({
                "f:metadata": { "f:labels": { "f:app": {} } },
                "f:spec": { "f:replicas": {}, "f:template": { "f:spec": { "f:containers": {
                    "k:{\"name\":\"c\"}": { ".": {}, "f:name": {}, "f:ports": {
                        "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": { ".": {}, "f:containerPort": {} },
                    } },
                } } } },
            })
        );
    }

    #[test]
    fn what_is_no_longer_said_goes_away() {
        let first = applied(&json!({}), &config(2, &[80, 81]), "me", false).unwrap();
        let mut next = config(2, &[81]);
        next["metadata"]["labels"] = json!({});
        let second = applied(&first, &next, "me", false).unwrap();
        let ports = &second["spec"]["template"]["spec"]["containers"][0]["ports"];
        assert_eq!(*ports, json!([{ "containerPort": 81 }]));
        assert_eq!(second["metadata"]["labels"], json!({}));
    }

    #[test]
    fn another_managers_field_is_a_conflict_unless_forced() {
        let mut object = applied(&json!({}), &config(2, &[80]), "me", false).unwrap();
        let before = object.clone();
        object["spec"]["replicas"] = json!(5);
        let shape = Shape::builtin("Deployment");
        record_update(
            &before,
            &mut object,
            &manager("scaler", Operation::Update),
            "later",
            shape,
            true,
        );
        assert_eq!(owner_of(&object, ".spec.replicas"), ["scaler"]);
        let refusal = applied(&object, &config(3, &[80]), "me", false).unwrap_err();
        assert_eq!(
            refusal.message,
            "Apply failed with 1 conflict: conflict with \"scaler\" using apps/v1: .spec.replicas"
        );
        let forced = applied(&object, &config(3, &[80]), "me", true).unwrap();
        assert_eq!(forced["spec"]["replicas"], 3);
        assert_eq!(owner_of(&forced, ".spec.replicas"), ["me"]);
    }

    #[test]
    fn a_shared_field_stays_when_one_of_its_owners_drops_it() {
        let first = applied(&json!({}), &config(2, &[80]), "me", false).unwrap();
        let both = applied(&first, &json!({ "spec": { "replicas": 2 } }), "you", false).unwrap();
        assert_eq!(owner_of(&both, ".spec.replicas").len(), 2);
        let rest = json!({ "metadata": { "name": "web" } });
        let left = applied(&both, &rest, "me", false).unwrap();
        assert_eq!(left["spec"]["replicas"], 2);
        assert!(left["spec"].get("template").is_none(), "{left}");
    }
}
