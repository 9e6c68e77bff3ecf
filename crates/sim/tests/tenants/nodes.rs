//! Network and cloud on the nodes.

use serde_json::{Value, json};
use sim::kube::kubelet::Trouble;

use crate::cluster::{Cluster, condition, deployment, status_of};

const CILIUM: &str = "node.cilium.io/agent-not-ready";
const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";

fn has_taint(node: &Value, key: &str) -> bool {
    let taints = node["spec"]["taints"].as_array();
    taints.is_some_and(|list| list.iter().any(|taint| taint["key"] == key))
}

fn controller() -> Value {
    let name = "hcloud-cloud-controller-manager";
    deployment("kube-system", name, &json!({ "app.kubernetes.io/name": name }))
}

fn token() -> Value {
    json!({ "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": "hcloud", "namespace": "kube-system" },
        "stringData": { "token": "t", "network": "demo" } })
}

#[tokio::test]
async fn an_agent_brings_the_network_to_its_own_node_only() {
    let mut cluster = Cluster::with_nodes(1).await;
    cluster.join(2, Trouble { no_network_plugin: true, ..Trouble::default() });
    let there = |node: &Value| !has_taint(node, CILIUM);
    let node = cluster.sees("nodes", "", "node-1", there).await;
    assert_eq!(condition(&node, "NetworkUnavailable")["reason"], "CiliumIsUp");
    cluster.sees("nodes", "", "node-2", |_| true).await;
    cluster.settle().await;
    let other = cluster.get("nodes", "", "node-2").unwrap();
    assert!(has_taint(&other, CILIUM));
    assert_eq!(status_of(&other, "NetworkUnavailable"), "");
    assert_eq!(status_of(&other, "Ready"), "False");
}

#[tokio::test]
async fn the_cloud_controller_makes_servers_of_nodes() {
    let cluster = Cluster::with_nodes(2).await;
    cluster.settle().await;
    let waiting = cluster.get("nodes", "", "node-1").unwrap();
    assert!(has_taint(&waiting, UNINITIALIZED), "nobody has initialised it");
    cluster.put(token()).await;
    cluster.put(controller()).await;
    let done = |node: &Value| !has_taint(node, UNINITIALIZED);
    let node = cluster.sees("nodes", "", "node-2", done).await;
    assert_eq!(node["spec"]["providerID"], "hcloud://4002");
    assert_eq!(
        node["status"]["addresses"],
        json!([{ "type": "Hostname", "address": "node-2" },
            { "type": "InternalIP", "address": "10.0.64.2" },
            { "type": "ExternalIP", "address": "127.0.0.9" }])
    );
    let labels = &node["metadata"]["labels"];
    assert_eq!(labels["topology.kubernetes.io/region"], "fsn1");
    assert_eq!(labels["node.kubernetes.io/instance-type"], "cax11");
    assert_eq!(labels["instance.hetzner.cloud/provided-by"], "cloud");
    cluster.sees("nodes", "", "node-1", done).await;
    let routes = || (cluster.project.held().routes.len() == 2).then_some(());
    cluster.until("a route to every node's pods", routes).await;
    let held = cluster.project.held();
    assert_eq!(held.routes[&"10.244.2.0/24".parse().unwrap()].to_string(), "10.0.64.2");
}

#[tokio::test]
async fn without_its_network_the_cloud_controller_does_nothing() {
    let cluster = Cluster::with_nodes(1).await;
    cluster.put(controller()).await;
    let running = |one: &Value| one["status"]["readyReplicas"] == 1;
    cluster
        .sees("deployments.apps", "kube-system", "hcloud-cloud-controller-manager", running)
        .await;
    cluster.settle().await;
    assert!(has_taint(&cluster.get("nodes", "", "node-1").unwrap(), UNINITIALIZED));
    assert!(cluster.project.held().routes.is_empty());
}

#[tokio::test]
async fn a_node_without_a_server_stays_uninitialised() {
    let mut cluster = Cluster::with_nodes(1).await;
    cluster.put(token()).await;
    cluster.put(controller()).await;
    cluster.sees("nodes", "", "node-1", |node| !has_taint(node, UNINITIALIZED)).await;
    cluster.join(2, Trouble::default());
    cluster.project.held().servers.remove("node-2");
    cluster.sees("nodes", "", "node-2", |node| status_of(node, "Ready") == "True").await;
    cluster.settle().await;
    assert!(has_taint(&cluster.get("nodes", "", "node-2").unwrap(), UNINITIALIZED));
}
