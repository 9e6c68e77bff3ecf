//! Statuses that a controller of somebody else's writes, and that the real API takes.

use objects::{Object, Status};
use serde_json::{Value, json};

use crate::harbour::Harbour;

/// A request for a certificate, as the API wants it: PEM in base64.
const REQUEST: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISk1IRUNBUUF3RHpFTk1Bc0dBMVVF\
    QXd3RWRHVnpkREJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkRseXhqbXNHTUMvbnR5\
    WG53Y2J4cjNZQTBlUlQxNGtTM3RaL2R5M0wxV0tSa1J1L2dhUVJVQ2NlaHVJCkowWWZ3U0dscEQ3Z2pZ\
    VFZ0cVd2S2YxSklXU2dBREFLQmdncWhrak9QUVFEQWdOSUFEQkZBaUVBNnRnZ080dy8KT2p3UlNONFV1\
    eXZadnM3a1ZMMlJvd1NsOEl6RUFmUmNpOWdDSUhVRlh1WlRoVWEzU3BFdHpBa2hjZk1sRXRkMwpZTmFK\
    K1cwYVJLN2R4d3NpCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";

/// Writes a status as its controller would, and returns what the API made of it.
fn tell(harbour: &Harbour, object: &Object, status: &Value) -> Object {
    let kind = format!("{}/{}", object.kind(), object.id().name);
    let patch = json!({ "status": status }).to_string();
    let args = ["patch", &kind, "--subresource=status", "--type=merge", "-o", "json", "-p", &patch];
    Object::new(serde_json::from_str(&harbour.kubectl(&args)).unwrap()).unwrap()
}

#[track_caller]
fn check(live: &Object, wanted: &str) {
    assert_eq!(Status::of(live).to_string(), wanted, "{}", live.body());
}

#[tokio::test]
async fn what_leads_to_pods_is_ready_with_an_address() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let service = json!({ "spec": { "type": "LoadBalancer", "ports": [{ "port": 80 }] } });
    let to = json!({ "service": { "name": "a", "port": { "number": 80 } } });
    let ingress = json!({ "spec": { "defaultBackend": to } });
    let cases = [
        (
            harbour.object("v1", "Service", "a", service),
            "in progress: its load balancer has no address yet",
        ),
        (
            harbour.object("networking.k8s.io/v1", "Ingress", "a", ingress),
            "in progress: no controller has given it an address yet",
        ),
    ];
    for (object, before) in cases {
        check(&harbour.apply(&object).await.unwrap().object, before);
        for at in [json!({ "ip": "192.0.2.7" }), json!({ "hostname": "lb.example.test" })] {
            let status = json!({ "loadBalancer": { "ingress": [at] } });
            check(&tell(&harbour, &object, &status), "ready");
        }
        check(&tell(&harbour, &object, &json!({ "loadBalancer": null })), before);
    }
}

#[tokio::test]
async fn an_autoscaler_is_ready_once_it_can_measure_and_scale() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let target = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "nobody" });
    let spec = json!({ "spec": { "scaleTargetRef": target, "maxReplicas": 3 } });
    let scaler = harbour.object("autoscaling/v2", "HorizontalPodAutoscaler", "a", spec);
    harbour.apply(&scaler).await.unwrap();
    let condition = |name: &str, status: &str, reason: &str| json!({ "type": name, "status": status, "reason": reason, "message": "as told" });
    let able = condition("AbleToScale", "True", "SucceededGetScale");
    let table = [
        (vec![able.clone(), condition("ScalingActive", "True", "ValidMetricFound")], "ready"),
        (vec![able.clone(), condition("ScalingActive", "False", "ScalingDisabled")], "ready"),
        (
            vec![able, condition("ScalingActive", "False", "FailedGetResourceMetric")],
            "in progress: FailedGetResourceMetric: as told",
        ),
        (
            vec![condition("AbleToScale", "False", "FailedGetScale")],
            "in progress: FailedGetScale: as told",
        ),
    ];
    for (conditions, wanted) in table {
        let status =
            json!({ "desiredReplicas": 1, "currentMetrics": null, "conditions": conditions });
        check(&tell(&harbour, &scaler, &status), wanted);
    }
}

#[tokio::test]
async fn a_volume_is_ready_once_somebody_may_claim_it() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let name = format!("{}-volume", harbour.namespace.name());
    let volume = Object::new(json!({ "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": { "name": name }, "spec": { "capacity": { "storage": "1Gi" },
            "accessModes": ["ReadWriteOnce"], "storageClassName": name,
            "persistentVolumeReclaimPolicy": "Retain", "hostPath": { "path": "/nowhere" } } }))
    .unwrap();
    harbour.apply(&volume).await.unwrap();
    // The real controller says so.
    let live = harbour.until(volume.id(), |live| Status::of(live).is_ready()).await;
    assert_eq!(live.text("/status/phase"), Some("Available"));
    let failed = json!({ "phase": "Failed", "message": "no plugin" });
    check(&tell(&harbour, &volume, &failed), "failed: no plugin");
    harbour.kubectl(&["delete", "pv", &name, "--wait=false"]);
}

