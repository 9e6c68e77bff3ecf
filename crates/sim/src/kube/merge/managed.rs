//! `metadata.managedFields`: who set which fields last.

use serde_json::{Value, json};

use super::field_set::FieldSet;
use super::shape::Shape;
use crate::kube::object::{self, items};

/// Somebody who writes objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manager {
    pub(crate) name: String,
    pub(crate) operation: Operation,
    pub(crate) subresource: String,
    pub(crate) api_version: String,
}

/// How somebody writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    /// By server-side apply.
    Apply,
    /// By anything else.
    Update,
}

/// One entry of `managedFields`.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) manager: Manager,
    pub(super) time: String,
    pub(super) fields: FieldSet,
}

/// Writes into the new object who owns what after a write that is no apply.
pub(crate) fn record_update(
    before: &Value,
    after: &mut Value,
    manager: &Manager,
    now: &str,
    shape: Shape<'_>,
    has_status: bool,
) {
    let mut entries = entries(given(after).unwrap_or(&before["metadata"]["managedFields"]));
    let mut changed = FieldSet::changed(before, after, shape);
    // A status has a path of its own, and is nobody's on any other.
    if manager.subresource.is_empty() && has_status {
        changed.forget("status");
    }
    for entry in &mut entries {
        let had = entry.fields.clone();
        if entry.manager != *manager {
            entry.fields.subtract(&changed);
        }
        entry.fields.keep_existing(after, shape);
        if entry.fields != had {
            now.clone_into(&mut entry.time);
        }
    }
    if !changed.is_empty() {
        give(&mut entries, manager, &changed, now);
    }
    write(after, entries);
}

fn give(entries: &mut Vec<Entry>, manager: &Manager, changed: &FieldSet, now: &str) {
    match entries.iter_mut().find(|entry| entry.manager == *manager) {
        Some(entry) => {
            entry.fields.add(changed);
            now.clone_into(&mut entry.time);
        }
        None => entries.push(Entry {
            manager: manager.clone(),
            time: now.to_owned(),
            fields: changed.clone(),
        }),
    }
}

/// Returns the entries that a client sends along, which replace the live ones.
fn given(object: &Value) -> Option<&Value> {
    object["metadata"].get("managedFields").filter(|list| list.is_array())
}

/// Reads `managedFields`.
pub(super) fn entries(list: &Value) -> Vec<Entry> {
    items(list).iter().filter_map(read).collect()
}

fn read(entry: &Value) -> Option<Entry> {
    let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    let operation = match entry["operation"].as_str()? {
        "Apply" => Operation::Apply,
        _ => Operation::Update,
    };
    let manager = Manager {
        name: text("manager"),
        operation,
        subresource: text("subresource"),
        api_version: text("apiVersion"),
    };
    Some(Entry { manager, time: text("time"), fields: FieldSet::from_value(&entry["fieldsV1"]) })
}

/// Writes `managedFields`, applies first and the oldest before the newest.
pub(super) fn write(target: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|entry| !entry.fields.is_empty());
    entries.sort_by(|a, b| {
        let order = |entry: &Entry| (entry.manager.operation, entry.time.clone());
        order(a).cmp(&order(b))
    });
    let list: Vec<Value> = entries.iter().map(Entry::to_value).collect();
    if list.is_empty() {
        object::unset(target, "managedFields");
    } else {
        object::metadata(target).insert("managedFields".to_owned(), list.into());
    }
}

impl Entry {
    fn to_value(&self) -> Value {
        let operation = match self.manager.operation {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        };
        let mut entry = json!({
            "manager": self.manager.name, "operation": operation, "time": self.time,
            "apiVersion": self.manager.api_version, "fieldsType": "FieldsV1",
            "fieldsV1": self.fields.to_value(),
        });
        if !self.manager.subresource.is_empty() {
            entry["subresource"] = json!(self.manager.subresource);
        }
        entry
    }
}
