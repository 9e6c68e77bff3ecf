//! Reading fields of objects that may not have them.

use serde_json::Value;

/// Returns a text by its JSON pointer.
pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> Option<&'a str> {
    object.pointer(pointer)?.as_str()
}

/// Returns a whole number by its JSON pointer.
pub(crate) fn number(object: &Value, pointer: &str) -> Option<i64> {
    object.pointer(pointer)?.as_i64()
}

/// Returns an object's name, or nothing to show where it has none.
pub(crate) fn name(object: &Value) -> &str {
    text(object, "/metadata/name").unwrap_or_default()
}

/// Returns the items of a list by its JSON pointer; a missing list has none.
pub(crate) fn items<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the condition of a type.
pub(crate) fn condition<'a>(object: &'a Value, of_type: &str) -> Option<&'a Value> {
    items(object, "/status/conditions").iter().find(|one| one["type"] == of_type)
}

/// Returns whether a condition of a type is there and has this status.
pub(crate) fn has_condition(object: &Value, of_type: &str, status: &str) -> bool {
    condition(object, of_type).is_some_and(|one| one["status"] == status)
}

/// Returns whether the controller has seen the newest form of an object. One
/// that has never written a status has not.
pub(crate) fn is_observed(object: &Value) -> bool {
    let generation = number(object, "/metadata/generation");
    generation.is_some() && generation == number(object, "/status/observedGeneration")
}
