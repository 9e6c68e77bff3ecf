//! What people and the Kubernetes API write.

use objects::compare::{Settled, compare};
use objects::diff::{Diff, Drift, Veil};
use objects::fields::{FieldPath, FieldSet, Owners};
use objects::{
    Access, Goal, JsonPath, Object, Order, Status, Surroundings, check_selector, explain, manifest,
};
use serde_json::Value;

use crate::{Target, text};

pub(crate) const TARGETS: &[Target] = &[
    Target { name: "manifest", seeds: MANIFESTS, feed: read_manifest },
    Target { name: "object", seeds: OBJECTS, feed: judge_object },
    Target { name: "fields", seeds: FIELDS, feed: read_fields },
    Target { name: "field-path", seeds: FIELD_PATHS, feed: read_field_path },
    Target { name: "json-path", seeds: JSON_PATHS, feed: read_json_path },
    Target { name: "goal", seeds: GOALS, feed: read_goal },
    Target { name: "selector", seeds: SELECTORS, feed: read_selector },
    Target { name: "kubeconfig", seeds: KUBECONFIGS, feed: read_kubeconfig },
    Target { name: "settled", seeds: SETTLED, feed: read_settled },
];

const MANIFESTS: &[&str] = &[
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {k: \"v\"}\n",
    "a: &x {n: 0o17, y: yes}\n---\nkind: List\nitems:\n- <<: *x\n  apiVersion: apps/v1\n",
    "%YAML 1.1\n---\n? k\n: |-\n  text\n  more\n...\n---\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}",
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  a: !!binary aGk=\n  a: 1e3\n",
];

const OBJECTS: &[&str] = &[
    r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","generation":2,
       "uid":"u","managedFields":[{"manager":"seaworthy","operation":"Apply",
       "apiVersion":"apps/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1",
       "fieldsV1":{"f:spec":{"f:replicas":{}}}}]},"spec":{"replicas":3,"paused":false},
       "status":{"observedGeneration":"2","conditions":[{"type":"Progressing",
       "status":"False","reason":"ProgressDeadlineExceeded","message":"m"}]}}"#,
    r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","deletionTimestamp":null},
       "status":{"phase":"Failed","containerStatuses":[{"name":"c","restartCount":3,
       "state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":
       {"exitCode":1,"finishedAt":"2026-01-01T00:00:00Z"}}}]}}"#,
    r#"{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":
       {"name":"h"},"status":{"conditions":[{"type":"AbleToScale","status":"True"}]}}"#,
];

const FIELDS: &[&str] =
    &[r#"{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":
       {"k:{\"name\":\"app\"}":{".":{},"f:image":{}}},"f:finalizers":{"v:\"x\"":{}},
       "i:0":{}}}"#];

const FIELD_PATHS: &[&str] = &[
    r#"spec.containers[name="app"].image"#,
    r#"data["nginx.conf"]"#,
    r#"spec.ports[containerPort=80,protocol="TCP"].name"#,
    r#"metadata.finalizers[="x"]"#,
];

const JSON_PATHS: &[&str] = &[
    r#"{.status.conditions[?(@.type=="Ready")].status}"#,
    ".status.loadBalancer.ingress[-1].ip",
    "metadata.annotations['app.kubernetes.io/name']",
    "{.items[*].spec}",
];

const GOALS: &[&str] = &[
    "ready",
    "condition=Ready=False",
    "jsonpath={.status.phase}=Bound",
    "jsonpath={.status.replicas}>3",
    "jsonpath={.metadata.name}~^a.*b$",
    "field=spec.replicas=2",
];

const SELECTORS: &[&str] = &["app=web,tier!=db", "env in (a, b),!gone,there", "x notin (y)"];

const KUBECONFIGS: &[&str] = &["apiVersion: v1\nkind: Config\ncurrent-context: a\n\
     contexts: [{name: a, context: {cluster: c, user: u, namespace: n}}]\n\
     clusters: [{name: c, cluster: {server: \"https://127.0.0.1:6443\"}}]\n\
     users: [{name: u, user: {token: t, exec: {apiVersion: v1, command: x}}}]\n"];

const SETTLED: &[&str] =
    &[r#"{"form":1,"server":"v1.36.3","footprints":{"uid":{"desired":"00","owned":"11",
       "definition":3}}}"#];

fn read_manifest(bytes: &[u8]) {
    match manifest::read_placed("input.yaml", bytes) {
        Ok(_) => {
            let objects = manifest::read("input.yaml", bytes).expect("it was read just now");
            let _ = Order::of(objects).map_err(|disorder| disorder.to_string());
        }
        Err(errors) => assert!(!errors.to_string().is_empty(), "an error without a word"),
    }
}

/// Everything that judges an object by itself.
fn judge_object(bytes: &[u8]) {
    let Ok(body) = serde_json::from_slice::<Value>(bytes) else { return };
    let Ok(object) = Object::new(body) else { return };
    let _ = Status::of(&object).because();
    let _ = explain(&object, &Surroundings::default()).lines();
    let _ = compare(&object, &object, None);
    let veil = Veil::new([0; 32]);
    let _ = Diff::between(Some(&object), &object, &veil);
    let _ = Drift::between(&object, &object, &veil);
    let _ = Drift::since_ours(&object, &veil);
    let _ = Owners::of(&object).map_err(|error| error.to_string());
}

fn read_fields(bytes: &[u8]) {
    let Ok(json) = serde_json::from_slice::<Value>(bytes) else { return };
    let Ok(fields) = FieldSet::from_fields_v1(&json) else { return };
    let again = FieldSet::from_fields_v1(&fields.to_fields_v1());
    assert_eq!(again.as_ref(), Ok(&fields), "what was written is not read back");
    assert!(fields.difference(&fields).is_empty());
}

fn read_field_path(bytes: &[u8]) {
    text(bytes, |text| {
        let _ = FieldPath::told(text, None);
        let Ok(path) = text.parse::<FieldPath>() else { return };
        let again = path.to_string().parse();
        assert_eq!(again.as_ref(), Ok(&path), "{path} is not read back");
    });
}

fn read_json_path(bytes: &[u8]) {
    let sample = serde_json::json!({
        "items": [{ "spec": 1 }], "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
    });
    text(bytes, |text| match text.parse::<JsonPath>() {
        Ok(path) => drop(path.select(&sample)),
        Err(error) => assert!(!error.to_string().is_empty()),
    });
}

fn read_goal(bytes: &[u8]) {
    text(bytes, |text| match text.parse::<Goal>() {
        Ok(goal) => drop(goal.to_string()),
        Err(error) => drop(error.to_string()),
    });
}

fn read_selector(bytes: &[u8]) {
    text(bytes, |text| drop(check_selector(text).map_err(|error| error.to_string())));
}

fn read_kubeconfig(bytes: &[u8]) {
    let _ = Access::from_kubeconfig(bytes, None).map_err(|error| error.to_string());
}

fn read_settled(bytes: &[u8]) {
    let kept = Settled::kept(bytes);
    let json = serde_json::to_vec(&kept).expect("it can be written");
    assert_eq!(Settled::kept(&json), kept, "what was kept is not read back");
}
