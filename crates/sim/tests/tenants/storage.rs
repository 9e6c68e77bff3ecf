//! Volumes.

use serde_json::{Value, json};
use sim::kube::kubelet::Trouble;

use crate::cluster::{Cluster, condition, daemon_set, deployment};

fn labels(component: &str) -> Value {
    json!({ "app.kubernetes.io/name": "hcloud-csi", "app.kubernetes.io/component": component })
}

fn claim() -> Value {
    json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "name": "probe", "namespace": "default" },
        "spec": { "accessModes": ["ReadWriteOnce"], "storageClassName": "hcloud-volumes",
            "resources": { "requests": { "storage": "10Gi" } } } })
}

/// A pod that writes to the volume, reads from it, and ends.
fn pod() -> Value {
    let container = |name: &str| {
        json!({ "name": name, "image": "busybox", "command": ["/bin/sh", "-ec", "true"],
            "volumeMounts": [{ "name": "volume", "mountPath": "/volume" }] })
    };
    json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "probe", "namespace": "default" },
        "spec": { "restartPolicy": "Never", "tolerations": [{ "operator": "Exists" }],
            "initContainers": [container("write")], "containers": [container("read")],
            "volumes": [{ "name": "volume", "persistentVolumeClaim": { "claimName": "probe" } }] } })
}

async fn install(cluster: &Cluster) {
    let class = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "metadata": { "name": "hcloud-volumes" }, "provisioner": "csi.hetzner.cloud",
        "volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Delete" });
    cluster.put(class).await;
    cluster.put(daemon_set("hcloud-csi-node", &labels("node"))).await;
    cluster.put(deployment("kube-system", "hcloud-csi-controller", &labels("controller"))).await;
    let ready = |one: &Value| one["status"]["readyReplicas"] == 1;
    cluster.sees("deployments.apps", "kube-system", "hcloud-csi-controller", ready).await;
}

fn lists_driver(node: &Value) -> bool {
    node["spec"]["drivers"][0]["name"] == "csi.hetzner.cloud"
}

#[tokio::test]
async fn a_volume_is_made_used_detached_and_deleted() {
    let cluster = Cluster::with_nodes(2).await;
    install(&cluster).await;
    for node in ["node-1", "node-2"] {
        cluster.sees("csinodes.storage.k8s.io", "", node, lists_driver).await;
    }
    cluster.put(claim()).await;
    cluster.settle().await;
    let waiting = cluster.get("persistentvolumeclaims", "default", "probe").unwrap();
    assert_eq!(waiting["status"]["phase"], "Pending", "no pod needs it yet");
    assert!(cluster.project.held().volumes.is_empty());

    cluster.put(pod()).await;
    let done = |pod: &Value| pod["status"]["phase"] == "Succeeded";
    let pod = cluster.sees("pods", "default", "probe", done).await;
    let wrote = &pod["status"]["initContainerStatuses"][0];
    assert_eq!(wrote["state"]["terminated"]["exitCode"], 0);
    let claim = cluster.get("persistentvolumeclaims", "default", "probe").unwrap();
    assert_eq!(claim["status"]["phase"], "Bound");
    let name = claim["spec"]["volumeName"].as_str().unwrap().to_owned();
    assert_eq!(name, format!("pvc-{}", claim["metadata"]["uid"].as_str().unwrap()));
    {
        let held = cluster.project.held();
        let (order, _) = held.volumes.values().next().unwrap();
        assert_eq!((order.size, order.location.as_str()), (10, "fsn1"));
        assert_eq!(order.labels["managed-by"], "csi-driver");
        assert_eq!(order.labels["pvc-name"], "probe");
        assert_eq!(order.labels["pvc-namespace"], "default");
        assert_eq!(order.labels["pv-name"], name);
    }
    let selected = &claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"];
    assert_eq!(*selected, pod["spec"]["nodeName"]);

    cluster.delete("pods", "default", "probe");
    cluster.delete("persistentvolumeclaims", "default", "probe");
    let gone = || cluster.get("persistentvolumes", "", &name).is_none().then_some(());
    cluster.until("the volume is gone", gone).await;
    let held = cluster.project.held();
    assert!(held.volumes.is_empty());
    assert_eq!(held.diary, ["create", "attach", "detach", "delete"]);
}

#[tokio::test]
async fn without_the_controller_a_claim_waits() {
    let cluster = Cluster::with_nodes(1).await;
    install(&cluster).await;
    cluster.delete("deployments.apps", "kube-system", "hcloud-csi-controller");
    cluster.settle().await;
    cluster.put(claim()).await;
    cluster.put(pod()).await;
    cluster.settle().await;
    let pod = cluster.get("pods", "default", "probe").unwrap();
    assert_eq!(pod["status"]["phase"], "Pending");
    assert!(cluster.project.held().volumes.is_empty());
}

#[tokio::test]
async fn a_node_without_the_plugin_gets_no_volume() {
    let mut cluster = Cluster::with_nodes(0).await;
    cluster.join(1, Trouble { no_storage_plugin: true, ..Trouble::default() });
    install(&cluster).await;
    cluster.put(claim()).await;
    cluster.put(pod()).await;
    let complaint = || {
        let events = cluster.kube.all(&sim::kube::Key::core("events"), "default");
        events.into_iter().find(|event| event["reason"] == "ProvisioningFailed")
    };
    let event = cluster.until("a complaint", complaint).await;
    let message = event["message"].as_str().unwrap();
    assert!(message.ends_with("no topology key found on CSINode node-1"), "{message}");
    cluster.settle().await;
    let event = complaint().unwrap();
    assert_eq!(event["count"], 1, "it is said once");
}

#[tokio::test]
async fn a_pod_whose_claim_is_missing_has_no_node() {
    let cluster = Cluster::with_nodes(1).await;
    cluster.put(pod()).await;
    let refused = |pod: &Value| condition(pod, "PodScheduled")["status"] == "False";
    let pod = cluster.sees("pods", "default", "probe", refused).await;
    let message = condition(&pod, "PodScheduled")["message"].as_str().unwrap();
    assert!(message.contains("persistentvolumeclaim \"probe\" not found"), "{message}");
}

#[tokio::test]
async fn a_pod_that_serves_stays_and_one_that_works_ends() {
    let cluster = Cluster::with_nodes(1).await;
    let pod = |name: &str, more: Value| {
        let mut container = json!({ "name": "it", "image": "it" });
        for (key, value) in more.as_object().unwrap() {
            container[key] = value.clone();
        }
        json!({ "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": name, "namespace": "default" },
            "spec": { "restartPolicy": "Never", "tolerations": [{ "operator": "Exists" }],
                "containers": [container] } })
    };
    cluster.put(pod("works", json!({}))).await;
    cluster.put(pod("serves", json!({ "ports": [{ "containerPort": 8080 }] }))).await;
    let over = |pod: &Value| pod["status"]["phase"] == "Succeeded";
    cluster.sees("pods", "default", "works", over).await;
    let ready = |pod: &Value| condition(pod, "Ready")["status"] == "True";
    cluster.sees("pods", "default", "serves", ready).await;
    cluster.settle().await;
    assert_eq!(cluster.get("pods", "default", "serves").unwrap()["status"]["phase"], "Running");
}
