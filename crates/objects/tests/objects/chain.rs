//! Reasons, as the real controllers leave them behind.

use std::time::Duration;

use objects::{Chain, ObjectId, Status};
use serde_json::{Value, json};

use crate::harbour::{Harbour, PATIENCE};

fn deployment(harbour: &Harbour, image: &str) -> objects::Object {
    let spec = json!({ "replicas": 1, "selector": { "matchLabels": { "app": "web" } },
        "template": { "metadata": { "labels": { "app": "web" } }, "spec": {
            "containers": [{ "name": "app", "image": image }] } } });
    harbour.object("apps/v1", "Deployment", "web", json!({ "spec": spec }))
}

#[expect(clippy::disallowed_methods, reason = "a test waits for the real control plane")]
async fn until(harbour: &Harbour, id: &ObjectId, wanted: impl Fn(&Chain) -> bool) -> Vec<String> {
    let poll = async {
        loop {
            let chain = harbour.cluster.why(id).await.unwrap();
            if wanted(&chain) {
                return chain.lines();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, poll).await.expect("the reason becomes known")
}

#[tokio::test]
async fn a_deployment_that_no_node_takes_is_unschedulable() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let web = deployment(&harbour, "example.test/web");
    harbour.apply(&web).await.unwrap();
    let lines = until(&harbour, web.id(), |chain| {
        chain.links.len() >= 3
            && chain.links[0].says.contains("available")
            && chain.links[2].says.contains("Unschedulable")
    })
    .await;
    assert_eq!(lines[0], "deployment web: 0 of 1 pods are available");
    assert!(lines[1].starts_with("replicaset web-"), "{lines:?}");
    // Another test may have a node here for a moment, which is not ready.
    let is_told = ["no nodes available", "0/1 nodes are available"];
    assert!(is_told.iter().any(|words| lines[2].contains(words)), "{lines:?}");
    let absent = Harbour::kind("v1", "Pod").named(Some(harbour.namespace.name()), "nobody");
    let chain = harbour.cluster.why(&absent).await.unwrap();
    assert!(chain.lines()[0].ends_with(": it is not there"), "{chain:?}");
}

#[tokio::test]
async fn a_quota_is_found_behind_a_deployment_without_pods() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let hard = json!({ "spec": { "hard": { "pods": "0" } } });
    let quota = harbour.object("v1", "ResourceQuota", "none", hard);
    harbour.apply(&quota).await.unwrap();
    harbour.until(quota.id(), |quota| quota.at("/status/hard").is_some()).await;
    let web = deployment(&harbour, "example.test/web");
    harbour.apply(&web).await.unwrap();
    let lines = until(&harbour, web.id(), |chain| {
        chain.links.iter().any(|link| link.says.contains("exceeded quota"))
    })
    .await;
    assert!(lines[0].starts_with("deployment web: "), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("replicaset web-")), "{lines:?}");
}

#[tokio::test]
async fn a_claim_without_its_class_says_so() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let spec = json!({ "storageClassName": "no-such-class", "accessModes": ["ReadWriteOnce"],
        "resources": { "requests": { "storage": "1Gi" } } });
    let claim = harbour.object("v1", "PersistentVolumeClaim", "data", json!({ "spec": spec }));
    harbour.apply(&claim).await.unwrap();
    let lines = until(&harbour, claim.id(), |chain| chain.links.len() == 3).await;
    assert_eq!(lines[0], "persistentvolumeclaim data: it has no volume yet");
    assert_eq!(lines[1], "storageclass no-such-class: it is not there");
    assert!(lines[2].contains("\"no-such-class\" not found"), "{lines:?}");
}

#[tokio::test]
async fn a_container_s_state_is_found_below_its_pod() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let web = deployment(&harbour, "example.test/web:missing");
    harbour.apply(&web).await.unwrap();
    let name = until(&harbour, web.id(), |chain| chain.links.len() >= 3).await[2].clone();
    let name = name.split([' ', ':']).nth(1).unwrap().to_owned();
    // No kubelet runs here: the test writes what one would.
    let state = json!({ "status": { "phase": "Pending", "containerStatuses": [{
        "name": "app", "image": "x", "imageID": "", "ready": false, "restartCount": 0,
        "state": { "waiting": { "reason": "ErrImagePull", "message": "no such host" } } }] } });
    let pod = Harbour::kind("v1", "Pod").named(Some(harbour.namespace.name()), &name);
    patch_status(&harbour, &name, &state);
    let live = harbour.cluster.get(&pod).await.unwrap().unwrap();
    assert!(matches!(Status::of(&live), Status::Failed { .. }), "{}", Status::of(&live));
    let lines = until(&harbour, web.id(), |chain| chain.links.len() >= 4).await;
    assert_eq!(lines[3], "container app: ErrImagePull: no such host");
}

fn patch_status(harbour: &Harbour, pod: &str, state: &Value) {
    let patch = state.to_string();
    harbour.kubectl(&["patch", "pod", pod, "--subresource=status", "--type=merge", "-p", &patch]);
}

#[tokio::test]
async fn what_a_kubelet_says_of_its_node_is_found_under_the_node_s_name() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let name = format!("node-{}", harbour.namespace.name());
    let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } });
    let node = objects::Object::new(node).unwrap();
    harbour.apply(&node).await.unwrap();
    let conditions = json!({ "status": { "conditions": [{ "type": "Ready", "status": "False",
        "reason": "KubeletNotReady", "message": "no runtime" }] } });
    let patch = conditions.to_string();
    let status = ["patch", "node", &name, "--subresource=status", "--type=merge", "-p", &patch];
    harbour.kubectl(&status);
    // The kubelet does not know the uid of its node, and writes the name there.
    let event = json!({ "apiVersion": "v1", "kind": "Event",
        "metadata": { "name": name, "namespace": "default" }, "type": "Warning",
        "reason": "InvalidDiskCapacity", "message": "invalid capacity 0 on image filesystem",
        "involvedObject": { "kind": "Node", "name": name, "uid": name },
        "lastTimestamp": "2026-01-01T00:00:00Z" });
    harbour.namespace.kubectl().apply(&event.to_string()).unwrap();
    let lines = harbour.cluster.why(node.id()).await.unwrap().lines();
    let said = "event: InvalidDiskCapacity: invalid capacity 0 on image filesystem";
    assert!(lines.iter().any(|line| line == said), "{lines:?}");
    harbour.kubectl(&["delete", "node", &name]);
    harbour.namespace.kubectl().run(&["-n", "default", "delete", "event", &name]).unwrap();
}
