//! What the API server fills in where a manifest says nothing.

use serde_json::{Value, json};

use super::object::{self, items};
use super::resource::Resource;

/// Fills in the defaults of a kind.
pub(crate) fn fill(resource: &Resource, object: &mut Value) {
    match (&*resource.key.group, resource.kind.as_str()) {
        ("", "Pod") => pod(object),
        ("", "Service") => service(object),
        ("", "Namespace") => namespace(object),
        ("", "Node") => node(object),
        ("", "Secret") => secret(object),
        ("", "PersistentVolumeClaim") => set(object, "/spec", "volumeMode", json!("Filesystem")),
        ("", "PersistentVolume") => persistent_volume(object),
        ("apps", "Deployment") => deployment(object),
        ("apps", "ReplicaSet") => replica_set(object),
        ("apps", "DaemonSet") => daemon_set(object),
        ("apps", "StatefulSet") => stateful_set(object),
        ("batch", "Job") => job(object),
        ("storage.k8s.io", "StorageClass") => storage_class(object),
        ("storage.k8s.io", "CSIDriver") => csi_driver(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(object),
        ("scheduling.k8s.io", "PriorityClass") => {
            set(object, "", "preemptionPolicy", json!("PreemptLowerPriority"));
        }
        _ => {}
    }
}

/// Sets a field of the map at a pointer, where the field is absent.
fn set(object: &mut Value, at: &str, field: &str, default: Value) {
    if let Some(Value::Object(map)) = object.pointer_mut(at) {
        map.entry(field).or_insert(default);
    }
}

fn set_all(object: &mut Value, at: &str, defaults: Value) {
    let Value::Object(defaults) = defaults else { return };
    for (field, default) in defaults {
        set(object, at, &field, default);
    }
}

fn pod(object: &mut Value) {
    set(object, "/spec", "enableServiceLinks", json!(true));
    pod_spec(object, "/spec");
    set(object, "", "status", json!({}));
    set(object, "/status", "phase", json!("Pending"));
    let class = quality_of_service(&object["spec"]);
    set(object, "/status", "qosClass", json!(class));
}

fn quality_of_service(spec: &Value) -> &'static str {
    let containers = || items(&spec["containers"]).iter();
    let sets = |container: &Value, what: &str| {
        container["resources"][what].as_object().is_some_and(|map| !map.is_empty())
    };
    let complete = |container: &Value| {
        let resources = &container["resources"];
        let full = |what: &str| ["cpu", "memory"].iter().all(|r| resources[what].get(*r).is_some());
        full("limits")
            && (!sets(container, "requests") || resources["requests"] == resources["limits"])
    };
    if containers().all(complete) {
        "Guaranteed"
    } else if containers().any(|one| sets(one, "requests") || sets(one, "limits")) {
        "Burstable"
    } else {
        "BestEffort"
    }
}

fn pod_spec(object: &mut Value, at: &str) {
    set_all(
        object,
        at,
        json!({
            "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "securityContext": {},
            "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30,
        }),
    );
    let Some(spec) = object.pointer_mut(at) else { return };
    if let Some(account) = spec.get("serviceAccountName").cloned() {
        spec["serviceAccount"] = account;
    }
    let host_network = spec["hostNetwork"] == true;
    for list in ["containers", "initContainers"] {
        for one in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            container(one, host_network);
        }
    }
    for one in spec.get_mut("volumes").and_then(Value::as_array_mut).into_iter().flatten() {
        volume(one);
    }
}

