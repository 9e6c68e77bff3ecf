//! The crates' borders: which of ours may depend on which, and what the pure
//! ones must never reach.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::{Value, json};

/// Every crate of ours with those of ours that it may depend on. A crate that
/// is not here has no place in the design yet.
const TABLE: &[(&str, &[&str])] = &[
    ("events", &[]),
    ("engine", &["events"]),
    ("report", &["events"]),
    ("spec", &["events"]),
    ("peers", &["events"]),
    ("objects", &["events", "peers"]),
    ("probe", &[]),
    ("talos-proto", &[]),
    ("talos", &["events", "peers", "talos-proto"]),
    ("clouds", &["events", "peers"]),
    ("addons", &["events", "objects"]),
    ("lifecycle", LIFECYCLE),
    ("sim", &["talos-proto"]),
    ("tfplugin", &["events", "objects"]),
    ("terraform-provider-seaworthy", &["events", "objects", "tfplugin"]),
    ("platform", &["events", "objects"]),
    ("e2e", &["events", "engine", "report", "objects"]),
    ("seaworthy", ALL),
    ("fuzz", &["events", "peers", "spec", "objects", "talos"]),
    ("rig", &[]),
    ("xtask", ALL),
];

const LIFECYCLE: &[&str] = &[
    "events",
    "engine",
    "report",
    "spec",
    "peers",
    "objects",
    "talos-proto",
    "talos",
    "clouds",
    "addons",
];

/// The command line binds everything together; xtask measures and documents
/// everything. Neither is depended on.
const ALL: &[&str] = &[
    "events",
    "engine",
    "report",
    "spec",
    "peers",
    "objects",
    "talos-proto",
    "talos",
    "clouds",
    "addons",
    "lifecycle",
    "sim",
    "tfplugin",
    "platform",
    "e2e",
    "rig",
];

/// What the tests of any crate may use besides.
const FOR_TESTS: &[&str] = &["rig", "sim"];

/// These build in the first minute and are tested without a cluster.
const PURE: &[&str] = &["events", "engine", "report", "spec"];

/// Names, or beginnings of names, that the pure crates must not reach.
const HEAVY: &[&str] = &["kube", "k8s-openapi", "tonic"];

#[test]
fn the_borders_hold() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ours = members(&metadata);
    assert!(ours.contains_key("events") && ours.contains_key("xtask"), "{ours:?}");
    assert_eq!(violations(&metadata), Vec::<String>::new());
}

/// Returns the workspace's crates: name to id.
fn members(metadata: &Value) -> BTreeMap<&str, &str> {
    let ids: BTreeSet<&str> = strings(&metadata["workspace_members"]).collect();
    packages(metadata).filter(|(_, id)| ids.contains(id)).collect()
}

fn packages(metadata: &Value) -> impl Iterator<Item = (&str, &str)> {
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.map(|package| (package["name"].as_str().unwrap(), package["id"].as_str().unwrap()))
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().unwrap().iter().map(|item| item.as_str().unwrap())
}

fn violations(metadata: &Value) -> Vec<String> {
    let ours = members(metadata);
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        if ours.contains_key(name) {
            found.extend(own_violations(package, name, &ours));
        }
    }
    for name in PURE.iter().filter(|name| ours.contains_key(*name)) {
        let reached = reach(metadata, ours[name]);
        let heavy = reached.iter().filter(|reached| HEAVY.iter().any(|heavy| is(heavy, reached)));
        found.extend(heavy.map(|heavy| format!("{name} must compile without {heavy}")));
    }
    found
}

fn is(heavy: &str, name: &str) -> bool {
    name == heavy || name.strip_prefix(heavy).is_some_and(|rest| rest.starts_with('-'))
}

/// Checks one crate of ours against its line in the table.
fn own_violations(package: &Value, name: &str, ours: &BTreeMap<&str, &str>) -> Vec<String> {
    let Some((_, allowed)) = TABLE.iter().find(|(crate_name, _)| *crate_name == name) else {
        return vec![format!("{name} is not in the table of crates")];
    };
    let dependencies = package["dependencies"].as_array().unwrap().iter();
    dependencies
        .map(|dependency| (dependency["name"].as_str().unwrap(), &dependency["kind"]))
        .filter(|(on, _)| ours.contains_key(on) && !allowed.contains(on))
        .filter(|(on, kind)| !(*kind == "dev" && FOR_TESTS.contains(on)))
        .map(|(on, _)| format!("{name} may not depend on {on}"))
        .collect()
}

/// Returns the names of all that a crate reaches without its tests.
fn reach<'a>(metadata: &'a Value, from: &'a str) -> BTreeSet<&'a str> {
    let names: BTreeMap<&str, &str> = packages(metadata).map(|(name, id)| (id, name)).collect();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        let Some(node) = nodes.iter().find(|node| node["id"] == id) else {
            continue;
        };
        for dependency in node["deps"].as_array().unwrap() {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            let id = dependency["pkg"].as_str().unwrap();
            if kinds.iter().any(|kind| kind["kind"] != "dev") && reached.insert(id) {
                open.push(id);
            }
        }
    }
    reached.into_iter().map(|id| names[id]).collect()
}

/// A workspace of one crate that depends on others: name, kind.
fn workspace(name: &str, dependencies: &[(&str, Value)]) -> Value {
    let packages: Vec<Value> = dependencies
        .iter()
        .map(|(on, _)| json!({ "name": on, "id": on, "dependencies": [] }))
        .chain([json!({
            "name": name, "id": name,
            "dependencies": dependencies.iter()
                .map(|(on, kind)| json!({ "name": on, "kind": kind })).collect::<Vec<_>>(),
        })])
        .collect();
    let own: Vec<&str> = TABLE.iter().map(|(own, _)| *own).chain([name]).collect();
    let deps: Vec<Value> = dependencies
        .iter()
        .map(|(on, kind)| json!({ "pkg": on, "dep_kinds": [{ "kind": kind }] }))
        .collect();
    json!({
        "packages": packages,
        "workspace_members": own,
        "resolve": { "nodes": [{ "id": name, "deps": deps }] },
    })
}

#[test]
fn a_crate_without_a_place_is_found() {
    let found = violations(&workspace("common", &[]));
    assert_eq!(found, ["common is not in the table of crates"]);
}

#[test]
fn a_border_that_is_crossed_is_found() {
    let found = violations(&workspace("sim", &[("talos", Value::Null)]));
    assert_eq!(found, ["sim may not depend on talos"]);
    let found = violations(&workspace("sim", &[("talos", json!("dev"))]));
    assert_eq!(found, ["sim may not depend on talos"]);
    assert!(violations(&workspace("talos", &[("sim", json!("dev"))])).is_empty());
    let found = violations(&workspace("talos", &[("sim", Value::Null)]));
    assert_eq!(found, ["talos may not depend on sim"]);
}

#[test]
fn a_pure_crate_that_reaches_kubernetes_is_found() {
    let found = violations(&workspace("engine", &[("kube-client", Value::Null)]));
    assert_eq!(found, ["engine must compile without kube-client"]);
    assert!(violations(&workspace("engine", &[("kube", json!("dev"))])).is_empty());
    assert!(violations(&workspace("engine", &[("kubernetes", Value::Null)])).is_empty());
}
