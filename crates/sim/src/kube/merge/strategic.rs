//! Strategic merge patches: lists of built-in kinds merge by the key of their
//! items, and directives say what cannot be said otherwise.

use serde_json::{Map, Value};

use super::ordered::interleave;
use super::shape::Shape;
use crate::kube::object::items;

const ORDER: &str = "$setElementOrder/";
const DELETE_VALUES: &str = "$deleteFromPrimitiveList/";
const RETAIN: &str = "$retainKeys";
const DIRECTIVE: &str = "$patch";

/// Applies a strategic merge patch to an object of a built-in kind.
pub(crate) fn strategic_patch(object: &mut Value, patch: &Value, shape: Shape<'_>) {
    if let (Value::Object(fields), Value::Object(patch)) = (object, patch) {
        merge_fields(fields, patch, shape);
    }
}

fn merge_fields(fields: &mut Map<String, Value>, patch: &Map<String, Value>, shape: Shape<'_>) {
    match patch.get(DIRECTIVE).and_then(Value::as_str) {
        Some("replace") => fields.clear(),
        Some("delete") => return fields.clear(),
        _ => {}
    }
    if let Some(retained) = patch.get(RETAIN) {
        fields.retain(|name, _| items(retained).iter().any(|kept| kept == name.as_str()));
    }
    let live = fields.clone();
    for (name, value) in patch {
        if let Some(list) = name.strip_prefix(DELETE_VALUES) {
            delete_values(fields, list, value);
        } else if !name.starts_with('$') {
            merge_field(fields, name, value, shape.field(name));
        }
    }
    for (name, order) in patch {
        if let Some(list) = name.strip_prefix(ORDER) {
            let live = live.get(list).map(items).unwrap_or_default();
            reorder(fields, list, order, live, shape.field(list));
        }
    }
}

fn merge_field(fields: &mut Map<String, Value>, name: &str, value: &Value, shape: Shape<'_>) {
    match value {
        Value::Null => {
            fields.remove(name);
        }
        Value::Object(patch) => {
            let slot = fields.entry(name).or_insert_with(|| Value::Object(Map::new()));
            if !slot.is_object() {
                *slot = Value::Object(Map::new());
            }
            if let Some(inner) = slot.as_object_mut() {
                merge_fields(inner, patch, shape);
            }
        }
        Value::Array(patch) => {
            let live = fields.get(name).map(items).unwrap_or_default();
            let merged = merge_list(live, patch, shape);
            fields.insert(name.to_owned(), Value::Array(merged));
        }
        other => {
            fields.insert(name.to_owned(), other.clone());
        }
    }
}

fn merge_list(live: &[Value], patch: &[Value], shape: Shape<'_>) -> Vec<Value> {
    let Some(key) = shape.patch_key() else {
        return if shape.merges_values() { union(live, patch) } else { patch.to_vec() };
    };
    if patch.iter().any(|item| item[DIRECTIVE] == "replace") {
        let kept = patch.iter().filter(|item| item.get(DIRECTIVE).is_none());
        return kept.cloned().collect();
    }
    let mut merged = live.to_vec();
    for item in patch {
        let place = merged.iter().position(|one| one[key] == item[key]);
        match (place, item[DIRECTIVE] == "delete") {
            (Some(at), true) => drop(merged.remove(at)),
            (None, true) => {}
            (Some(at), false) => strategic_patch(&mut merged[at], item, shape.item()),
            (None, false) => {
                let mut fresh = Value::Object(Map::new());
                strategic_patch(&mut fresh, item, shape.item());
                merged.push(fresh);
            }
        }
    }
    merged
}

fn union(live: &[Value], patch: &[Value]) -> Vec<Value> {
    let fresh = patch.iter().filter(|value| !live.contains(value));
    live.iter().chain(fresh).cloned().collect()
}

fn delete_values(fields: &mut Map<String, Value>, list: &str, values: &Value) {
    if let Some(Value::Array(live)) = fields.get_mut(list) {
        live.retain(|value| !items(values).contains(value));
    }
}

/// Puts a merged list in the order that the patch asks for; items that only
/// the live list has stay where they stood in it.
fn reorder(
    fields: &mut Map<String, Value>,
    list: &str,
    order: &Value,
    live: &[Value],
    shape: Shape<'_>,
) {
    let Some(Value::Array(merged)) = fields.get_mut(list) else { return };
    let same = |item: &Value, wanted: &Value| match shape.patch_key() {
        Some(key) => item[key] == wanted[key],
        None => item == wanted,
    };
    let mut left = std::mem::take(merged);
    let mut wanted = Vec::new();
    for one in items(order) {
        if let Some(at) = left.iter().position(|item| same(item, one)) {
            let place = live.iter().position(|item| same(item, one));
            wanted.push((place, left.remove(at)));
        }
    }
    let others = left.into_iter().map(|item| {
        let place = live.iter().position(|old| same(old, &item));
        (place.unwrap_or(usize::MAX), item)
    });
    *merged = interleave(wanted, others.collect());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(kind: &str, mut object: Value, patch: &Value) -> Value {
        strategic_patch(&mut object, patch, Shape::builtin(kind));
        object
    }

    #[test]
    fn containers_merge_by_name_and_ports_by_number() {
        let live = json!({ "spec": { "containers": [
            { "name": "a", "image": "a:1", "env": [{ "name": "X", "value": "1" }],
              "ports": [{ "containerPort": 80 }] },
            { "name": "b", "image": "b:1" },
        ] } });
        let patch = json!({ "spec": { "containers": [
            { "name": "a", "image": "a:2", "env": [{ "name": "Y", "value": "2" }],
              "ports": [{ "containerPort": 80, "$patch": "delete" }, { "containerPort": 81 }] },
            { "name": "b", "$patch": "delete" },
        ] } });
        assert_eq!(
            patched("Pod", live, &patch),
            json!({ "spec": { "containers": [{
                "name": "a", "image": "a:2", "ports": [{ "containerPort": 81 }],
                "env": [{ "name": "X", "value": "1" }, { "name": "Y", "value": "2" }],
            }] } })
        );
    }

    #[test]
    fn directives_of_kubectl_apply_are_followed() {
        let live = json!({ "spec": {
            "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } },
            "containers": [{ "name": "a" }, { "name": "b" }],
        }, "metadata": { "finalizers": ["x", "y"] } });
        let patch = json!({
            "spec": {
                "strategy": { "$retainKeys": ["type"], "type": "Recreate" },
                "$setElementOrder/containers": [{ "name": "c" }, { "name": "a" }],
                "containers": [{ "name": "c" }],
            },
            "metadata": { "$deleteFromPrimitiveList/finalizers": ["x"] },
        });
        assert_eq!(
            patched("Deployment", live, &patch),
            json!({ "spec": {
                "strategy": { "type": "Recreate" },
                "containers": [{ "name": "c" }, { "name": "a" }, { "name": "b" }],
            }, "metadata": { "finalizers": ["y"] } })
        );
    }

    #[test]
    fn tolerations_are_replaced_and_conditions_merged() {
        let live = json!({
            "spec": { "tolerations": [{ "key": "a" }] },
            "status": { "conditions": [{ "type": "Ready", "status": "False", "reason": "x" }] },
        });
        let patch = json!({
            "spec": { "tolerations": [{ "key": "b" }] },
            "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
        });
        assert_eq!(
            patched("Pod", live, &patch),
            json!({
                "spec": { "tolerations": [{ "key": "b" }] },
                "status": { "conditions": [{ "type": "Ready", "status": "True", "reason": "x" }] },
            })
        );
    }
}
