//! Manifests that stand in for the chart of Hetzner's cloud controller.

use std::net::SocketAddr;

use events::Secret;
use ipnet::IpNet;
use serde_json::{Value, json};

use crate::manifest::{Parts, early, on_control_planes};
use crate::{Rendered, SecretObject};

/// What the cloud controller is rendered from.
#[derive(Clone, Debug)]
pub struct Values {
    /// The version, without a `v`.
    pub version: String,
    /// The namespace.
    pub namespace: String,
    /// The range of pod addresses, if the controller keeps routes to them.
    pub routes_for: Option<IpNet>,
    /// Where load balancers are made.
    pub location: String,
    /// The type of load balancers that do not name one.
    pub load_balancer_type: String,
    /// Where it reaches the API before services work: `KubePrism` on Talos.
    pub api: SocketAddr,
    /// How many control planes there are, which decides about the replicas.
    pub control_planes: usize,
}

const NAME: &str = "hcloud-cloud-controller-manager";

/// Renders the cloud controller, which needs the Secret of [`token`] too.
pub fn render(values: &Values) -> Rendered {
    let parts = Parts::of("hcloud-ccm", &values.namespace);
    Rendered::stand_in(vec![
        parts.account(NAME),
        // It has always run with all rights.
        parts.binding(&format!("system:{NAME}"), "cluster-admin", NAME),
        controller(&parts, values),
    ])
}

/// The Secret with the token and the network, which the storage driver reads too.
pub fn token(namespace: &str, token: &Secret, network: &str) -> SecretObject {
    let metadata = json!({ "name": "hcloud", "namespace": namespace });
    let head =
        json!({ "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata });
    SecretObject::new(head, [("token", token.reveal()), ("network", network)])
}

fn controller(parts: &Parts<'_>, values: &Values) -> Value {
    let labels = json!({
        "app.kubernetes.io/instance": "hcloud-hccm",
        "app.kubernetes.io/name": NAME,
    });
    let container = json!({
        "name": NAME,
        "image": format!("docker.io/hetznercloud/hcloud-cloud-controller-manager:v{}", values.version),
        "command": ["/bin/hcloud-cloud-controller-manager"],
        "args": arguments(values),
        "env": environment(values),
        "ports": [{ "name": "metrics", "containerPort": 8233 }],
        "resources": { "requests": { "cpu": "100m", "memory": "50Mi" } },
    });
    let pod = json!({
        "serviceAccountName": NAME,
        "hostNetwork": true,
        // The cluster's DNS is not there yet.
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": on_control_planes(),
        "tolerations": early(),
        "containers": [container],
    });
    let spec = json!({ "replicas": replicas(values), "revisionHistoryLimit": 2, "pod": pod });
    parts.workload("Deployment", NAME, &labels, spec)
}

/// Its port is the host's: never more than there are control planes.
fn replicas(values: &Values) -> usize {
    if values.control_planes > 1 { 2 } else { 1 }
}

fn arguments(values: &Values) -> Vec<String> {
    let mut arguments = vec![
        "--allow-untagged-cloud".to_owned(),
        "--cloud-provider=hcloud".to_owned(),
        "--route-reconciliation-period=30s".to_owned(),
        "--webhook-secure-port=0".to_owned(),
        format!("--leader-elect={}", replicas(values) > 1),
    ];
    if let Some(pods) = values.routes_for {
        arguments.push("--allocate-node-cidrs=true".to_owned());
        arguments.push(format!("--cluster-cidr={pods}"));
    }
    arguments
}

fn environment(values: &Values) -> Value {
    let from = |key: &str| json!({ "secretKeyRef": { "name": "hcloud", "key": key } });
    json!([
        { "name": "HCLOUD_TOKEN", "valueFrom": from("token") },
        { "name": "HCLOUD_NETWORK", "valueFrom": from("network") },
        { "name": "HCLOUD_NETWORK_ROUTES_ENABLED", "value": values.routes_for.is_some().to_string() },
        { "name": "HCLOUD_LOAD_BALANCERS_LOCATION", "value": values.location },
        { "name": "HCLOUD_LOAD_BALANCERS_TYPE", "value": values.load_balancer_type },
        { "name": "KUBERNETES_SERVICE_HOST", "value": values.api.ip().to_string() },
        { "name": "KUBERNETES_SERVICE_PORT", "value": values.api.port().to_string() },
    ])
}