#[tokio::test]
async fn a_request_is_approved_or_denied() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    for (name, verdict, wanted) in [
        ("good", "approve", "in progress: it is approved, and its signer has not issued it yet"),
        ("bad", "deny", "failed: KubectlDeny: This CSR was denied by kubectl certificate deny."),
    ] {
        let name = format!("{}-{name}", harbour.namespace.name());
        let request = Object::new(json!({ "apiVersion": "certificates.k8s.io/v1",
            "kind": "CertificateSigningRequest", "metadata": { "name": name },
            "spec": { "request": REQUEST, "signerName": "example.test/nobody",
                "usages": ["client auth"] } }))
        .unwrap();
        let made = harbour.apply(&request).await.unwrap().object;
        check(&made, "in progress: nobody has approved it yet");
        harbour.kubectl(&["certificate", verdict, &name]);
        check(&harbour.cluster.get(request.id()).await.unwrap().unwrap(), wanted);
        harbour.kubectl(&["delete", "csr", &name]);
    }
}

#[tokio::test]
async fn a_definition_whose_names_are_taken_fails() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let group = format!("{}.example", harbour.namespace.name());
    let definition = |plural: &str| {
        let schema = json!({ "openAPIV3Schema": { "type": "object" } });
        let version = json!({ "name": "v1", "served": true, "storage": true, "schema": schema });
        Object::new(json!({ "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition", "metadata": { "name": format!("{plural}.{group}") },
            "spec": { "group": group, "scope": "Namespaced", "versions": [version],
                "names": { "plural": plural, "kind": "Raft" } } }))
        .unwrap()
    };
    let (first, second) = (definition("rafts"), definition("floats"));
    harbour.apply(&first).await.unwrap();
    harbour.until(first.id(), |live| Status::of(live).is_ready()).await;
    harbour.apply(&second).await.unwrap();
    let failed = |live: &Object| matches!(Status::of(live), Status::Failed { .. });
    let live = harbour.until(second.id(), failed).await;
    let says = Status::of(&live).to_string();
    assert!(says.contains("Raft") && says.contains("already in use"), "{says}");
    for one in [&first, &second] {
        harbour.kubectl(&["delete", "crd", &one.id().name, "--wait=false"]);
    }
}

#[tokio::test]
async fn a_pod_that_nobody_replaces_fails_for_good() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let containers = json!([{ "name": "app", "image": "example.test/a" }]);
    let spec = json!({ "spec": { "restartPolicy": "Never", "containers": containers } });
    let pod = harbour.object("v1", "Pod", "bare", spec);
    harbour.apply(&pod).await.unwrap();
    let ended = json!({ "phase": "Failed", "containerStatuses": [{ "name": "app",
        "image": "example.test/a", "imageID": "", "ready": false, "restartCount": 0,
        "state": { "terminated": { "exitCode": 3, "reason": "Error" } } }] });
    let live = tell(&harbour, &pod, &ended);
    check(&live, "failed: container app: Error: exit code 3");
    let ailment = objects::Ailment::of(&live).unwrap();
    assert!(ailment.is_final(), "{ailment:?}");
    check(&tell(&harbour, &pod, &json!({ "phase": "Succeeded" })), "ready");
}

/// Controllers write the generation as a number or as a text, for all or for
/// each condition.
#[tokio::test]
async fn an_older_generation_is_seen_however_it_is_written() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let group = format!("{}.example", harbour.namespace.name());
    let schema = json!({ "openAPIV3Schema": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": schema,
        "subresources": { "status": {} } });
    let definition = Object::new(json!({ "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": { "name": format!("barges.{group}") },
        "spec": { "group": group, "scope": "Namespaced", "versions": [version],
            "names": { "plural": "barges", "kind": "Barge" } } }))
    .unwrap();
    harbour.apply(&definition).await.unwrap();
    harbour.until(definition.id(), |live| Status::of(live).is_ready()).await;
    let api = format!("{group}/v1");
    let barge = |load: u64| harbour.object(&api, "Barge", "a", json!({ "spec": { "load": load } }));
    harbour.apply(&barge(1)).await.unwrap();
    harbour.apply(&barge(2)).await.unwrap();
    let ready = |observed: Value| json!({ "type": "Ready", "status": "True", "observedGeneration": observed });
    let lags = "in progress: its controller has seen generation 1 of 2";
    let old = "in progress: its conditions are of an older generation";
    let table = [
        (json!({ "observedGeneration": 1, "conditions": [ready(json!(null))] }), lags),
        (json!({ "observedGeneration": "1", "conditions": [ready(json!(null))] }), lags),
        (json!({ "observedGeneration": "2", "conditions": [ready(json!(1))] }), old),
        (json!({ "observedGeneration": null, "conditions": [ready(json!("1"))] }), old),
        (json!({ "observedGeneration": "2", "conditions": [ready(json!("2"))] }), "ready"),
    ];
    for (status, wanted) in table {
        check(&tell(&harbour, &barge(2), &status), wanted);
    }
    harbour.kubectl(&["delete", "crd", &definition.id().name, "--wait=false"]);
}
