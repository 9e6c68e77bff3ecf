//! The two patches that know nothing of kinds.

use serde_json::{Map, Value};

use crate::kube::refusal::Refusal;

/// Applies an RFC 6902 patch.
pub(crate) fn json_patch(object: &mut Value, patch: &Value) -> Result<(), Refusal> {
    let patch: json_patch::Patch = serde_json::from_value(patch.clone())
        .map_err(|error| Refusal::bad_request(format!("error decoding patch: {error}")))?;
    // The real API does not say which step failed either.
    json_patch::patch(object, &patch).map_err(|_| Refusal {
        code: 422,
        reason: "Invalid",
        message: "the server rejected our request due to an error in our request".to_owned(),
        details: None,
    })
}

/// Applies an RFC 7386 patch.
pub(crate) fn merge_patch(object: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Some(fields) = object.as_object_mut() else { return };
    for (name, value) in patch {
        if value.is_null() {
            fields.remove(name);
        } else {
            merge_patch(fields.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nulls_remove_and_lists_replace() {
        let mut object = json!({ "a": { "b": 1, "c": 2 }, "l": [1, 2] });
        merge_patch(&mut object, &json!({ "a": { "b": null, "d": { "x": null } }, "l": [3] }));
        assert_eq!(object, json!({ "a": { "c": 2, "d": {} }, "l": [3] }));
    }

    #[test]
    fn a_test_that_fails_is_invalid() {
        let mut object = json!({ "a": 1 });
        let patch = json!([{ "op": "test", "path": "/a", "value": 2 }]);
        assert_eq!(json_patch(&mut object, &patch).unwrap_err().code, 422);
        assert_eq!(json_patch(&mut object, &json!({})).unwrap_err().code, 400);
        assert_eq!(object, json!({ "a": 1 }));
    }
}
