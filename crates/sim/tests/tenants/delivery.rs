//! Flux, and APIs that others serve.

use serde_json::{Value, json};
use sim::tenants::Knobs;

use crate::cluster::{Cluster, condition, deployment, status_of};

const URL: &str = "ssh://git@example.com/fleet";
const COMMIT: &str = "4be1f0c2a9d3e8b7c6a5f4e3d2c1b0a998877665";

async fn define(cluster: &Cluster, group: &str, kind: &str, plural: &str) {
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let schema = json!({ "type": "object", "properties": { "spec": open, "status": open } });
    let names = json!({ "kind": kind, "listKind": format!("{kind}List"), "plural": plural,
        "singular": kind.to_lowercase() });
    let version = json!({ "name": "v1", "served": true, "storage": true,
        "subresources": { "status": {} }, "schema": { "openAPIV3Schema": schema } });
    let definition = json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": { "group": group, "scope": "Namespaced", "names": names, "versions": [version] } });
    cluster.put(definition).await;
}

/// A cluster with Flux and its root objects, and names.
async fn flux() -> Cluster {
    let cluster = Cluster::with_nodes(1).await;
    define(&cluster, "source.toolkit.fluxcd.io", "GitRepository", "gitrepositories").await;
    define(&cluster, "kustomize.toolkit.fluxcd.io", "Kustomization", "kustomizations").await;
    for name in ["source-controller", "kustomize-controller"] {
        cluster.put(deployment("default", name, &json!({ "app": name }))).await;
    }
    cluster
        .put(json!({ "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
            "metadata": { "name": "flux-system", "namespace": "default" },
            "spec": { "url": URL, "ref": { "branch": "main" }, "interval": "1m0s" } }))
        .await;
    cluster
        .put(json!({ "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": { "name": "flux-system", "namespace": "default" },
            "spec": { "path": "./", "prune": true, "interval": "10m0s",
                "sourceRef": { "kind": "GitRepository", "name": "flux-system" } } }))
        .await;
    cluster
}

fn heads(commit: &str) -> Knobs {
    let head = ((URL.to_owned(), "main".to_owned()), commit.to_owned());
    Knobs { heads: [head].into(), ..Knobs::default() }
}

#[tokio::test]
async fn a_branch_is_fetched_and_applied_and_followed() {
    let cluster = flux().await;
    let unknown = |one: &Value| {
        let message = condition(one, "Ready")["message"].as_str().unwrap_or_default();
        message.ends_with("unable to clone 'ssh://git@example.com/fleet': repository not found")
    };
    let kind = "gitrepositories.source.toolkit.fluxcd.io";
    let repository = cluster.sees(kind, "default", "flux-system", unknown).await;
    assert_eq!(status_of(&repository, "Ready"), "False");
    let commits = [COMMIT, "0000000000000000000000000000000000000001"];
    for commit in commits {
        cluster.tenants.turn(|knobs| *knobs = heads(commit));
        let revision = format!("main@sha1:{commit}");
        let at = |one: &Value| one["status"]["lastAppliedRevision"] == revision;
        let kind = "kustomizations.kustomize.toolkit.fluxcd.io";
        let applied = cluster.sees(kind, "default", "flux-system", at).await;
        assert_eq!(status_of(&applied, "Ready"), "True");
        assert_eq!(applied["status"]["observedGeneration"], applied["metadata"]["generation"]);
        assert!(applied["status"]["inventory"]["entries"][0]["id"].is_string());
    }
    let repository = cluster.get(kind, "default", "flux-system").unwrap();
    assert_eq!(status_of(&repository, "FetchFailed"), "");
    assert_eq!(status_of(&repository, "ArtifactInStorage"), "True");
    cluster.tenants.turn(|knobs| knobs.names_outside_fail = true);
    let lost = |one: &Value| {
        let message = condition(one, "Ready")["message"].as_str().unwrap_or_default();
        message.ends_with("lookup example.com on 10.96.0.10:53: server misbehaving")
    };
    cluster.sees(kind, "default", "flux-system", lost).await;
}

