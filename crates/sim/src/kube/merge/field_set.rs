//! Sets of fields, as `fieldsV1` writes them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::shape::{ListType, Shape};
use crate::kube::object::items;

/// The fields of an object that somebody owns. Keys are those of `fieldsV1`:
/// `f:name` for a field, `k:{…}` for an item by its keys, `v:…` for a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FieldSet {
    /// Whether the place itself is in the set.
    pub(super) own: bool,
    /// What is below it.
    pub(super) children: BTreeMap<String, Self>,
}

/// What the API server keeps for itself.
const SYSTEM_METADATA: &[&str] = &[
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "managedFields",
];

impl FieldSet {
    /// Returns the fields of a configuration that is applied.
    pub(super) fn of(object: &Value, shape: Shape<'_>) -> Self {
        let mut set = Self::default();
        set.fill(&without_system_fields(object), shape);
        set.own = false;
        set
    }

    fn fill(&mut self, value: &Value, shape: Shape<'_>) {
        match value {
            Value::Object(fields) if !fields.is_empty() && !shape.is_atomic() => {
                for (name, value) in fields {
                    let child = self.children.entry(format!("f:{name}")).or_default();
                    child.fill(value, shape.field(name));
                }
            }
            Value::Array(list) if !list.is_empty() && shape.list() != ListType::Atomic => {
                for item in list {
                    let child = self.children.entry(item_key(item, shape)).or_default();
                    child.own = true;
                    if item.is_object() {
                        child.fill(item, shape.item());
                    }
                }
            }
            _ => self.own = true,
        }
    }

    /// Returns the fields that `after` has and `before` has not, or otherwise.
    pub(super) fn changed(before: &Value, after: &Value, shape: Shape<'_>) -> Self {
        let mut set = Self::default();
        let (before, after) = (without_system_fields(before), without_system_fields(after));
        set.compare(&before, &after, shape);
        // Nobody owns an object as such.
        set.own = false;
        set
    }

    fn compare(&mut self, before: &Value, after: &Value, shape: Shape<'_>) {
        if before == after {
            return;
        }
        match after {
            Value::Object(fields) if !fields.is_empty() && !shape.is_atomic() => {
                self.own = before.is_null() && shape.is_optional();
                for (name, value) in fields {
                    // A field may be there and be null, which is not nothing.
                    if value.is_null() && before.get(name).is_none() {
                        let child = Self { own: true, ..Self::default() };
                        self.children.insert(format!("f:{name}"), child);
                        continue;
                    }
                    self.compare_child(
                        format!("f:{name}"),
                        &before[name],
                        value,
                        shape.field(name),
                    );
                }
            }
            Value::Array(list) if !list.is_empty() && shape.list() != ListType::Atomic => {
                self.own = before.is_null() && shape.is_optional();
                for item in list {
                    let key = item_key(item, shape);
                    let old = items(before).iter().find(|old| item_key(old, shape) == key);
                    let before = old.unwrap_or(&Value::Null);
                    self.compare_child(key.clone(), before, item, shape.item());
                    if old.is_none() {
                        self.children.entry(key).or_default().own = true;
                    }
                }
            }
            _ => self.own = true,
        }
    }

    fn compare_child(&mut self, key: String, before: &Value, after: &Value, shape: Shape<'_>) {
        let mut child = Self::default();
        child.compare(before, after, shape);
        if !child.is_empty() {
            self.children.insert(key, child);
        }
    }

    /// Forgets a field of the whole object.
    pub(super) fn forget(&mut self, field: &str) {
        self.children.remove(&format!("f:{field}"));
    }

    /// Says whether nothing is in the set.
    pub(super) fn is_empty(&self) -> bool {
        !self.own && self.children.is_empty()
    }

    /// Adds all of another set.
    pub(super) fn add(&mut self, other: &Self) {
        self.own |= other.own;
        for (key, child) in &other.children {
            self.children.entry(key.clone()).or_default().add(child);
        }
    }

