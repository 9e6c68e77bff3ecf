//! Manifests that stand in for the chart of Hetzner's storage driver.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::Rendered;
use crate::manifest::{Parts, control_plane_taint, everywhere, on_control_planes, rule};

/// What the storage driver is rendered from. It reads the cloud controller's Secret.
#[derive(Clone, Debug)]
pub struct Values {
    /// The version, without a `v`.
    pub version: String,
    /// The namespace.
    pub namespace: String,
    /// Where volumes are made if a node does not say where it is.
    pub location: String,
    /// How many control planes there are, which decides about the replicas.
    pub control_planes: usize,
    /// What every volume is labelled with: a volume that is attached to nothing
    /// is known as the cluster's by nothing else.
    pub volume_labels: BTreeMap<String, String>,
}

/// The driver's name.
pub const DRIVER: &str = "csi.hetzner.cloud";

/// The class that volumes get if nobody asks for another.
pub const STORAGE_CLASS: &str = "hcloud-volumes";

const SOCKET: &str = "/run/csi/socket";

/// Renders the storage driver.
pub fn render(values: &Values) -> Rendered {
    let parts = Parts::of("hcloud-csi", &values.namespace);
    let mut objects = vec![
        driver(&parts),
        storage_class(&parts),
        parts.account("hcloud-csi-node"),
        controller(&parts, values),
        node(&parts, values),
    ];
    objects.extend(parts.account_with("hcloud-csi-controller", &rules()));
    Rendered::stand_in(objects)
}

fn driver(parts: &Parts<'_>) -> Value {
    let spec = json!({
        "attachRequired": true,
        "podInfoOnMount": true,
        "fsGroupPolicy": "File",
        "volumeLifecycleModes": ["Persistent"],
    });
    parts.global("storage.k8s.io/v1", "CSIDriver", DRIVER, json!({ "spec": spec }))
}

fn storage_class(parts: &Parts<'_>) -> Value {
    let body = json!({
        "provisioner": DRIVER,
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": true,
        "reclaimPolicy": "Delete",
    });
    let mut class = parts.global("storage.k8s.io/v1", "StorageClass", STORAGE_CLASS, body);
    class["metadata"]["annotations"] =
        json!({ "storageclass.kubernetes.io/is-default-class": "true" });
    class
}

fn controller(parts: &Parts<'_>, values: &Values) -> Value {
    let containers = json!([
        sidecar("csi-attacher", "v4.10.0", &["--default-fstype=ext4"]),
        sidecar("csi-resizer", "v1.14.0", &[]),
        sidecar("csi-provisioner", "v5.3.0", &["--feature-gates=Topology=true"]),
        sidecar("livenessprobe", "v2.17.0", &[]),
        plugin(values, "/bin/hcloud-csi-driver-controller", &json!({})),
    ]);
    let pod = json!({
        "serviceAccountName": "hcloud-csi-controller",
        // Volumes must work while the cluster's DNS does not.
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": on_control_planes(),
        "tolerations": control_plane_taint(),
        "containers": containers,
        "volumes": [{ "name": "socket-dir", "emptyDir": {} }],
    });
    let replicas = if values.control_planes > 1 { 2 } else { 1 };
    let spec = json!({ "replicas": replicas, "pod": pod });
    parts.workload("Deployment", "hcloud-csi-controller", &labels("controller"), spec)
}

