//! What extends the API: definitions and webhooks.

use serde_json::{Value, json};

use super::dice::Dice;
use super::kinds::{LOOSE, STRICT};

/// The definitions of the test's own kinds.
pub(crate) fn definitions(group: &str) -> [Value; 2] {
    let either = json!({ "x-kubernetes-int-or-string": true });
    let text = json!({ "type": "string" });
    let item = json!({ "type": "object", "required": ["id"], "properties": { "id": text, "port": either,
        "size": { "type": "integer" }, "zone": { "type": "string", "default": "any" } } });
    let entry = json!({ "type": "object", "properties": { "n": { "type": "integer" },
        "with": { "type": "string", "default": "default" } } });
    let spec = json!({ "type": "object", "properties": {
        "items": { "type": "array", "items": item, "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["id", "zone"] },
        "tags": { "type": "array", "items": text, "x-kubernetes-list-type": "set" },
        "list": { "type": "array", "items": { "type": "integer" } },
        "map": { "type": "object", "additionalProperties": entry },
        "either": either, "ratio": { "type": "number" } } });
    let free = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    [definition(group, STRICT, &spec), definition(group, LOOSE, &free)]
}

fn definition(group: &str, kind: &str, spec: &Value) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    let schema = json!({ "openAPIV3Schema": { "type": "object", "properties": { "spec": spec } } });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": schema });
    json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": { "group": group, "scope": "Namespaced", "versions": [version],
            "names": { "plural": plural, "singular": kind.to_lowercase(), "kind": kind } } })
}

/// A definition that is itself what is changed.
pub(super) fn own_definition(dice: &mut Dice) -> Value {
    let [strict, loose] = definitions("example.test");
    dice.one_of(&[strict, loose])
}

/// Gives a definition a name and a group of its own.
pub(super) fn renamed(mut definition: Value, group: &str) -> Value {
    let plural = definition["spec"]["names"]["plural"].as_str().unwrap().to_owned();
    definition["metadata"]["name"] = format!("{plural}.{group}").into();
    definition["spec"]["group"] = group.into();
    definition
}

/// Asks about a kind that nobody has, whatever else is changed of it.
pub(super) fn webhooks(dice: &mut Dice) -> Value {
    let rule = json!({ "apiGroups": ["nobody.example"], "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"], "resources": ["nothings"] });
    let webhook = |name: &str| {
        json!({ "name": name, "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": { "url": "https://127.0.0.1:1/" }, "rules": [rule] })
    };
    let mut all = vec![webhook("a.nobody.example")];
    if dice.percent(50) {
        all[0]["failurePolicy"] = "Ignore".into();
        all[0]["timeoutSeconds"] = 3.into();
        all[0]["namespaceSelector"] = json!({ "matchLabels": { "a": "b" } });
    }
    if dice.percent(50) {
        all.push(webhook("b.nobody.example"));
    }
    json!({ "webhooks": all })
}
