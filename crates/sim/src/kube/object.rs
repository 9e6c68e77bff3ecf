//! Reading and writing the parts that all objects have.

use serde_json::{Map, Value, json};

/// Returns a name, a namespace or another text of an object's metadata.
pub(crate) fn meta<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
}

/// Returns the object's name.
pub(crate) fn name(object: &Value) -> &str {
    meta(object, "name")
}

/// Returns the object's namespace; empty where it has none.
pub(crate) fn namespace(object: &Value) -> &str {
    meta(object, "namespace")
}

/// Returns the object's identity.
pub(crate) fn uid(object: &Value) -> &str {
    meta(object, "uid")
}

/// Returns the object's version in the store.
pub(crate) fn revision(object: &Value) -> u64 {
    meta(object, "resourceVersion").parse().unwrap_or_default()
}

/// Says whether the object's end has been asked for.
pub(crate) fn is_terminating(object: &Value) -> bool {
    object["metadata"].get("deletionTimestamp").is_some()
}

/// Returns the object's finalizers.
pub(crate) fn finalizers(object: &Value) -> Vec<String> {
    texts(&object["metadata"]["finalizers"])
}

/// Returns the texts of a list; none where it is not one.
pub(crate) fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the items of a list; none where it is not one.
pub(crate) fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the texts of a map such as labels.
pub(crate) fn pairs(map: &Value) -> impl Iterator<Item = (&str, &str)> {
    let entries = map.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

/// Returns the object's metadata, to be changed.
pub(crate) fn metadata(object: &mut Value) -> &mut Map<String, Value> {
    map_at(object, "metadata")
}

/// Returns a map inside an object, to be changed; makes it where it is absent.
pub(crate) fn map_at<'a>(object: &'a mut Value, field: &str) -> &'a mut Map<String, Value> {
    if !object.is_object() {
        *object = json!({});
    }
    let slot = &mut object[field];
    if !slot.is_object() {
        *slot = json!({});
    }
    slot.as_object_mut().expect("it was made a map just now")
}

/// Returns a list inside an object, to be changed; makes it where it is absent.
pub(crate) fn list_at<'a>(object: &'a mut Value, field: &str) -> &'a mut Vec<Value> {
    let slot = &mut object[field];
    if !slot.is_array() {
        *slot = json!([]);
    }
    slot.as_array_mut().expect("it was made a list just now")
}

/// Takes a field of the metadata away.
pub(crate) fn unset(object: &mut Value, field: &str) {
    metadata(object).remove(field);
}

/// Returns the owner that controls the object.
pub(crate) fn controller(object: &Value) -> Option<&Value> {
    let owners = items(&object["metadata"]["ownerReferences"]);
    owners.iter().find(|owner| owner["controller"] == true)
}

/// Says whether a condition has this status.
pub(crate) fn has_condition(object: &Value, kind: &str, status: &str) -> bool {
    let conditions = items(&object["status"]["conditions"]);
    conditions.iter().any(|condition| condition["type"] == kind && condition["status"] == status)
}

/// Removes an optional part where it is empty, as the real API does not write it.
pub(crate) fn drop_empty(object: &mut Value, field: &str) {
    let empty = match object["metadata"].get(field) {
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Null) => true,
        _ => false,
    };
    if empty {
        unset(object, field);
    }
}
