//! Manifests that stand in for Flux's release.

use events::Secret;
use serde_json::{Value, json};

use crate::manifest::{NewKind, Parts, restricted, rule};
use crate::{Rendered, SecretObject};

/// What Flux is rendered from.
#[derive(Clone, Debug)]
pub struct Values {
    /// The version of the release, without a `v`.
    pub version: String,
    /// The namespace.
    pub namespace: String,
    /// The repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The folder in the repository.
    pub path: String,
    /// How often Flux looks for changes, such as `1m0s`.
    pub interval: String,
    /// Whether the repository asks who is there, and so a Secret is needed.
    pub is_private: bool,
}

/// How Flux gets into the repository.
#[derive(Clone, Debug)]
pub enum Access {
    /// For `ssh://`.
    Ssh {
        /// The private key.
        identity: Secret,
        /// The host keys to trust.
        known_hosts: String,
    },
    /// For `https://`.
    Https {
        /// The user.
        username: String,
        /// The password or token.
        password: Secret,
    },
}

/// The name of the objects that everything starts from.
pub(super) const ROOT: &str = "flux-system";

/// The controllers that the gate awaits.
pub(super) const CONTROLLERS: [&str; 4] =
    ["source-controller", "kustomize-controller", "helm-controller", "notification-controller"];

const SOURCE: &str = "source.toolkit.fluxcd.io";
const NOTIFICATION: &str = "notification.toolkit.fluxcd.io";

const KINDS: [NewKind; 10] = [
    kind(SOURCE, "v1", "GitRepository", "gitrepository", "gitrepositories"),
    kind(SOURCE, "v1", "OCIRepository", "ocirepository", "ocirepositories"),
    kind(SOURCE, "v1", "HelmRepository", "helmrepository", "helmrepositories"),
    kind(SOURCE, "v1", "HelmChart", "helmchart", "helmcharts"),
    kind(SOURCE, "v1", "Bucket", "bucket", "buckets"),
    kind("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomization", "kustomizations"),
    kind("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmrelease", "helmreleases"),
    kind(NOTIFICATION, "v1beta3", "Alert", "alert", "alerts"),
    kind(NOTIFICATION, "v1beta3", "Provider", "provider", "providers"),
    kind(NOTIFICATION, "v1", "Receiver", "receiver", "receivers"),
];

const fn kind(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    singular: &'static str,
    plural: &'static str,
) -> NewKind {
    NewKind { group, version, kind, singular, plural }
}

/// Renders Flux and what it follows.
pub fn render(values: &Values) -> Rendered {
    let namespace = &values.namespace;
    let parts = Parts::of("flux", namespace);
    let mut home = parts.global("v1", "Namespace", namespace, json!({}));
    home["metadata"]["labels"]["pod-security.kubernetes.io/warn"] = json!("restricted");
    let mut objects = vec![home];
    objects.extend(KINDS.iter().map(|kind| parts.definition(kind)));
    objects.extend(rights(&parts));
    objects.extend([
        service(&parts, "source-controller", "source-controller", "http"),
        service(&parts, "notification-controller", "notification-controller", "http"),
        service(&parts, "webhook-receiver", "notification-controller", "http-webhook"),
    ]);
    objects.extend(CONTROLLERS.iter().map(|name| controller(&parts, name, &values.version)));
    objects.extend([repository(&parts, values), kustomization(&parts, values)]);
    Rendered::stand_in(objects)
}

