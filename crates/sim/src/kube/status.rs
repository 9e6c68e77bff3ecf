//! What only the server may say about a new object.

use serde_json::{Value, json};

use super::api::State;
use super::object::{self, items};
use super::refusal::{Problem, Refusal};
use super::resource::{Key, Resource};

/// The place of the `kubernetes` service in the network of services, that of the
/// cluster's DNS, and where those of others begin.
pub(crate) const API_PLACE: u32 = 1;
pub(crate) const DNS_PLACE: u32 = 10;
const FIRST_PLACE: u32 = 100;

const CLASSES: Key = Key::new("scheduling.k8s.io", "priorityclasses");

/// Kinds whose creator may also say how they are.
const OWN_STATUS: &[&str] = &["Node", "Event", "PersistentVolume"];

/// Drops a status that the creator may not set.
pub(crate) fn reset_new(resource: &Resource, has_status: bool, object: &mut Value) {
    let own = !resource.custom && OWN_STATUS.contains(&resource.kind.as_str());
    if let (true, false, Some(fields)) = (has_status, own, object.as_object_mut()) {
        fields.remove("status");
    }
}

/// Fills in what the server decides about a new object.
pub(crate) fn fill_new(
    state: &mut State,
    resource: &Resource,
    object: &mut Value,
) -> Result<(), Refusal> {
    if resource.custom {
        return Ok(());
    }
    match resource.kind.as_str() {
        "Namespace" => object["spec"] = json!({ "finalizers": ["kubernetes"] }),
        "Service" => service(state, resource, object)?,
        "Pod" => {
            pod(state, object);
            mount_token(state, object);
        }
        "CustomResourceDefinition" => definition(&state.clock.stamp(), object),
        "PersistentVolumeClaim" => object["status"] = json!({ "phase": "Pending" }),
        "Deployment" | "ReplicaSet" | "StatefulSet" | "Job" | "CertificateSigningRequest" => {
            object["status"] = json!({});
        }
        "DaemonSet" => {
            object["status"] = json!({ "currentNumberScheduled": 0, "numberMisscheduled": 0,
                "desiredNumberScheduled": 0, "numberReady": 0 });
        }
        _ => {}
    }
    Ok(())
}

/// What admission adds to a pod: account, priority, tolerations.
fn pod(state: &State, object: &mut Value) {
    let spec = object::map_at(object, "spec");
    spec.entry("serviceAccountName").or_insert_with(|| json!("default"));
    let account = spec["serviceAccountName"].clone();
    spec.insert("serviceAccount".to_owned(), account);
    let class = spec.get("priorityClassName").and_then(Value::as_str).unwrap_or_default();
    let value =
        state.store.get(&CLASSES, "", class).map_or(json!(0), |class| class["value"].clone());
    spec.insert("priority".to_owned(), value);
    spec.entry("preemptionPolicy").or_insert_with(|| json!("PreemptLowerPriority"));
    let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated =
            items(tolerations).iter().any(|one| one["key"] == key || one.get("key").is_none());
        if let (false, Some(list)) = (tolerated, tolerations.as_array_mut()) {
            list.push(json!({ "key": key, "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": 300 }));
        }
    }
}

/// Mounts the account's token into every container, unless somebody said not
/// to or mounts something there already.
fn mount_token(state: &mut State, object: &mut Value) {
    const PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
    if object["spec"]["automountServiceAccountToken"] == false {
        return;
    }
    let volume = state.generated_name("kube-api-access-");
    let spec = object::map_at(object, "spec");
    let mut mounted = false;
    for list in ["initContainers", "containers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let mounts = object::list_at(container, "volumeMounts");
            if !mounts.iter().any(|mount| mount["mountPath"] == PATH) {
                mounts.push(json!({ "name": volume, "mountPath": PATH, "readOnly": true }));
                mounted = true;
            }
        }
    }
    if mounted {
        let sources = json!([
            { "serviceAccountToken": { "expirationSeconds": 3607, "path": "token" } },
            { "configMap": { "name": "kube-root-ca.crt", "items": [{ "key": "ca.crt", "path": "ca.crt" }] } },
            { "downwardAPI": { "items": [{ "path": "namespace",
                "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.namespace" } }] } },
        ]);
        object::list_at(&mut object["spec"], "volumes").push(
            json!({ "name": volume, "projected": { "defaultMode": 420, "sources": sources } }),
        );
    }
}

/// Gives a service its address and its ports on the nodes.
pub(crate) fn service(
    state: &mut State,
    resource: &Resource,
    object: &mut Value,
) -> Result<(), Refusal> {
    let spec = object["spec"].clone();
    if spec["type"] == "ExternalName" {
        return Ok(());
    }
    let asked = spec["clusterIP"].as_str().unwrap_or_default();
    let address = match asked {
        "" => {
            state.allotted += 1;
            state.service_address(FIRST_PLACE + u32::from(state.allotted))
        }
        asked => asked.to_owned(),
    };
    let taken = |other: &Value| {
        other["spec"]["clusterIP"] == address.as_str() && object::uid(other) != object::uid(object)
    };
    let services = Key::core("services");
    if address != "None" && state.store.all(&services).any(|other| taken(other)) {
        let why = format!("failed to allocate IP {address}: provided IP is already allocated");
        let problem = Problem::invalid("spec.clusterIPs", &json!([address]), &why);
        return Err(Refusal::invalid(resource, object::name(object), &[problem]));
    }
    object["spec"]["clusterIP"] = json!(address);
    object["spec"]["clusterIPs"] = json!([address]);
    let fields = object::map_at(object, "spec");
    fields.entry("ipFamilies").or_insert_with(|| json!(["IPv4"]));
    fields.entry("ipFamilyPolicy").or_insert_with(|| json!("SingleStack"));
    if spec["type"] == "NodePort" || spec["type"] == "LoadBalancer" {
        for port in object["spec"]["ports"].as_array_mut().into_iter().flatten() {
            if port.get("nodePort").is_none() {
                state.allotted += 1;
                port["nodePort"] = json!(30_000 + state.allotted % 2_768);
            }
        }
    }
    Ok(())
}

/// The names of a definition are accepted, and its versions served, at once.
pub(crate) fn definition(now: &str, object: &mut Value) {
    let spec = &object["spec"];
    let stored = items(&spec["versions"]).iter().find(|version| version["storage"] == true);
    let stored = stored.map(|version| version["name"].clone());
    let condition = |kind: &str, reason: &str, message: &str| {
        json!({ "type": kind, "status": "True", "reason": reason, "message": message,
            "lastTransitionTime": now })
    };
    let status = json!({
        "acceptedNames": spec["names"],
        "storedVersions": stored.into_iter().collect::<Vec<_>>(),
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
    });
    object["status"] = status;
}
