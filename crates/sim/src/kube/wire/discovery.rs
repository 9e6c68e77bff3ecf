//! The documents by which clients learn what is served.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::kube::resource::{Resource, api_version};

const VERBS: &[&str] =
    &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// Returns `/version`. What built it says what it is: no client decides by
/// that, and whoever looks at a cluster can tell that nothing of it is real.
pub(super) fn version(version: &str) -> Value {
    let mut numbers = version.trim_start_matches('v').split('.');
    let (major, minor) = (numbers.next(), numbers.next());
    json!({
        "major": major, "minor": minor, "gitVersion": version, "gitCommit": "",
        "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "",
        "compiler": "simulated", "platform": "linux/amd64",
    })
}

/// Returns `/api`.
pub(super) fn core() -> Value {
    json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] })
}

/// Returns `/apis`.
pub(super) fn groups(resources: &[Arc<Resource>]) -> Value {
    let names = names(resources).into_iter().filter(|name| !name.is_empty());
    let groups: Vec<Value> = names.map(|name| group_of(resources, &name)).collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// Returns `/apis/{group}`, if the group is served.
pub(super) fn group(resources: &[Arc<Resource>], name: &str) -> Option<Value> {
    resources.iter().any(|one| one.key.group == name).then(|| {
        let mut group = group_of(resources, name);
        group["kind"] = json!("APIGroup");
        group["apiVersion"] = json!("v1");
        group
    })
}

fn group_of(resources: &[Arc<Resource>], name: &str) -> Value {
    let version = |version: &String| json!({ "groupVersion": api_version(name, version), "version": version });
    let versions: Vec<Value> = versions(resources, name).iter().map(version).collect();
    json!({ "name": name, "versions": versions, "preferredVersion": versions.first() })
}

/// Returns `/apis/{group}/{version}`, if it is served.
pub(super) fn kinds(resources: &[Arc<Resource>], group: &str, version: &str) -> Option<Value> {
    let mut rows = Vec::new();
    for one in served(resources, group, version) {
        let mut row = json!({
            "name": one.key.plural, "singularName": one.singular, "kind": one.kind,
            "namespaced": one.is_namespaced(), "verbs": VERBS,
        });
        if !one.short_names.is_empty() {
            row["shortNames"] = json!(one.short_names);
        }
        if !one.categories.is_empty() {
            row["categories"] = json!(one.categories);
        }
        rows.push(row);
        for part in &one.subresources {
            let (group, version, kind, verbs) = part_kind(one, part);
            let mut row = json!({ "name": format!("{}/{part}", one.key.plural), "singularName": "",
                "namespaced": one.is_namespaced(), "kind": kind, "verbs": verbs });
            if let (Some(group), Some(version)) = (group, version) {
                row["group"] = json!(group);
                row["version"] = json!(version);
            }
            rows.push(row);
        }
    }
    (!rows.is_empty()).then(|| {
        json!({ "kind": "APIResourceList", "apiVersion": "v1",
            "groupVersion": api_version(group, version), "resources": rows })
    })
}

/// Returns everything of `/api` or of `/apis` in one document.
pub(super) fn aggregated(resources: &[Arc<Resource>], core: bool) -> Value {
    let wanted = names(resources).into_iter().filter(|name| name.is_empty() == core);
    let groups = wanted.map(|group| {
        let all = versions(resources, &group);
        let versions = all.iter().map(|version| {
            let kinds: Vec<Value> = served(resources, &group, version)
                .map(|one| aggregated_kind(one, &group, version))
                .collect();
            json!({ "version": version, "resources": kinds, "freshness": "Current" })
        });
        let versions: Vec<Value> = versions.collect();
        json!({ "metadata": { "name": group, "creationTimestamp": null }, "versions": versions })
    });
    let groups: Vec<Value> = groups.collect();
    json!({ "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
        "items": groups })
}

fn aggregated_kind(one: &Resource, group: &str, version: &str) -> Value {
    let parts = one.subresources.iter().map(|part| {
        let (part_group, part_version, kind, verbs) = part_kind(one, part);
        json!({ "subresource": part, "verbs": verbs, "responseKind": {
            "group": part_group.unwrap_or(group), "version": part_version.unwrap_or(version), "kind": kind } })
    });
    let parts: Vec<Value> = parts.collect();
    let mut row = json!({
        "resource": one.key.plural, "singularResource": one.singular, "verbs": VERBS,
        "responseKind": { "group": group, "version": version, "kind": one.kind },
        "scope": if one.is_namespaced() { "Namespaced" } else { "Cluster" },
        "subresources": parts,
    });
    if !one.short_names.is_empty() {
        row["shortNames"] = json!(one.short_names);
    }
    if !one.categories.is_empty() {
        row["categories"] = json!(one.categories);
    }
    row
}

type PartKind<'a> = (Option<&'a str>, Option<&'a str>, &'a str, &'a [&'a str]);

/// Returns group, version, kind and verbs of a part of an object.
fn part_kind<'a>(one: &'a Resource, part: &str) -> PartKind<'a> {
    const CHANGE: &[&str] = &["get", "patch", "update"];
    match part {
        "scale" => (Some("autoscaling"), Some("v1"), "Scale", CHANGE),
        "eviction" => (Some("policy"), Some("v1"), "Eviction", &["create"]),
        "binding" => (None, None, "Binding", &["create"]),
        "token" => (Some("authentication.k8s.io"), Some("v1"), "TokenRequest", &["create"]),
        "finalize" => (None, None, &one.kind, &["update"]),
        "log" => (None, None, &one.kind, &["get"]),
        "attach" | "exec" | "portforward" | "proxy" => (None, None, &one.kind, &["create", "get"]),
        _ => (None, None, &one.kind, CHANGE),
    }
}

fn served<'a>(
    resources: &'a [Arc<Resource>],
    group: &'a str,
    version: &'a str,
) -> impl Iterator<Item = &'a Arc<Resource>> {
    resources.iter().filter(move |one| one.key.group == group && one.version(version).is_some())
}

fn names(resources: &[Arc<Resource>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for one in resources {
        if !names.iter().any(|name| *name == one.key.group) {
            names.push(one.key.group.clone().into_owned());
        }
    }
    names
}

fn versions(resources: &[Arc<Resource>], group: &str) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    for one in resources.iter().filter(|one| one.key.group == group) {
        for version in &one.versions {
            if !versions.contains(&version.name) {
                versions.push(version.name.clone());
            }
        }
    }
    versions
}
