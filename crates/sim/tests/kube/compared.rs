//! The simulated API beside a real one: the same script, the same answers.

use std::process::Stdio;

use rig::Kubectl;
use serde_json::{Map, Value};

use crate::cluster::Cluster;
use crate::kubectl::{JOB, WEB};

/// One line of the script: kubectl's arguments, and what it reads.
type Line = (&'static str, &'static str);

const DEFINED: &str = "{ apiVersion: v1, kind: ConfigMap, metadata: { name: a, labels: { x: one } }, data: { k: v } }";
const SECRET: &str =
    "{ apiVersion: v1, kind: Secret, metadata: { name: s }, stringData: { k: v } }";
const OTHER_SELECTOR: &str = "{ apiVersion: apps/v1, kind: Deployment, metadata: { name: web }, spec: { selector: { matchLabels: { app: other } }, template: { metadata: { labels: { app: other } }, spec: { containers: [{ name: c, image: x }] } } } }";
const MISMATCHED: &str = "{ apiVersion: apps/v1, kind: Deployment, metadata: { name: odd }, spec: { selector: { matchLabels: { app: a } }, template: { metadata: { labels: { app: b } }, spec: { containers: [{ name: c, image: x }] } } } }";
/// For a state that no object is ever in: it is made, and never changed.
const AT_ONE: &str = "{ apiVersion: v1, kind: ConfigMap, metadata: { name: one, resourceVersion: '1' }, data: { k: v } }";
const BAD_NAME: &str = "{ apiVersion: v1, kind: ConfigMap, metadata: { name: a_b } }";

/// What is compared as text.
const SAID: &[Line] = &[
    ("apply -f -", WEB),
    ("apply -f -", WEB),
    ("apply --server-side -f -", JOB),
    ("create -f -", DEFINED),
    ("create -f -", DEFINED),
    ("create -f -", SECRET),
    ("create -f -", BAD_NAME),
    ("create -f -", MISMATCHED),
    ("apply -f -", OTHER_SELECTOR),
    ("apply --server-side -f -", AT_ONE),
    ("apply --server-side -f -", AT_ONE),
    ("get configmap nothing", ""),
    ("delete deployment nothing", ""),
    ("get nonsense", ""),
    ("label configmap a z=1", ""),
    ("label configmap a z=2", ""),
    ("annotate configmap a n=1", ""),
    ("patch configmap a --type=merge -p {\"data\":{\"l\":\"w\"}}", ""),
    (
        "patch configmap a --type=json -p [{\"op\":\"test\",\"path\":\"/data/l\",\"value\":\"q\"}]",
        "",
    ),
    ("patch configmap nothing --type=merge -p {}", ""),
    ("get configmap a", ""),
    ("get secret s", ""),
    ("get deployments -o wide", ""),
    ("get jobs", ""),
    ("get pods -l app=web", ""),
    ("scale deployment web --replicas=3", ""),
    ("wait deployment/web --for=jsonpath={.status.replicas}=3 --timeout=30s", ""),
    ("get deployment web", ""),
    ("get deployment web -o jsonpath={.metadata.generation}", ""),
    ("rollout history deployment/web", ""),
    ("apply --server-side -f -", WEB),
    ("delete deployment web --cascade=foreground", ""),
    ("get rs,pods -l app=web", ""),
    ("delete configmap a", ""),
    ("api-resources --api-group=apps", ""),
];

/// What is compared as objects, after the script's first part.
const OBJECTS: &[&str] = &[
    "deployment web",
    "service web",
    "job once",
    "configmap a",
    "configmap kube-root-ca.crt",
    "serviceaccount default",
    "namespace compared",
    "secret s",
    "endpoints web",
    "rs -l app=web",
    "pod -l app=web",
];

/// Runs a line in the namespace of the comparison, and returns what was said.
fn say(kubectl: &Kubectl, (line, input): Line) -> String {
    use std::io::Write;
    let mut command = kubectl.command();
    command.args(["-n", "compared"]).args(line.split(' '));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let words = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    String::from_utf8(text).unwrap().lines().map(words).collect::<Vec<_>>().join("\n")
}

/// Takes out of a word what differs between any two clusters.
fn word(word: &str) -> String {
    let age = word.strip_suffix('s').is_some_and(|number| number.parse::<u32>().is_ok());
    let address = word.starts_with("10.") && word.matches('.').count() == 3;
    let generated = ["web-", "once-", "kube-api-access-"]
        .iter()
        .find(|base| word.trim_start_matches("pod/").starts_with(**base));
    match generated {
        _ if word.starts_with("20") && word.ends_with('Z') => "TIME".to_owned(),
        _ if age => "AGE".to_owned(),
        _ if address => "ADDRESS".to_owned(),
        Some(base) => format!("{base}GENERATED"),
        None => word.to_owned(),
    }
}

