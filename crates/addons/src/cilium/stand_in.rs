//! Manifests that stand in for Cilium's chart.

use std::net::SocketAddr;

use events::Secret;
use ipnet::IpNet;
use serde_json::{Value, json};

use crate::manifest::{Parts, apart, early, everywhere, on_control_planes, rule};
use crate::{Rendered, SecretObject};

/// What Cilium is rendered from.
#[derive(Clone, Debug)]
pub struct Values {
    /// The version, without a `v`.
    pub version: String,
    /// The namespace.
    pub namespace: String,
    /// How packets find pods on other nodes.
    pub routing: Routing,
    /// Whether traffic between nodes is encrypted.
    pub encryption: Encryption,
    /// Where agents reach the API before services work: `KubePrism` on Talos.
    pub api: SocketAddr,
    /// How many control planes there are, which decides about the operators.
    pub control_planes: usize,
}

/// How packets find pods on other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routing {
    /// The network between the nodes knows the way.
    Native {
        /// Where packets need no other source address.
        cidr: IpNet,
    },
    /// Packets travel inside packets.
    Tunnel,
}

/// Whether traffic between nodes is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// It is not.
    None,
    /// With keys that agents make themselves.
    Wireguard,
    /// With keys that are given to them.
    Ipsec {
        /// The content of the key file.
        keys: Secret,
    },
}

/// Talos gives no `SYS_MODULE`.
const CAPABILITIES: [&str; 11] = [
    "CHOWN",
    "KILL",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "SYS_ADMIN",
    "SYS_RESOURCE",
    "DAC_OVERRIDE",
    "FOWNER",
    "SETGID",
    "SETUID",
];

/// Renders Cilium.
pub fn render(values: &Values) -> Rendered {
    let parts = Parts::of("cilium", &values.namespace);
    let mut objects = vec![
        // The operator wants to write here; it does not make it itself.
        parts.global("v1", "Namespace", "cilium-secrets", json!({})),
        parts.local("v1", "ConfigMap", "cilium-config", json!({ "data": config(values) })),
        agent(&parts, values),
        operator(&parts, values),
    ];
    objects.extend(parts.account_with("cilium", &agent_rules()));
    objects.extend(parts.account_with("cilium-operator", &operator_rules()));
    let rendered = Rendered::stand_in(objects);
    match &values.encryption {
        Encryption::Ipsec { keys } => rendered.with_secret(ipsec_keys(&values.namespace, keys)),
        Encryption::None | Encryption::Wireguard => rendered,
    }
}

