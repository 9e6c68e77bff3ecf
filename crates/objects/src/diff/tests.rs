//! Differences and drift as people see them.

use serde_json::{Value, json};

use super::*;
use crate::Object;

const VEIL: Veil = Veil::new([7; 32]);

fn object(kind: &str, mut body: Value, managed: &[(&str, &str, &str, Value)]) -> Object {
    body["apiVersion"] = "v1".into();
    body["kind"] = kind.into();
    body["metadata"]["name"] = "a".into();
    body["metadata"]["namespace"] = "app".into();
    let entry = |(manager, operation, time, fields): &(&str, &str, &str, Value)| {
        json!({ "manager": manager, "operation": operation, "apiVersion": "v1",
            "time": format!("2026-11-16T{time}Z"), "fieldsV1": fields })
    };
    body["metadata"]["managedFields"] = managed.iter().map(entry).collect();
    Object::new(body).unwrap()
}

fn ours(kind: &str, body: Value, fields: Value) -> Object {
    object(kind, body, &[("seaworthy", "Apply", "10:00:00", fields)])
}

#[test]
fn changed_added_and_removed_fields_are_shown() {
    let live = ours(
        "Thing",
        json!({ "spec": { "replicas": 3, "paused": true, "theirs": 1,
            "containers": [{ "name": "x" }, { "name": "app", "image": "web:1" }],
            "selector": { "app": "a", "tier": "b" }, "args": ["a", "b"] } }),
        json!({ "f:spec": { "f:replicas": {}, "f:paused": {}, "f:selector": {}, "f:args": {},
            "f:containers": { "k:{\"name\":\"app\"}": { ".": {}, "f:name": {}, "f:image": {} } } } }),
    );
    let would_be = ours(
        "Thing",
        json!({ "metadata": { "labels": { "app.kubernetes.io/version": "2" } },
            "spec": { "replicas": 3, "theirs": 2, "selector": { "app": "a", "tier": "c" },
                "containers": [{ "name": "x" }, { "name": "app", "image": "web:2" },
                    { "name": "log", "image": "log:1" }, { "name": "bare" }],
                "args": ["a", "c"] } }),
        json!({ "f:metadata": { "f:labels": { "f:app.kubernetes.io/version": {} } },
            "f:spec": { "f:replicas": {}, "f:selector": {}, "f:args": {}, "f:containers": {
                "k:{\"name\":\"app\"}": { ".": {}, "f:name": {}, "f:image": {} },
                "k:{\"name\":\"log\"}": { ".": {}, "f:name": {}, "f:image": {} },
                "k:{\"name\":\"bare\"}": { ".": {}, "f:name": {} } } } }),
    );
    let diff = Diff::between(Some(&live), &would_be, &VEIL).unwrap();
    let expected = r#"~ thing/a in namespace app
    + metadata.labels["app.kubernetes.io/version"]: "2"
    ~ spec.args[1]: "b" → "c"
    ~ spec.containers[name="app"].image: "web:1" → "web:2"
    + spec.containers[name="bare"].name: "bare"
    + spec.containers[name="log"].image: "log:1"
    - spec.paused: true
    ~ spec.selector.tier: "b" → "c"
"#;
    assert_eq!(diff.to_string(), expected);
    let same = Diff::between(Some(&live), &live, &VEIL).unwrap();
    assert!(same.is_empty() && same.to_string().is_empty(), "{same}");
    let new = Diff::between(None, &live, &VEIL).unwrap();
    assert!(new.is_new && !new.is_empty());
    assert!(
        new.to_string().starts_with("+ thing/a in namespace app\n    + spec.args: [\"a\",\"b\"]"),
        "{new}"
    );
}