fn node(parts: &Parts<'_>, values: &Values) -> Value {
    let kubelet = json!({ "name": "kubelet-dir", "mountPath": "/var/lib/kubelet", "mountPropagation": "Bidirectional" });
    let mut registrar = sidecar(
        "csi-node-driver-registrar",
        "v2.15.0",
        &["--kubelet-registration-path=/var/lib/kubelet/plugins/csi.hetzner.cloud/socket"],
    );
    registrar["volumeMounts"] = json!([
        { "name": "socket-dir", "mountPath": "/run/csi" },
        { "name": "registration-dir", "mountPath": "/registration" },
    ]);
    let mut driver = plugin(values, "/bin/hcloud-csi-driver-node", &json!({ "privileged": true }));
    driver["volumeMounts"] = json!([
        { "name": "socket-dir", "mountPath": "/run/csi" },
        kubelet,
        { "name": "device-dir", "mountPath": "/dev" },
    ]);
    let on_host = |name: &str, path: &str, kind: &str| json!({ "name": name, "hostPath": { "path": path, "type": kind } });
    let pod = json!({
        "serviceAccountName": "hcloud-csi-node",
        "priorityClassName": "system-node-critical",
        "nodeSelector": { "kubernetes.io/os": "linux" },
        "tolerations": everywhere(),
        "containers": [registrar, sidecar("livenessprobe", "v2.17.0", &[]), driver],
        "volumes": [
            on_host("kubelet-dir", "/var/lib/kubelet", "Directory"),
            on_host("socket-dir", "/var/lib/kubelet/plugins/csi.hetzner.cloud/", "DirectoryOrCreate"),
            on_host("registration-dir", "/var/lib/kubelet/plugins_registry/", "Directory"),
            on_host("device-dir", "/dev", "Directory"),
        ],
    });
    parts.workload("DaemonSet", "hcloud-csi-node", &labels("node"), json!({ "pod": pod }))
}

fn labels(component: &str) -> Value {
    json!({
        "app.kubernetes.io/name": "hcloud-csi",
        "app.kubernetes.io/instance": "hcloud-csi",
        "app.kubernetes.io/component": component,
    })
}

fn sidecar(name: &str, version: &str, args: &[&str]) -> Value {
    json!({
        "name": name,
        "image": format!("registry.k8s.io/sig-storage/{name}:{version}"),
        "args": args,
        "volumeMounts": [{ "name": "socket-dir", "mountPath": "/run/csi" }],
    })
}

/// `key=value,…`, as the driver reads it.
fn extra_labels(values: &Values) -> String {
    let labels = values.volume_labels.iter().map(|(key, value)| format!("{key}={value}"));
    labels.collect::<Vec<_>>().join(",")
}

fn plugin(values: &Values, command: &str, security: &Value) -> Value {
    json!({
        "name": "hcloud-csi-driver",
        "image": format!("docker.io/hetznercloud/hcloud-csi-driver:v{}", values.version),
        "command": [command],
        "env": [
            { "name": "CSI_ENDPOINT", "value": format!("unix://{SOCKET}") },
            { "name": "KUBE_NODE_NAME", "valueFrom": { "fieldRef": { "fieldPath": "spec.nodeName" } } },
            { "name": "HCLOUD_TOKEN", "valueFrom": { "secretKeyRef": { "name": "hcloud", "key": "token" } } },
            { "name": "HCLOUD_VOLUME_DEFAULT_LOCATION", "value": values.location },
            { "name": "HCLOUD_VOLUME_EXTRA_LABELS", "value": extra_labels(values) },
        ],
        "ports": [
            { "name": "metrics", "containerPort": 9189 },
            { "name": "healthz", "containerPort": 9808, "protocol": "TCP" },
        ],
        "livenessProbe": { "httpGet": { "path": "/healthz", "port": "healthz" } },
        "securityContext": security,
        "volumeMounts": [{ "name": "socket-dir", "mountPath": "/run/csi" }],
    })
}

fn rules() -> Value {
    let read = &["get", "list", "watch"];
    let change = &["get", "list", "watch", "update", "patch"];
    json!([
        rule(&[""], &["persistentvolumes"], &["get", "list", "watch", "create", "delete", "patch"]),
        rule(&[""], &["persistentvolumeclaims", "persistentvolumeclaims/status"], change),
        rule(&[""], &["nodes", "pods", "secrets"], read),
        rule(&[""], &["events"], &["create", "list", "patch", "update", "watch"]),
        rule(&["storage.k8s.io"], &["csinodes", "storageclasses"], read),
        rule(&["storage.k8s.io"], &["volumeattachments", "volumeattachments/status"], change),
        rule(&["coordination.k8s.io"], &["leases"], &["*"]),
    ])
}
