//! Manifests that stand in for the chart of Sealed Secrets.

use serde_json::{Value, json};

use crate::Rendered;
use crate::manifest::{NewKind, Parts, RBAC, restricted, role_ref, rule};

/// What Sealed Secrets is rendered from.
#[derive(Clone, Debug)]
pub struct Values {
    /// The version of the controller, without a `v`; the chart counts otherwise.
    pub controller: String,
    /// The namespace.
    pub namespace: String,
}

/// The name by which kubeseal looks for it.
pub(super) const NAME: &str = "sealed-secrets-controller";
pub(super) const PORT: u16 = 8080;

const SEALED_SECRET: NewKind = NewKind {
    group: "bitnami.com",
    version: "v1alpha1",
    kind: "SealedSecret",
    singular: "sealedsecret",
    plural: "sealedsecrets",
};

/// Renders Sealed Secrets. The key is a Secret of its own, see
/// [`SealingKey::secret`](crate::seal::SealingKey::secret).
pub fn render(values: &Values) -> Rendered {
    let parts = Parts::of("sealed-secrets", &values.namespace);
    let mut objects = vec![
        parts.definition(&SEALED_SECRET),
        parts.account(NAME),
        parts.global(RBAC, "ClusterRole", "secrets-unsealer", json!({ "rules": unsealer() })),
        parts.binding(NAME, "secrets-unsealer", NAME),
        service(&parts),
        controller(&parts, values),
    ];
    objects.extend(local_role(&parts, "key-admin", &key_admin(), &parts.subject(NAME)));
    let everybody = json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated" });
    objects.extend(local_role(&parts, "service-proxier", &proxier(), &everybody));
    Rendered::stand_in(objects)
}

fn labels() -> Value {
    json!({ "app.kubernetes.io/name": "sealed-secrets", "app.kubernetes.io/instance": "sealed-secrets" })
}

fn service(parts: &Parts<'_>) -> Value {
    let http = json!({ "name": "http", "port": PORT, "targetPort": "http" });
    let spec = json!({ "type": "ClusterIP", "selector": labels(), "ports": [http] });
    parts.local("v1", "Service", NAME, json!({ "spec": spec }))
}

fn controller(parts: &Parts<'_>, values: &Values) -> Value {
    let probe = json!({ "httpGet": { "path": "/healthz", "port": "http" } });
    let mut security = restricted();
    security["runAsUser"] = json!(1001);
    let container = json!({
        "name": "controller",
        "image": format!("docker.io/bitnami/sealed-secrets-controller:{}", values.controller),
        "command": ["controller"],
        // A key that nobody has a copy of would come every month.
        "args": ["--update-status", "--key-prefix", "sealed-secrets-key", "--key-renew-period=0"],
        "ports": [{ "name": "http", "containerPort": PORT }],
        "livenessProbe": probe,
        "readinessProbe": probe,
        "securityContext": security,
        "volumeMounts": [{ "name": "tmp", "mountPath": "/tmp" }],
    });
    let pod = json!({
        "serviceAccountName": NAME,
        "securityContext": { "fsGroup": 65534 },
        "containers": [container],
        "volumes": [{ "name": "tmp", "emptyDir": {} }],
    });
    let spec = json!({ "replicas": 1, "pod": pod });
    parts.workload("Deployment", NAME, &labels(), spec)
}

/// A role in the addon's own namespace, and who has it.
fn local_role(parts: &Parts<'_>, what: &str, rules: &Value, subject: &Value) -> [Value; 2] {
    let name = format!("sealed-secrets-{what}");
    let binding = json!({ "roleRef": role_ref("Role", &name), "subjects": [subject] });
    [
        parts.local(RBAC, "Role", &name, json!({ "rules": rules })),
        parts.local(RBAC, "RoleBinding", &name, binding),
    ]
}

fn unsealer() -> Value {
    json!([
        rule(&["bitnami.com"], &["sealedsecrets"], &["get", "list", "watch"]),
        rule(&["bitnami.com"], &["sealedsecrets/status"], &["update"]),
        rule(&[""], &["secrets"], &["get", "list", "create", "update", "delete", "watch"]),
        rule(&[""], &["events"], &["create", "patch"]),
        rule(&[""], &["namespaces"], &["get"]),
    ])
}

fn key_admin() -> Value {
    json!([rule(&[""], &["secrets"], &["create", "list"])])
}

/// Whoever may log in may seal: the certificate is no secret.
fn proxier() -> Value {
    json!([{
        "apiGroups": [""],
        "resources": ["services/proxy"],
        "resourceNames": [
            NAME,
            format!("http:{NAME}:"),
            format!("http:{NAME}:http"),
            format!("http:{NAME}:{PORT}"),
        ],
        "verbs": ["create", "get"],
    }])
}
