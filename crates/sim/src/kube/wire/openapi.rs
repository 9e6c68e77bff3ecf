//! As much of `/openapi/v3` as clients need to know that the server itself
//! checks fields: the paths of patches and their parameters, and no schemas.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::kube::resource::Resource;

/// Returns the index, by group and version.
pub(super) fn index(resources: &[Arc<Resource>]) -> Value {
    let mut paths = Map::new();
    for one in resources {
        for version in &one.versions {
            let path = root(&one.key.group, &version.name);
            let address = json!({ "serverRelativeURL": format!("/openapi/v3/{path}") });
            paths.insert(path, address);
        }
    }
    json!({ "paths": paths })
}

/// Returns the document of one group and version, if it is served.
pub(super) fn document(resources: &[Arc<Resource>], path: &str) -> Option<Value> {
    let mut paths = Map::new();
    for one in resources {
        let version =
            one.versions.iter().find(|version| root(&one.key.group, &version.name) == path);
        if let Some(version) = version {
            let home = if one.is_namespaced() { "namespaces/{namespace}/" } else { "" };
            let at = format!("/{path}/{home}{}/{{name}}", one.key.plural);
            paths.insert(at, json!({ "patch": patch(one, &version.name) }));
        }
    }
    let info = json!({ "title": "Kubernetes", "version": "simulated" });
    (!paths.is_empty()).then(|| json!({ "openapi": "3.0.0", "info": info, "paths": paths, "components": { "schemas": {} } }))
}

fn patch(one: &Resource, version: &str) -> Value {
    let parameter = |name: &str| json!({ "name": name, "in": "query", "schema": { "type": "string", "uniqueItems": true } });
    let names = ["dryRun", "fieldManager", "fieldValidation", "force"];
    json!({
        "parameters": names.map(parameter),
        "requestBody": { "content": {
            "application/apply-patch+yaml": {}, "application/json-patch+json": {},
            "application/merge-patch+json": {},
        } },
        "responses": { "200": { "description": "OK" } },
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": { "group": one.key.group, "kind": one.kind, "version": version },
    })
}

fn root(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}