#[tokio::test]
async fn what_a_repository_holds_is_applied() {
    let cluster = flux().await;
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "settings", "namespace": "app" }, "data": { "port": "80" } });
    let home = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "app" } });
    let unknown = json!({ "apiVersion": "example.com/v1", "kind": "Thing",
        "metadata": { "name": "a", "namespace": "app" } });
    let kind = "kustomizations.kustomize.toolkit.fluxcd.io";
    cluster.tenants.turn(|knobs| {
        *knobs = heads(COMMIT);
        knobs.manifests.insert(URL.to_owned(), vec![unknown, map.clone(), home.clone()]);
    });
    let refused = |one: &Value| condition(one, "Ready")["reason"] == "ReconciliationFailed";
    let failed = cluster.sees(kind, "default", "flux-system", refused).await;
    let message = condition(&failed, "Ready")["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("Thing/app/a dry-run failed: "), "{message}");
    assert_eq!(failed["status"]["lastAppliedRevision"], Value::Null);
    define(&cluster, "example.com", "Thing", "things").await;
    let applied = |one: &Value| status_of(one, "Ready") == "True";
    let applied = cluster.sees(kind, "default", "flux-system", applied).await;
    let entries = applied["status"]["inventory"]["entries"].as_array().unwrap();
    let ids: Vec<_> = entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    let root = "default_flux-system_kustomize.toolkit.fluxcd.io_Kustomization";
    assert_eq!(
        ids,
        ["_app__Namespace", "app_a_example.com_Thing", "app_settings__ConfigMap", root]
    );
    let made = cluster.get("configmaps", "app", "settings").unwrap();
    assert_eq!(made["data"]["port"], "80");
}

#[tokio::test]
async fn a_source_without_its_secret_is_not_fetched() {
    let cluster = flux().await;
    cluster.tenants.turn(|knobs| *knobs = heads(COMMIT));
    cluster
        .put(json!({ "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
            "metadata": { "name": "private", "namespace": "default" },
            "spec": { "url": URL, "ref": { "branch": "main" }, "secretRef": { "name": "key" } } }))
        .await;
    let refused = |one: &Value| condition(one, "Ready")["reason"] == "AuthenticationFailed";
    cluster.sees("gitrepositories.source.toolkit.fluxcd.io", "default", "private", refused).await;
}

#[tokio::test]
async fn an_api_is_available_while_its_pod_is_ready() {
    let cluster = Cluster::with_nodes(1).await;
    let api = json!({ "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": { "name": "v1beta1.metrics.k8s.io" },
        "spec": { "group": "metrics.k8s.io", "version": "v1beta1",
            "service": { "name": "metrics-server", "namespace": "kube-system", "port": 443 } } });
    cluster.put(api).await;
    let says =
        |reason: &'static str| move |api: &Value| condition(api, "Available")["reason"] == reason;
    let (kind, name) = ("apiservices.apiregistration.k8s.io", "v1beta1.metrics.k8s.io");
    cluster.sees(kind, "", name, says("ServiceNotFound")).await;
    let labels = json!({ "app.kubernetes.io/name": "metrics-server" });
    cluster
        .put(json!({ "apiVersion": "v1", "kind": "Service",
            "metadata": { "name": "metrics-server", "namespace": "kube-system" },
            "spec": { "selector": labels,
                "ports": [{ "name": "https", "port": 443, "targetPort": "http" }] } }))
        .await;
    cluster.sees(kind, "", name, says("MissingEndpoints")).await;
    cluster.put(deployment("kube-system", "metrics-server", &labels)).await;
    let api = cluster.sees(kind, "", name, says("Passed")).await;
    assert_eq!(status_of(&api, "Available"), "True");
    cluster.delete("deployments.apps", "kube-system", "metrics-server");
    let api = cluster.sees(kind, "", name, says("MissingEndpoints")).await;
    assert_eq!(status_of(&api, "Available"), "False");
}