#[test]
fn texts_differ_by_line_and_cannot_steer_the_terminal() {
    let fields = json!({ "f:data": { "f:nginx.conf": {}, "f:x": {} } });
    let map = |listen: &str, x: &str| {
        let conf = format!("server {{\n  listen {listen};\n}}\n");
        ours("ConfigMap", json!({ "data": { "nginx.conf": conf, "x": x } }), fields.clone())
    };
    let diff = Diff::between(Some(&map("80", "a")), &map("81\u{1b}[2J", "\u{9b}2J\u{202e}"), &VEIL);
    let expected = r#"~ configmap/a in namespace app
    ~ data["nginx.conf"]:
        @ line 1
          server {
        -   listen 80;
        +   listen 81\u{1b}[2J;
          }
    ~ data.x: "a" → "\u{9b}2J\u{202e}"
"#;
    assert_eq!(diff.unwrap().to_string(), expected);
}

#[test]
fn secrets_are_marked_and_never_shown() {
    let fields = json!({ "f:metadata": { "f:annotations": {
            "f:kubectl.kubernetes.io/last-applied-configuration": {}, "f:note": {} } },
        "f:type": {}, "f:data": { "f:a": {}, "f:b": {}, "f:c": {} }, "f:stringData": { "f:d": {} } });
    // hunter2 in base64, and as it is.
    let secret = |a: &str, b: &str, c: &str, d: &str, copy: &str, kind: &str| {
        ours(
            kind,
            json!({ "metadata": { "annotations": { "note": copy,
                "kubectl.kubernetes.io/last-applied-configuration": copy } },
            "type": d, "data": { "a": a, "b": b, "c": c }, "stringData": { "d": d } }),
            fields.clone(),
        )
    };
    let old = secret("b2xk", "b2xk", "not base64!", "old", "old", "Secret");
    let new = secret("aHVudGVyMg==", "b2xkZXI=", "aHVudGVyMg==", "hunter2", "hunter2", "Secret");
    let diff = Diff::between(Some(&old), &new, &VEIL).unwrap();
    let text = format!("{diff} {diff:?}");
    let plain =
        text.replace("note: \"old\" → \"hunter2\"", "").replace("type: \"old\" → \"hunter2\"", "");
    let plain = plain.replace("String(\"hunter2\")", "");
    assert!(!plain.contains("hunter2") && !plain.contains("aHVudGVyMg"), "{plain}");
    let mark = |name: &str| {
        let path = name.parse().unwrap();
        diff.differences.iter().find(|one| one.path == path).unwrap().new.clone()
    };
    assert!(matches!(mark("data.a"), Some(Shown::Hidden(_))));
    assert_eq!(mark("data.a"), mark("data.c"));
    assert_eq!(mark("data.a"), mark("stringData.d"));
    assert_ne!(mark("data.a"), mark("data.b"));
    let other = Diff::between(Some(&old), &new, &Veil::new([8; 32])).unwrap();
    assert_ne!(diff.differences[0].new, other.differences[0].new);
    let map = secret("1", "", "", "", "", "ConfigMap");
    let map = Diff::between(None, &map, &VEIL).unwrap().to_string();
    assert!(map.contains(r#"+ data.a: "1""#), "{map}");
}

#[test]
fn drift_names_who_and_when() {
    let fields = |names: &[&str]| -> Value {
        let all: Value = names.iter().map(|name| (format!("f:{name}"), json!({}))).collect();
        json!({ "f:spec": all })
    };
    let live = object(
        "Thing",
        json!({ "spec": { "image": "web:1", "replicas": 5 } }),
        &[
            ("seaworthy", "Apply", "10:00:00", fields(&["image"])),
            ("kubectl-scale", "Update", "10:05:00", fields(&["replicas"])),
            ("early", "Update", "09:00:00", fields(&["other"])),
        ],
    );
    let would_be = ours(
        "Thing",
        json!({ "spec": { "image": "web:2", "replicas": 3, "paused": true } }),
        fields(&["image", "replicas", "paused"]),
    );
    let drift = Drift::between(&live, &would_be, &VEIL).unwrap();
    let expected = r"~ thing/a in namespace app
    - spec.paused: true
        removed, perhaps by kubectl-scale at 2026-11-16T10:05:00Z
    ~ spec.replicas: 3 → 5
        by kubectl-scale at 2026-11-16T10:05:00Z
";
    assert_eq!(drift.to_string(), expected);
    let pending: Vec<String> = drift.pending.iter().map(ToString::to_string).collect();
    assert_eq!(pending, [r#"~ spec.image: "web:1" → "web:2""#]);
    let replicas = &serde_json::to_value(&drift).unwrap()["drifted"][1];
    let by = json!([{ "owner": { "manager": "kubectl-scale", "operation": "Update" },
        "time": "2026-11-16T10:05:00Z" }]);
    let expected = json!({ "path": "spec.replicas", "ours": { "value": 3 },
        "theirs": { "value": 5 }, "by": by, "perhaps": [] });
    assert_eq!(*replicas, expected);
    assert!(Drift::between(&live, &live, &VEIL).unwrap().is_empty());
}
