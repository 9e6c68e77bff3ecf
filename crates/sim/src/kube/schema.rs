//! Schemas of custom resources: what they do not name is pruned, and what they
//! default is filled in. Values are not checked against them.

use serde_json::{Map, Value};

/// Removes what a schema does not name, and returns the paths that it removed.
pub(crate) fn prune(object: &mut Value, schema: &Value) -> Vec<String> {
    let mut unknown = Vec::new();
    let Some(fields) = object.as_object_mut() else { return unknown };
    for (name, value) in fields.iter_mut() {
        let known = ["apiVersion", "kind", "metadata"].contains(&name.as_str());
        if let (false, Some(part)) = (known, schema["properties"].get(name)) {
            prune_inside(value, part, name, &mut unknown);
        }
    }
    let preserved = schema["x-kubernetes-preserve-unknown-fields"] == true;
    fields.retain(|name, _| {
        let known = ["apiVersion", "kind", "metadata"].contains(&name.as_str());
        let keep = known || preserved || schema["properties"].get(name).is_some();
        if !keep {
            unknown.push(name.clone());
        }
        keep
    });
    unknown
}

fn prune_inside(value: &mut Value, schema: &Value, path: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(fields) => prune_fields(fields, schema, path, unknown),
        Value::Array(list) => {
            for (at, item) in list.iter_mut().enumerate() {
                prune_inside(item, &schema["items"], &format!("{path}[{at}]"), unknown);
            }
        }
        _ => {}
    }
}

fn prune_fields(
    fields: &mut Map<String, Value>,
    schema: &Value,
    path: &str,
    unknown: &mut Vec<String>,
) {
    let any = &schema["additionalProperties"];
    let preserved = schema["x-kubernetes-preserve-unknown-fields"] == true
        || schema["x-kubernetes-embedded-resource"] == true
        || any.is_object()
        || any == &Value::Bool(true);
    for (name, value) in fields.iter_mut() {
        let part = schema["properties"].get(name).unwrap_or(any);
        if part.is_object() {
            prune_inside(value, part, &format!("{path}.{name}"), unknown);
        }
    }
    fields.retain(|name, _| {
        let keep = preserved || schema["properties"].get(name).is_some();
        if !keep {
            unknown.push(format!("{path}.{name}"));
        }
        keep
    });
}

/// Fills in the defaults of a schema.
pub(crate) fn fill_defaults(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, part) in schema["properties"].as_object().into_iter().flatten() {
                if let (None, Some(default)) = (fields.get(name), part.get("default")) {
                    fields.insert(name.clone(), default.clone());
                }
                if let Some(inner) = fields.get_mut(name) {
                    fill_defaults(inner, part);
                }
            }
        }
        Value::Array(list) => {
            for item in list {
                fill_defaults(item, &schema["items"]);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_fields_go_and_defaults_come() {
        let schema = json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": {
            "size": { "type": "integer", "default": 3 },
            "free": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
            "tags": { "type": "object", "additionalProperties": { "type": "string" } },
            "parts": { "type": "array", "items": { "properties": { "name": {} } } },
        } } } });
        let mut boat = json!({ "metadata": { "name": "a" }, "extra": 1, "spec": {
            "sise": 4, "free": { "x": 1 }, "tags": { "a": "b" }, "parts": [{ "name": "p", "nam": "q" }],
        } });
        let unknown = prune(&mut boat, &schema);
        assert_eq!(unknown, ["spec.parts[0].nam", "spec.sise", "extra"]);
        fill_defaults(&mut boat, &schema);
        assert_eq!(
            boat,
            json!({ "metadata": { "name": "a" }, "spec": {
            "size": 3, "free": { "x": 1 }, "tags": { "a": "b" }, "parts": [{ "name": "p" }],
        } })
        );
    }
}