/// Takes out of an object what differs between any two clusters.
fn plain(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let volatile = [
                "uid",
                "pod-template-hash",
                "resourceVersion",
                "creationTimestamp",
                "time",
                "startTime",
                "lastTransitionTime",
                "lastUpdateTime",
                "clusterIP",
                "clusterIPs",
            ];
            fields.retain(|name, _| {
                !volatile.contains(&name.as_str()) && !name.ends_with("controller-uid")
            });
            // Owners are known by identities, which are in the names of fields too.
            let renamed = std::mem::take(fields).into_iter().map(|(name, value)| {
                (if name.starts_with("k:{\"uid\"") { "k:OWNER".to_owned() } else { name }, value)
            });
            *fields = renamed.collect();
            fields.values_mut().for_each(plain);
        }
        Value::Array(list) => list.iter_mut().for_each(plain),
        Value::String(text) => {
            let words = text.split(' ').map(|one| word(one.trim_matches('"')));
            *text = words.collect::<Vec<_>>().join(" ");
        }
        _ => {}
    }
}

fn object(kubectl: &Kubectl, which: &str) -> Value {
    let line = format!("-n compared get {which} -o json --show-managed-fields");
    let text = kubectl.run(&line.split(' ').collect::<Vec<_>>()).unwrap();
    let mut object: Value = serde_json::from_str(&text).unwrap();
    plain(&mut object);
    if let Some(data) = object.get_mut("data").filter(|data| data.get("ca.crt").is_some()) {
        data["ca.crt"] = "the authority".into();
    }
    // The order of managers is that of their times, which are the same second.
    sort_managers(&mut object);
    object["items"].as_array_mut().into_iter().flatten().for_each(sort_managers);
    object
}

fn sort_managers(object: &mut Value) {
    if let Some(list) = object["metadata"]["managedFields"].as_array_mut() {
        list.sort_by_key(|entry| {
            format!("{}{}{}", entry["operation"], entry["manager"], entry["subresource"])
        });
    }
}

/// Collects where two objects differ, by path.
fn differences(path: &str, real: &Value, ours: &Value, found: &mut Vec<String>) {
    match (real, ours) {
        (Value::Object(real), Value::Object(ours)) => {
            let all: Map<String, Value> =
                real.iter().chain(ours).map(|(key, _)| (key.clone(), Value::Null)).collect();
            for key in all.keys() {
                let (real, ours) = (real.get(key), ours.get(key));
                differences(
                    &format!("{path}.{key}"),
                    real.unwrap_or(&Value::Null),
                    ours.unwrap_or(&Value::Null),
                    found,
                );
            }
        }
        (Value::Array(real), Value::Array(ours)) if real.len() == ours.len() => {
            for (at, (real, ours)) in real.iter().zip(ours).enumerate() {
                differences(&format!("{path}[{at}]"), real, ours, found);
            }
        }
        (real, ours) if real != ours => {
            found.push(format!("{path}: {real} is simulated as {ours}"));
        }
        _ => {}
    }
}

fn prepare(kubectl: &Kubectl) {
    let namespace = "{ apiVersion: v1, kind: Namespace, metadata: { name: compared } }";
    crate::kubectl::feed(kubectl, "create -f -", namespace);
    kubectl
        .run(&["-n", "compared", "wait", "sa/default", "--for=create", "--timeout=30s"])
        .unwrap();
}

#[test]
fn a_script_says_the_same_on_a_real_cluster() {
    let Some(plane) = rig::need::control_plane() else { return };
    let cluster = Cluster::start();
    let (real, ours) = (plane.kubectl().clone(), cluster.kubectl().unwrap());
    prepare(&real);
    crate::kubectl::run(
        &ours,
        "wait namespace/default --for=jsonpath={.status.phase}=Active --timeout=10s",
    );
    prepare(&ours);
    let mut found = Vec::new();
    for (at, line) in SAID.iter().enumerate() {
        let (one, other) = (say(&real, *line), say(&ours, *line));
        if one != other {
            found.push(format!("kubectl {}\n--- real\n{one}\n--- simulated\n{other}", line.0));
        }
        // The controllers of both come to rest before objects are compared.
        if line.0.starts_with("apply --server-side") && at < 5 {
            for one in [&real, &ours] {
                let rest = "-n compared wait deployment/web --for=jsonpath={.status.unavailableReplicas}=2 --timeout=30s";
                crate::kubectl::run(one, rest);
                crate::kubectl::run(
                    one,
                    "-n compared wait job/once --for=jsonpath={.status.active}=1 --timeout=30s",
                );
                crate::kubectl::run(
                    one,
                    "-n compared wait pod -l app=web --for=condition=PodScheduled=false --timeout=30s",
                );
            }
        }
        if line.0 == "get jobs" {
            for which in OBJECTS {
                let (real, ours) = (object(&real, which), object(&ours, which));
                differences(which, &real, &ours, &mut found);
            }
        }
    }
    assert!(found.is_empty(), "{} differences\n\n{}", found.len(), found.join("\n\n"));
}