    /// Takes away all of another set.
    pub(super) fn subtract(&mut self, other: &Self) {
        self.own &= !other.own;
        for (key, taken) in &other.children {
            if let Some(child) = self.children.get_mut(key) {
                child.subtract(taken);
            }
        }
        self.children.retain(|_, child| !child.is_empty());
    }

    /// Returns what both sets have.
    pub(super) fn intersection(&self, other: &Self) -> Self {
        let both = |(key, child): (&String, &Self)| {
            let inner = child.intersection(other.children.get(key)?);
            (!inner.is_empty()).then(|| (key.clone(), inner))
        };
        let children = self.children.iter().filter_map(both).collect();
        Self { own: self.own && other.own, children }
    }

    /// Forgets the fields that the object does not have any more.
    pub(super) fn keep_existing(&mut self, value: &Value, shape: Shape<'_>) {
        self.children.retain(|key, child| {
            let (found, shape) = if let Some(name) = key.strip_prefix("f:") {
                (value.get(name), shape.field(name))
            } else {
                let same = |item: &&Value| item_key(item, shape) == *key;
                (items(value).iter().find(same), shape.item())
            };
            let Some(found) = found else { return false };
            child.keep_existing(found, shape);
            !child.is_empty()
        });
    }

    /// Returns the paths of the set, as messages write them: `.spec.replicas`.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect("", &mut paths);
        paths
    }

    fn collect(&self, at: &str, paths: &mut Vec<String>) {
        if self.own && self.children.is_empty() {
            paths.push(at.to_owned());
        }
        for (key, child) in &self.children {
            child.collect(&format!("{at}{}", step(key)), paths);
        }
    }

    /// Writes the set as `fieldsV1`.
    pub(super) fn to_value(&self) -> Value {
        let mut fields = Map::new();
        if self.own && !self.children.is_empty() {
            fields.insert(".".to_owned(), json!({}));
        }
        for (key, child) in &self.children {
            fields.insert(key.clone(), child.to_value());
        }
        Value::Object(fields)
    }

    /// Reads a `fieldsV1`.
    pub(super) fn from_value(value: &Value) -> Self {
        let fields = value.as_object();
        let own = fields.is_none_or(|fields| fields.is_empty() || fields.contains_key("."));
        let below = fields.into_iter().flatten().filter(|(key, _)| *key != ".");
        let children = below.map(|(key, value)| (key.clone(), Self::from_value(value))).collect();
        Self { own, children }
    }
}

/// Returns how `fieldsV1` names an item of a list.
pub(super) fn item_key(item: &Value, shape: Shape<'_>) -> String {
    let ListType::Map(keys) = shape.list() else { return format!("v:{item}") };
    let value = |key: &String| {
        let value = item.get(key).cloned().or_else(|| shape.key_default(key));
        value.map(|value| (key.clone(), value))
    };
    let keys: Map<String, Value> = keys.iter().filter_map(value).collect();
    format!("k:{}", Value::Object(keys))
}

/// Writes one step of a path for people: `.name`, `[name="a"]`, `[="value"]`.
fn step(key: &str) -> String {
    if let Some(name) = key.strip_prefix("f:") {
        return format!(".{name}");
    }
    if let Some(value) = key.strip_prefix("v:") {
        return format!("[={value}]");
    }
    let keys = key.strip_prefix("k:").and_then(|keys| serde_json::from_str::<Map<_, _>>(keys).ok());
    let keys =
        keys.into_iter().flatten().map(|(key, value): (String, Value)| format!("{key}={value}"));
    format!("[{}]", keys.collect::<Vec<_>>().join(","))
}

fn without_system_fields(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            metadata.retain(|name, _| !SYSTEM_METADATA.contains(&name.as_str()));
            if metadata.is_empty() {
                fields.remove("metadata");
            }
        }
    }
    object
}