fn ipsec_keys(namespace: &str, keys: &Secret) -> SecretObject {
    let metadata = json!({ "name": "cilium-ipsec-keys", "namespace": namespace });
    let head =
        json!({ "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata });
    SecretObject::new(head, [("keys", keys.reveal())])
}

fn config(values: &Values) -> Value {
    let mut config = json!({
        "ipam": "kubernetes",
        "k8s-require-ipv4-pod-cidr": "true",
        "kube-proxy-replacement": "true",
        "kube-proxy-replacement-healthz-bind-address": "0.0.0.0:10256",
        "enable-bpf-masquerade": "true",
        "enable-ipv4": "true",
        "enable-ipv6": "false",
        "cgroup-root": "/sys/fs/cgroup",
        "agent-not-ready-taint-key": "node.cilium.io/agent-not-ready",
        "enable-wireguard": (values.encryption == Encryption::Wireguard).to_string(),
        "enable-ipsec": matches!(values.encryption, Encryption::Ipsec { .. }).to_string(),
    });
    match &values.routing {
        Routing::Native { cidr } => {
            config["routing-mode"] = json!("native");
            config["ipv4-native-routing-cidr"] = json!(cidr.to_string());
            config["install-no-conntrack-iptables-rules"] = json!("true");
        }
        Routing::Tunnel => {
            config["routing-mode"] = json!("tunnel");
            config["tunnel-protocol"] = json!("vxlan");
        }
    }
    config
}

fn agent(parts: &Parts<'_>, values: &Values) -> Value {
    let labels = json!({ "k8s-app": "cilium", "app.kubernetes.io/name": "cilium-agent" });
    let probe = json!({
        "httpGet": { "host": "127.0.0.1", "path": "/healthz", "port": 9879, "scheme": "HTTP" },
        "periodSeconds": 30, "timeoutSeconds": 5,
    });
    let container = json!({
        "name": "cilium-agent",
        "image": format!("quay.io/cilium/cilium:v{}", values.version),
        "command": ["cilium-agent"],
        "args": ["--config-dir=/tmp/cilium/config-map"],
        "env": environment(values),
        "readinessProbe": probe,
        "livenessProbe": probe,
        "securityContext": { "capabilities": { "add": CAPABILITIES, "drop": ["ALL"] } },
        "volumeMounts": [
            { "name": "config", "mountPath": "/tmp/cilium/config-map", "readOnly": true },
            { "name": "run", "mountPath": "/var/run/cilium" },
            { "name": "bpf", "mountPath": "/sys/fs/bpf", "mountPropagation": "HostToContainer" },
            { "name": "cni", "mountPath": "/host/etc/cni/net.d" },
        ],
    });
    let pod = json!({
        "serviceAccountName": "cilium",
        "hostNetwork": true,
        "priorityClassName": "system-node-critical",
        "nodeSelector": { "kubernetes.io/os": "linux" },
        "tolerations": everywhere(),
        "containers": [container],
        "volumes": [
            { "name": "config", "configMap": { "name": "cilium-config" } },
            { "name": "run", "hostPath": { "path": "/var/run/cilium", "type": "DirectoryOrCreate" } },
            { "name": "bpf", "hostPath": { "path": "/sys/fs/bpf", "type": "DirectoryOrCreate" } },
            { "name": "cni", "hostPath": { "path": "/etc/cni/net.d", "type": "DirectoryOrCreate" } },
        ],
    });
    let update = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": 2 } });
    parts.workload("DaemonSet", "cilium", &labels, json!({ "updateStrategy": update, "pod": pod }))
}

fn operator(parts: &Parts<'_>, values: &Values) -> Value {
    let labels =
        json!({ "io.cilium/app": "operator", "app.kubernetes.io/name": "cilium-operator" });
    let container = json!({
        "name": "cilium-operator",
        "image": format!("quay.io/cilium/operator-generic:v{}", values.version),
        "command": ["cilium-operator-generic"],
        "args": ["--config-dir=/tmp/cilium/config-map"],
        "env": environment(values),
        "readinessProbe": { "httpGet": { "host": "127.0.0.1", "path": "/healthz", "port": 9234 } },
        "volumeMounts": [{ "name": "config", "mountPath": "/tmp/cilium/config-map", "readOnly": true }],
    });
    let pod = json!({
        "serviceAccountName": "cilium-operator",
        "hostNetwork": true,
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": on_control_planes(),
        "tolerations": early(),
        "affinity": apart(&labels),
        "containers": [container],
        "volumes": [{ "name": "config", "configMap": { "name": "cilium-config" } }],
    });
    // A second one would find no node of its own and wait for ever.
    let replicas = if values.control_planes > 1 { 2 } else { 1 };
    let spec = json!({ "replicas": replicas, "pod": pod });
    parts.workload("Deployment", "cilium-operator", &labels, spec)
}

fn environment(values: &Values) -> Value {
    json!([
        { "name": "K8S_NODE_NAME", "valueFrom": { "fieldRef": { "fieldPath": "spec.nodeName" } } },
        { "name": "KUBERNETES_SERVICE_HOST", "value": values.api.ip().to_string() },
        { "name": "KUBERNETES_SERVICE_PORT", "value": values.api.port().to_string() },
    ])
}

fn agent_rules() -> Value {
    let read = &["get", "list", "watch"];
    json!([
        rule(&[""], &["namespaces", "services", "pods", "endpoints", "nodes"], read),
        rule(&["networking.k8s.io"], &["networkpolicies"], read),
        rule(&["discovery.k8s.io"], &["endpointslices"], read),
        rule(&["apiextensions.k8s.io"], &["customresourcedefinitions"], read),
        rule(&["cilium.io"], &["*"], &["*"]),
        rule(&[""], &["nodes/status"], &["patch"]),
    ])
}

fn operator_rules() -> Value {
    let read = &["get", "list", "watch"];
    json!([
        rule(&[""], &["namespaces", "services", "endpoints"], read),
        rule(&[""], &["pods"], &["get", "list", "watch", "delete"]),
        rule(&[""], &["nodes", "nodes/status"], &["get", "list", "watch", "patch"]),
        rule(&["discovery.k8s.io"], &["endpointslices"], read),
        rule(&["apiextensions.k8s.io"], &["customresourcedefinitions"], &["*"]),
        rule(&["cilium.io"], &["*"], &["*"]),
        rule(&["coordination.k8s.io"], &["leases"], &["create", "get", "update"]),
    ])
}
