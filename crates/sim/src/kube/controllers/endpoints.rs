//! Where the pods of services are: endpoint slices, and the older endpoints.

use std::sync::Arc;

use serde_json::{Value, json};

use super::pods::{CONTROLLER, annotate, delete, is_active, is_ready};
use super::{PODS, attempt};
use crate::kube::Kube;
use crate::kube::api::Write;
use crate::kube::object::{items, name, namespace, uid};
use crate::kube::resource::Key;
use crate::kube::selector::LabelSelector;

const SERVICES: Key = Key::core("services");
const ENDPOINTS: Key = Key::core("endpoints");
/// When what led to the last change has happened.
const TRIGGER: &str = "endpoints.kubernetes.io/last-change-trigger-time";
const SLICES: Key = Key::new("discovery.k8s.io", "endpointslices");

/// Brings the endpoints of all services with a selector in line.
pub(super) fn pass(kube: &Kube) {
    let services = kube.all(&SERVICES, "");
    for service in services.iter().filter(|service| !service["spec"]["selector"].is_null()) {
        follow(kube, service);
    }
    for endpoints in kube.all(&ENDPOINTS, "") {
        let ours = endpoints["metadata"]["labels"]["endpoints.kubernetes.io/managed-by"]
            == "endpoint-controller";
        let same = |one: &&Arc<Value>| {
            name(one) == name(&endpoints) && namespace(one) == namespace(&endpoints)
        };
        if ours && !services.iter().any(|one| same(&one)) {
            delete(kube, &ENDPOINTS, &endpoints);
        }
    }
}

fn follow(kube: &Kube, service: &Value) {
    let selector = LabelSelector::of_map(&service["spec"]["selector"]);
    let mut pods = kube.matching(&PODS, namespace(service), &selector);
    pods.retain(|pod| is_active(pod) && pod["status"]["podIP"].as_str().is_some());
    put(kube, &SLICES, &slice_name(kube, service), slice(service, &pods));
    put(kube, &ENDPOINTS, name(service), endpoints(service, &pods));
}

/// A slice keeps the name that was made up for it.
fn slice_name(kube: &Kube, service: &Value) -> String {
    let slices = kube.all(&SLICES, namespace(service));
    let owner =
        |slice: &&Arc<Value>| slice["metadata"]["ownerReferences"][0]["uid"] == uid(service);
    let found = slices.iter().find(owner).map(|slice| name(slice).to_owned());
    found.unwrap_or_else(|| {
        kube.change(|state| state.generated_name(&format!("{}-", name(service))))
    })
}

fn put(kube: &Kube, key: &Key, named: &str, mut object: Value) {
    object["metadata"]["name"] = json!(named);
    let Ok(place) = kube.place(key, namespace(&object), named) else { return };
    annotate(&mut object, TRIGGER, &kube.clock().stamp());
    let write = Write::by(CONTROLLER);
    let Ok(mut live) = kube.get(&place) else {
        attempt(kube.create(&place.named(""), object, &write));
        return;
    };
    let parts = ["endpoints", "ports", "subsets"];
    if parts.iter().all(|part| live[*part] == object[*part]) {
        return;
    }
    for part in parts {
        live[part] = object[part].take();
    }
    live.as_object_mut().into_iter().for_each(|fields| fields.retain(|_, part| !part.is_null()));
    annotate(&mut live, TRIGGER, &kube.clock().stamp());
    attempt(kube.update(&place, live, &write));
}

/// Returns a service's ports as its pods have them.
fn ports(service: &Value, pods: &[Arc<Value>]) -> Vec<Value> {
    let mut ports = Vec::new();
    for port in items(&service["spec"]["ports"]) {
        let target = &port["targetPort"];
        let number =
            target.as_u64().or_else(|| pods.iter().find_map(|pod| named_port(pod, target)));
        if let Some(number) = number {
            let name = port["name"].as_str().unwrap_or_default();
            ports.push(json!({ "name": name, "port": number, "protocol": port["protocol"] }));
        }
    }
    ports
}

/// Returns the port of a pod that has a name.
pub(crate) fn named_port(pod: &Value, wanted: &Value) -> Option<u64> {
    let containers = items(&pod["spec"]["containers"]).iter();
    let mut ports = containers.flat_map(|one| items(&one["ports"]));
    ports.find(|port| port["name"] == *wanted)?["containerPort"].as_u64()
}

fn target(pod: &Value) -> Value {
    json!({ "kind": "Pod", "name": name(pod), "namespace": namespace(pod), "uid": uid(pod) })
}

fn slice(service: &Value, pods: &[Arc<Value>]) -> Value {
    let endpoint = |pod: &Arc<Value>| {
        let ready = is_ready(pod);
        json!({
            "addresses": [pod["status"]["podIP"]], "nodeName": pod["spec"]["nodeName"],
            "conditions": { "ready": ready, "serving": ready, "terminating": false },
            "targetRef": target(pod),
        })
    };
    let endpoints: Vec<Value> = pods.iter().map(endpoint).collect();
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {
            "namespace": namespace(service), "generateName": format!("{}-", name(service)),
            "labels": {
                "kubernetes.io/service-name": name(service),
                "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
            },
            "ownerReferences": [{ "apiVersion": "v1", "kind": "Service", "name": name(service),
                "uid": uid(service), "controller": true, "blockOwnerDeletion": true }],
        },
        "addressType": "IPv4", "endpoints": endpoints, "ports": ports(service, pods),
    })
}

fn endpoints(service: &Value, pods: &[Arc<Value>]) -> Value {
    let address = |pod: &Arc<Value>| json!({ "ip": pod["status"]["podIP"], "nodeName": pod["spec"]["nodeName"], "targetRef": target(pod) });
    let side = |ready: bool| -> Vec<Value> {
        pods.iter().filter(|pod| is_ready(pod) == ready).map(address).collect()
    };
    let mut subset = json!({ "ports": ports(service, pods) });
    for (field, list) in [("addresses", side(true)), ("notReadyAddresses", side(false))] {
        if !list.is_empty() {
            subset[field] = json!(list);
        }
    }
    let mut endpoints = json!({
        "apiVersion": "v1", "kind": "Endpoints",
        "metadata": { "namespace": namespace(service),
            "labels": { "endpoints.kubernetes.io/managed-by": "endpoint-controller" } },
    });
    if !pods.is_empty() {
        endpoints["subsets"] = json!([subset]);
    }
    endpoints
}
