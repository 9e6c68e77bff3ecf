//! Manifests that stand in for the chart of metrics-server.

use serde_json::{Value, json};

use crate::Rendered;
use crate::manifest::{Parts, RBAC, restricted, role_ref, rule};

/// What metrics-server is rendered from.
#[derive(Clone, Debug)]
pub struct Values {
    /// The version of the server, without a `v`; the chart counts otherwise.
    pub server: String,
    /// The namespace.
    pub namespace: String,
    /// Whose certificates kubelets serve.
    pub kubelets: KubeletCertificates,
}

/// Whose certificates kubelets serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KubeletCertificates {
    /// The cluster's: they can be verified.
    Signed,
    /// Their own: they cannot.
    SelfSigned,
}

pub(super) const API: &str = "v1beta1.metrics.k8s.io";
pub(super) const NAME: &str = "metrics-server";

/// Renders metrics-server.
pub fn render(values: &Values) -> Rendered {
    let parts = Parts::of(NAME, &values.namespace);
    Rendered::stand_in(vec![
        parts.account(NAME),
        parts.global(RBAC, "ClusterRole", "system:metrics-server", json!({ "rules": rules() })),
        aggregated_reader(&parts),
        parts.binding("system:metrics-server", "system:metrics-server", NAME),
        parts.binding("metrics-server:system:auth-delegator", "system:auth-delegator", NAME),
        auth_reader(&parts),
        service(&parts),
        server(&parts, values),
        api_service(&parts),
    ])
}

fn labels() -> Value {
    json!({ "app.kubernetes.io/name": NAME, "app.kubernetes.io/instance": NAME })
}

fn rules() -> Value {
    json!([
        rule(&[""], &["nodes/metrics"], &["get"]),
        rule(&[""], &["pods", "nodes", "namespaces", "configmaps"], &["get", "list", "watch"]),
    ])
}

/// Lets those see metrics who may see the rest.
fn aggregated_reader(parts: &Parts<'_>) -> Value {
    let rules = json!([rule(&["metrics.k8s.io"], &["pods", "nodes"], &["get", "list", "watch"])]);
    let name = "system:metrics-server-aggregated-reader";
    let mut role = parts.global(RBAC, "ClusterRole", name, json!({ "rules": rules }));
    for to in ["admin", "edit", "view"] {
        role["metadata"]["labels"][format!("rbac.authorization.k8s.io/aggregate-to-{to}")] =
            json!("true");
    }
    role
}

/// The settings that tell it whom to believe are in kube-system, wherever it is.
fn auth_reader(parts: &Parts<'_>) -> Value {
    let body = json!({
        "roleRef": role_ref("Role", "extension-apiserver-authentication-reader"),
        "subjects": [parts.subject(NAME)],
    });
    let mut binding = parts.local(RBAC, "RoleBinding", "metrics-server-auth-reader", body);
    binding["metadata"]["namespace"] = json!("kube-system");
    binding
}

fn service(parts: &Parts<'_>) -> Value {
    let port = json!({ "name": "https", "port": 443, "protocol": "TCP", "targetPort": "https", "appProtocol": "https" });
    let spec = json!({ "type": "ClusterIP", "selector": labels(), "ports": [port] });
    parts.local("v1", "Service", NAME, json!({ "spec": spec }))
}

fn server(parts: &Parts<'_>, values: &Values) -> Value {
    let mut args = vec![
        "--secure-port=10250",
        "--cert-dir=/tmp",
        "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
        "--kubelet-use-node-status-port",
        "--metric-resolution=15s",
    ];
    if values.kubelets == KubeletCertificates::SelfSigned {
        args.push("--kubelet-insecure-tls");
    }
    let probe =
        |path: &str| json!({ "httpGet": { "path": path, "port": "https", "scheme": "HTTPS" } });
    let mut security = restricted();
    security["runAsUser"] = json!(1000);
    let container = json!({
        "name": NAME,
        "image": format!("registry.k8s.io/metrics-server/metrics-server:v{}", values.server),
        "args": args,
        "ports": [{ "name": "https", "containerPort": 10250, "protocol": "TCP" }],
        "livenessProbe": probe("/livez"),
        "readinessProbe": probe("/readyz"),
        "resources": { "requests": { "cpu": "100m", "memory": "200Mi" } },
        "securityContext": security,
        "volumeMounts": [{ "name": "tmp", "mountPath": "/tmp" }],
    });
    let pod = json!({
        "serviceAccountName": NAME,
        "priorityClassName": "system-cluster-critical",
        "containers": [container],
        "volumes": [{ "name": "tmp", "emptyDir": {} }],
    });
    parts.workload("Deployment", NAME, &labels(), json!({ "replicas": 1, "pod": pod }))
}

fn api_service(parts: &Parts<'_>) -> Value {
    let spec = json!({
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": true,
        "service": { "name": NAME, "namespace": parts.namespace, "port": 443 },
    });
    parts.global("apiregistration.k8s.io/v1", "APIService", API, json!({ "spec": spec }))
}
