//! Statuses as the real controllers write them.

use std::time::Duration;

use objects::{Object, Status};
use serde_json::{Value, json};

use crate::harbour::Harbour;

fn template(restart: &str) -> Value {
    json!({ "metadata": { "labels": { "app": "a" } }, "spec": { "restartPolicy": restart,
        "containers": [{ "name": "app", "image": "example.test/a" }] } })
}

fn selecting(mut spec: Value) -> Value {
    spec["selector"] = json!({ "matchLabels": { "app": "a" } });
    json!({ "spec": spec })
}

/// An object, its status once the controllers have seen it, and what it says.
type Case = (Object, &'static str, &'static str);

fn word(status: &Status) -> &'static str {
    match status {
        Status::Ready => "ready",
        Status::InProgress { .. } => "in progress",
        Status::Failed { .. } => "failed",
        Status::Terminating { .. } => "terminating",
        Status::Unknown { .. } => "unknown",
    }
}

fn workloads(harbour: &Harbour) -> Vec<Case> {
    let object = |api: &str, kind: &str, body: Value| harbour.object(api, kind, "a", body);
    let job = json!({ "spec": { "suspend": true, "template": template("Never") } });
    let cron = json!({ "spec": { "schedule": "0 0 1 1 *",
        "jobTemplate": { "spec": { "template": template("Never") } } } });
    let deployment = |extra: Value| {
        let mut spec = json!({ "replicas": 1, "template": template("Always") });
        spec.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        selecting(spec)
    };
    let paused = deployment(json!({ "paused": true }));
    let mut late = deployment(json!({ "progressDeadlineSeconds": 2 }));
    late["metadata"]["name"] = "late".into();
    let empty =
        selecting(json!({ "replicas": 0, "serviceName": "a", "template": template("Always") }));
    vec![
        (object("batch/v1", "Job", job), "ready", ""),
        (object("batch/v1", "CronJob", cron), "ready", ""),
        (object("apps/v1", "Deployment", paused), "in progress", "paused"),
        (
            harbour.object("apps/v1", "Deployment", "late", late),
            "failed",
            "ProgressDeadlineExceeded",
        ),
        (object("apps/v1", "StatefulSet", empty), "ready", ""),
    ]
}

fn others(harbour: &Harbour) -> Vec<Case> {
    let object = |api: &str, kind: &str, body: Value| harbour.object(api, kind, "a", body);
    let budget = selecting(json!({ "minAvailable": 1 }));
    let claim = json!({ "spec": { "accessModes": ["ReadWriteOnce"],
        "storageClassName": harbour.namespace.name(),
        "resources": { "requests": { "storage": "1Gi" } } } });
    let service = json!({ "spec": { "type": "LoadBalancer", "ports": [{ "port": 80 }] } });
    let target = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "late" });
    let scaler = json!({ "spec": { "scaleTargetRef": target, "maxReplicas": 3, "metrics": [{
        "type": "Resource", "resource": { "name": "cpu",
            "target": { "type": "Utilization", "averageUtilization": 50 } } }] } });
    vec![
        (object("policy/v1", "PodDisruptionBudget", budget), "ready", ""),
        (object("v1", "PersistentVolumeClaim", claim), "in progress", "it has no volume yet"),
        (object("v1", "Service", service), "in progress", "no address yet"),
        (object("autoscaling/v2", "HorizontalPodAutoscaler", scaler), "in progress", "metric"),
    ]
}

/// Whether its controller has written to it, where it writes at all: nothing
/// serves load balancers here, and nothing is due for the schedule or the claim.
fn is_seen(object: &Object) -> bool {
    let generation = object.at("/metadata/generation");
    match object.kind().kind.as_str() {
        "Deployment" | "StatefulSet" | "PodDisruptionBudget" => {
            object.at("/status/observedGeneration") == generation
        }
        "Job" | "HorizontalPodAutoscaler" => !object.items("/status/conditions").is_empty(),
        _ => true,
    }
}

#[tokio::test]
async fn each_kind_is_judged_by_what_its_controller_says() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let class = Object::new(json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "metadata": { "name": harbour.namespace.name() }, "provisioner": "example.test/none",
        "volumeBindingMode": "WaitForFirstConsumer" }))
    .unwrap();
    harbour.apply(&class).await.unwrap();
    let mut cases = workloads(&harbour);
    cases.extend(others(&harbour));
    for (object, ..) in &cases {
        harbour.apply(object).await.unwrap();
    }
    for (object, wanted, says) in &cases {
        let as_told = |live: &Object| {
            let status = Status::of(live);
            is_seen(live) && word(&status) == *wanted && status.to_string().contains(says)
        };
        let wait = harbour.until(object.id(), as_told);
        if tokio::time::timeout(Duration::from_secs(30), wait).await.is_err() {
            let live = harbour.cluster.get(object.id()).await.unwrap().unwrap();
            panic!("{}: {:?} {}", object.id(), Status::of(&live), live.body()["status"]);
        }
    }
    harbour.kubectl(&["delete", "storageclass", &class.id().name]);
}

#[tokio::test]
async fn a_server_that_is_not_there_makes_its_api_service_unavailable() {
    // The shared plane would miss the group.
    let Some(plane) = rig::need::control_plane() else { return };
    let harbour = Harbour::open_on(plane.access()).harbour().await;
    let service = Object::new(json!({ "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService", "metadata": { "name": "v1.nobody.example.test" },
        "spec": { "group": "nobody.example.test", "version": "v1", "groupPriorityMinimum": 10,
            "versionPriority": 10, "insecureSkipTLSVerify": true,
            "service": { "name": "nobody", "namespace": "default" } } }))
    .unwrap();
    harbour.apply(&service).await.unwrap();
    let live = harbour
        .until(service.id(), |live| {
            let status = Status::of(live);
            !status.is_ready() && status.to_string().contains("nobody")
        })
        .await;
    assert!(!Status::of(&live).is_ready(), "{:?}", Status::of(&live));
}