/// The Secret by which Flux gets into the repository.
pub fn access(namespace: &str, access: &Access) -> SecretObject {
    let metadata = json!({ "name": ROOT, "namespace": namespace });
    let head =
        json!({ "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata });
    match access {
        // The public half may be there too, and Flux does not read it.
        Access::Ssh { identity, known_hosts } => SecretObject::new(
            head,
            [("identity", identity.reveal()), ("known_hosts", known_hosts.as_str())],
        ),
        Access::Https { username, password } => {
            SecretObject::new(head, [("username", &**username), ("password", password.reveal())])
        }
    }
}

fn rights(parts: &Parts<'_>) -> Vec<Value> {
    let mut rights: Vec<_> = CONTROLLERS.iter().map(|name| parts.account(name)).collect();
    let name = format!("crd-controller-{}", parts.namespace);
    let groups = [SOURCE, "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", NOTIFICATION];
    let rules = json!([
        rule(&groups, &["*"], &["*"]),
        rule(
            &[""],
            &["namespaces", "secrets", "configmaps", "serviceaccounts"],
            &["get", "list", "watch"]
        ),
        rule(&[""], &["events"], &["create", "patch"]),
        rule(&["coordination.k8s.io"], &["leases"], &["*"]),
    ]);
    rights.push(parts.global(
        crate::manifest::RBAC,
        "ClusterRole",
        &name,
        json!({ "rules": rules }),
    ));
    rights.push(binding(parts, &name, &name, &CONTROLLERS));
    let reconcilers = ["kustomize-controller", "helm-controller"];
    let name = format!("cluster-reconciler-{}", parts.namespace);
    rights.push(binding(parts, &name, "cluster-admin", &reconcilers));
    rights
}

fn binding(parts: &Parts<'_>, name: &str, role: &str, accounts: &[&str]) -> Value {
    let mut binding = parts.binding(name, role, "");
    binding["subjects"] = accounts.iter().map(|account| parts.subject(account)).collect();
    binding
}

fn service(parts: &Parts<'_>, name: &str, app: &str, port: &str) -> Value {
    let http = json!({ "name": "http", "port": 80, "protocol": "TCP", "targetPort": port });
    let spec = json!({ "type": "ClusterIP", "selector": { "app": app }, "ports": [http] });
    parts.local("v1", "Service", name, json!({ "spec": spec }))
}

fn controller(parts: &Parts<'_>, name: &str, version: &str) -> Value {
    let labels = json!({ "app": name, "app.kubernetes.io/component": name });
    let container = json!({
        "name": "manager",
        // The controllers count versions of their own, which a stand-in does not know.
        "image": format!("ghcr.io/fluxcd/{name}:v{version}"),
        "args": ["--watch-all-namespaces=true", "--log-level=info", "--log-encoding=json", "--enable-leader-election"],
        "env": [{ "name": "RUNTIME_NAMESPACE", "valueFrom": { "fieldRef": { "fieldPath": "metadata.namespace" } } }],
        "ports": [
            { "name": "http", "containerPort": 9090, "protocol": "TCP" },
            { "name": "http-prom", "containerPort": 8080, "protocol": "TCP" },
            { "name": "http-webhook", "containerPort": 9292, "protocol": "TCP" },
            { "name": "healthz", "containerPort": 9440, "protocol": "TCP" },
        ],
        "livenessProbe": { "httpGet": { "path": "/healthz", "port": "healthz" } },
        "readinessProbe": { "httpGet": { "path": "/readyz", "port": "healthz" } },
        "resources": { "requests": { "cpu": "50m", "memory": "64Mi" }, "limits": { "memory": "1Gi" } },
        "securityContext": restricted(),
        "volumeMounts": [{ "name": "temp", "mountPath": "/tmp" }],
    });
    let pod = json!({
        "serviceAccountName": name,
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": { "kubernetes.io/os": "linux" },
        "securityContext": { "fsGroup": 1337 },
        "containers": [container],
        "volumes": [{ "name": "temp", "emptyDir": {} }],
    });
    parts.workload("Deployment", name, &labels, json!({ "replicas": 1, "pod": pod }))
}

fn repository(parts: &Parts<'_>, values: &Values) -> Value {
    let mut spec = json!({
        "interval": values.interval,
        "ref": { "branch": values.branch },
        "url": values.repository,
    });
    if values.is_private {
        spec["secretRef"] = json!({ "name": ROOT });
    }
    parts.local("source.toolkit.fluxcd.io/v1", "GitRepository", ROOT, json!({ "spec": spec }))
}

fn kustomization(parts: &Parts<'_>, values: &Values) -> Value {
    let spec = json!({
        "interval": "10m0s",
        "path": format!("./{}", values.path.trim_start_matches("./")),
        "prune": true,
        "sourceRef": { "kind": "GitRepository", "name": ROOT },
    });
    parts.local("kustomize.toolkit.fluxcd.io/v1", "Kustomization", ROOT, json!({ "spec": spec }))
}