fn container(container: &mut Value, host_network: bool) {
    let image = container["image"].as_str().unwrap_or_default();
    let tag = image.rsplit('/').next().and_then(|last| last.split_once(':'));
    let latest = tag.is_none_or(|(_, tag)| tag == "latest") && !image.contains('@');
    let policy = if latest { "Always" } else { "IfNotPresent" };
    set_all(
        container,
        "",
        json!({
            "imagePullPolicy": policy, "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        }),
    );
    for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        set(port, "", "protocol", json!("TCP"));
        if host_network {
            let number = port["containerPort"].clone();
            set(port, "", "hostPort", number);
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let at = format!("/{probe}");
        let common = json!({
            "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
        });
        set_all(container, &at, common);
        set(container, &format!("{at}/httpGet"), "scheme", json!("HTTP"));
        set(container, &format!("{at}/httpGet"), "path", json!("/"));
    }
    for env in container.get_mut("env").and_then(Value::as_array_mut).into_iter().flatten() {
        set(env, "/valueFrom/fieldRef", "apiVersion", json!("v1"));
    }
}

fn volume(volume: &mut Value) {
    for source in ["secret", "configMap", "projected", "downwardAPI"] {
        set(volume, &format!("/{source}"), "defaultMode", json!(420));
    }
    set(volume, "/hostPath", "type", json!(""));
}

fn template(object: &mut Value) {
    set(object, "/spec/template", "metadata", json!({}));
    pod_spec(object, "/spec/template/spec");
}

fn deployment(object: &mut Value) {
    template(object);
    let defaults = json!({
        "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600, "strategy": {},
    });
    set_all(object, "/spec", defaults);
    set(object, "/spec/strategy", "type", json!("RollingUpdate"));
    if object["spec"]["strategy"]["type"] == "RollingUpdate" {
        set(object, "/spec/strategy", "rollingUpdate", json!({}));
        let window = json!({ "maxSurge": "25%", "maxUnavailable": "25%" });
        set_all(object, "/spec/strategy/rollingUpdate", window);
    }
}

fn replica_set(object: &mut Value) {
    template(object);
    set(object, "/spec", "replicas", json!(1));
}

fn daemon_set(object: &mut Value) {
    template(object);
    set_all(object, "/spec", json!({ "revisionHistoryLimit": 10, "updateStrategy": {} }));
    set(object, "/spec/updateStrategy", "type", json!("RollingUpdate"));
    if object["spec"]["updateStrategy"]["type"] == "RollingUpdate" {
        set(object, "/spec/updateStrategy", "rollingUpdate", json!({}));
        let window = json!({ "maxSurge": 0, "maxUnavailable": 1 });
        set_all(object, "/spec/updateStrategy/rollingUpdate", window);
    }
    let generation = object["metadata"]["generation"].as_u64().unwrap_or(1).to_string();
    let annotations = object::metadata(object).entry("annotations").or_insert_with(|| json!({}));
    annotations["deprecated.daemonset.template.generation"] = json!(generation);
}

fn stateful_set(object: &mut Value) {
    template(object);
    set_all(
        object,
        "/spec",
        json!({
            "replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady",
            "updateStrategy": { "type": "RollingUpdate", "rollingUpdate": { "partition": 0 } },
            "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Retain", "whenScaled": "Retain" },
        }),
    );
}

fn job(object: &mut Value) {
    set(object, "/spec/template", "metadata", json!({}));
    let uid = object::uid(object).to_owned();
    let name = object::name(object).to_owned();
    if object["spec"]["manualSelector"] != true && !uid.is_empty() {
        let labels = json!({
            "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name,
            "controller-uid": uid, "job-name": name,
        });
        set(object, "/spec/template/metadata", "labels", json!({}));
        set_all(object, "/spec/template/metadata/labels", labels);
        let selector = json!({ "matchLabels": { "batch.kubernetes.io/controller-uid": uid } });
        set(object, "/spec", "selector", selector);
    }
    template(object);
    let labels = object["spec"]["template"]["metadata"]["labels"].clone();
    if labels.is_object() {
        set(object, "/metadata", "labels", labels);
    }
    set_all(
        object,
        "/spec",
        json!({
            "backoffLimit": 6, "completionMode": "NonIndexed", "parallelism": 1, "suspend": false,
            "manualSelector": false, "podReplacementPolicy": "TerminatingOrFailed",
        }),
    );
    set(object, "/spec", "completions", json!(1));
}

fn service(object: &mut Value) {
    set(object, "", "spec", json!({}));
    set_all(object, "/spec", json!({ "type": "ClusterIP", "sessionAffinity": "None" }));
    if object["spec"]["type"] != "ExternalName" {
        set(object, "/spec", "internalTrafficPolicy", json!("Cluster"));
    }
    let outside = ["NodePort", "LoadBalancer"].iter().any(|kind| object["spec"]["type"] == *kind);
    if outside {
        set(object, "/spec", "externalTrafficPolicy", json!("Cluster"));
    }
    if object["spec"]["type"] == "LoadBalancer" {
        set(object, "/spec", "allocateLoadBalancerNodePorts", json!(true));
    }
    for port in object["spec"].get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten()
    {
        set(port, "", "protocol", json!("TCP"));
        let number = port["port"].clone();
        set(port, "", "targetPort", number);
    }
    set(object, "", "status", json!({ "loadBalancer": {} }));
}

fn namespace(object: &mut Value) {
    let name = object::name(object).to_owned();
    let labels = object::metadata(object).entry("labels").or_insert_with(|| json!({}));
    labels["kubernetes.io/metadata.name"] = json!(name);
    set(object, "", "status", json!({ "phase": "Active" }));
}

fn node(object: &mut Value) {
    set(object, "", "spec", json!({}));
    set(object, "", "status", json!({}));
    set(object, "/status", "daemonEndpoints", json!({ "kubeletEndpoint": { "Port": 0 } }));
    let info = json!({
        "architecture": "", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "",
        "kubeProxyVersion": "", "kubeletVersion": "", "machineID": "", "operatingSystem": "",
        "osImage": "", "systemUUID": "",
    });
    set(object, "/status", "nodeInfo", info);
}

fn secret(object: &mut Value) {
    use base64::Engine;
    set(object, "", "type", json!("Opaque"));
    let plain = object.as_object_mut().and_then(|fields| fields.remove("stringData"));
    for (name, value) in plain.as_ref().map(object::pairs).into_iter().flatten() {
        let encoded = base64::engine::general_purpose::STANDARD.encode(value);
        object::map_at(object, "data").insert(name.to_owned(), encoded.into());
    }
}

fn persistent_volume(object: &mut Value) {
    let defaults = json!({ "volumeMode": "Filesystem", "persistentVolumeReclaimPolicy": "Retain" });
    set_all(object, "/spec", defaults);
    set(object, "", "status", json!({ "phase": "Pending" }));
}

fn storage_class(object: &mut Value) {
    let defaults = json!({ "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate" });
    set_all(object, "", defaults);
}

fn csi_driver(object: &mut Value) {
    set_all(
        object,
        "/spec",
        json!({
            "attachRequired": true, "podInfoOnMount": false, "storageCapacity": false,
            "fsGroupPolicy": "ReadWriteOnceWithFSType", "requiresRepublish": false,
            "seLinuxMount": false, "volumeLifecycleModes": ["Persistent"],
        }),
    );
}

fn definition(object: &mut Value) {
    let kind = object["spec"]["names"]["kind"].as_str().unwrap_or_default().to_owned();
    set(object, "/spec/names", "singular", json!(kind.to_lowercase()));
    set(object, "/spec/names", "listKind", json!(format!("{kind}List")));
    set(object, "/spec", "conversion", json!({ "strategy": "None" }));
}
