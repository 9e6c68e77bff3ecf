//! The pieces that manifests are made of.

use serde_json::{Value, json};

/// What the objects of one addon have in common.
pub(crate) struct Parts<'a> {
    /// The namespace of those that are in one.
    pub(crate) namespace: &'a str,
    /// The labels of all.
    pub(crate) labels: Value,
}

impl<'a> Parts<'a> {
    /// The parts of an addon of this name.
    pub(crate) fn of(addon: &str, namespace: &'a str) -> Self {
        let labels = json!({
            "app.kubernetes.io/managed-by": "seaworthy",
            "app.kubernetes.io/part-of": addon,
        });
        Self { namespace, labels }
    }

    /// An object of the whole cluster.
    pub(crate) fn global(&self, api_version: &str, kind: &str, name: &str, body: Value) -> Value {
        let metadata = json!({ "name": name, "labels": self.labels });
        object(api_version, kind, &metadata, body)
    }

    /// An object of the addon's namespace.
    pub(crate) fn local(&self, api_version: &str, kind: &str, name: &str, body: Value) -> Value {
        let metadata = json!({
            "name": name, "namespace": self.namespace, "labels": self.labels,
        });
        object(api_version, kind, &metadata, body)
    }

    /// A service account.
    pub(crate) fn account(&self, name: &str) -> Value {
        self.local("v1", "ServiceAccount", name, json!({}))
    }

    /// A service account with rights in the whole cluster.
    pub(crate) fn account_with(&self, name: &str, rules: &Value) -> [Value; 3] {
        let role = self.global(RBAC, "ClusterRole", name, json!({ "rules": rules }));
        [self.account(name), role, self.binding(name, name, name)]
    }

    /// Gives a service account of the addon a role in the whole cluster.
    pub(crate) fn binding(&self, name: &str, role: &str, account: &str) -> Value {
        let body = json!({ "roleRef": role_ref("ClusterRole", role), "subjects": [self.subject(account)] });
        self.global(RBAC, "ClusterRoleBinding", name, body)
    }

    /// A service account of the addon, as bindings name it.
    pub(crate) fn subject(&self, account: &str) -> Value {
        json!({ "kind": "ServiceAccount", "name": account, "namespace": self.namespace })
    }

    /// A workload whose pods carry `labels`.
    pub(crate) fn workload(&self, kind: &str, name: &str, labels: &Value, spec: Value) -> Value {
        let Value::Object(mut spec) = spec else {
            unreachable!("a workload's spec is written as a mapping")
        };
        let pod = spec.remove("pod").unwrap_or_default();
        let body = merged(
            json!({
                "selector": { "matchLabels": labels },
                "template": { "metadata": { "labels": labels }, "spec": pod },
            }),
            Value::Object(spec),
        );
        let mut whole = self.local("apps/v1", kind, name, json!({ "spec": body }));
        for (key, value) in labels.as_object().into_iter().flatten() {
            whole["metadata"]["labels"][key] = value.clone();
        }
        whole
    }

    /// A definition of a kind whose fields are left to its controller.
    pub(crate) fn definition(&self, kind: &NewKind) -> Value {
        let NewKind { group, version, kind, singular, plural } = kind;
        let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        let schema = json!({
            "type": "object",
            "properties": {
                "apiVersion": { "type": "string" },
                "kind": { "type": "string" },
                "metadata": { "type": "object" },
                "spec": open,
                "status": open,
            },
        });
        let body = json!({ "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": { "kind": kind, "listKind": format!("{kind}List"), "singular": singular, "plural": plural },
            "versions": [{
                "name": version, "served": true, "storage": true,
                "schema": { "openAPIV3Schema": schema },
                "subresources": { "status": {} },
            }],
        }});
        let name = format!("{plural}.{group}");
        self.global("apiextensions.k8s.io/v1", "CustomResourceDefinition", &name, body)
    }
}

/// A kind that an addon brings along.
pub(crate) struct NewKind {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) singular: &'static str,
    pub(crate) plural: &'static str,
}

/// The API of rights.
pub(crate) const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// The node selector of control planes.
pub(crate) fn on_control_planes() -> Value {
    json!({ "node-role.kubernetes.io/control-plane": "" })
}

/// Tolerates every taint: for what makes nodes usable in the first place.
pub(crate) fn everywhere() -> Value {
    json!([{ "operator": "Exists" }])
}

/// Tolerates the taints of control planes that wait for network and cloud.
pub(crate) fn early() -> Value {
    json!([
        { "key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule" },
        { "key": "node.cloudprovider.kubernetes.io/uninitialized", "operator": "Exists", "effect": "NoSchedule" },
        { "key": "node.cilium.io/agent-not-ready", "operator": "Exists", "effect": "NoSchedule" },
        { "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule" },
        { "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute" },
        { "key": "CriticalAddonsOnly", "operator": "Exists" },
    ])
}

/// Tolerates being on a control plane.
pub(crate) fn control_plane_taint() -> Value {
    json!([{ "key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule" }])
}

/// Keeps pods with these labels on different nodes.
pub(crate) fn apart(labels: &Value) -> Value {
    json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [
        { "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": labels } },
    ]}})
}

/// Containers that the strictest pod security takes.
pub(crate) fn restricted() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "capabilities": { "drop": ["ALL"] },
        "readOnlyRootFilesystem": true,
        "runAsNonRoot": true,
        "seccompProfile": { "type": "RuntimeDefault" },
    })
}

/// One rule of a role.
pub(crate) fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({ "apiGroups": groups, "resources": resources, "verbs": verbs })
}

/// A reference to a role.
pub(crate) fn role_ref(kind: &str, name: &str) -> Value {
    json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name })
}

fn object(api_version: &str, kind: &str, metadata: &Value, body: Value) -> Value {
    merged(json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata }), body)
}

/// The keys of both; they have none in common.
fn merged(mut one: Value, other: Value) -> Value {
    if let (Value::Object(into), Value::Object(from)) = (&mut one, other) {
        into.extend(from);
    }
    one
}
