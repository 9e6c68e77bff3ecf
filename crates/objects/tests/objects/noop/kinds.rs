//! Objects of many kinds, as manifests have them.

use serde_json::{Value, json};

use super::dice::Dice;
use super::extensions::{own_definition, renamed, webhooks};
use super::workloads::{cron_job, daemon_set, deployment, job, pod, stateful_set};

/// The group of the test's own kinds gets the namespace in front.
pub(crate) const STRICT: &str = "Strict";
pub(crate) const LOOSE: &str = "Loose";

type Make = fn(&mut Dice) -> Value;

/// apiVersion, kind, and what makes the rest. `@` is the test's own group.
pub(crate) const KINDS: &[(&str, &str, Make)] = &[
    ("v1", "ConfigMap", config_map),
    ("v1", "Secret", secret),
    ("v1", "Service", service),
    ("v1", "ServiceAccount", service_account),
    ("v1", "ResourceQuota", quota),
    ("v1", "LimitRange", limits),
    ("v1", "PersistentVolumeClaim", claim),
    ("apps/v1", "Deployment", deployment),
    ("apps/v1", "Deployment", deployment),
    ("apps/v1", "StatefulSet", stateful_set),
    ("batch/v1", "CronJob", cron_job),
    ("rbac.authorization.k8s.io/v1", "Role", role),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", binding),
    ("networking.k8s.io/v1", "NetworkPolicy", policy),
    ("networking.k8s.io/v1", "Ingress", ingress),
    ("policy/v1", "PodDisruptionBudget", budget),
    ("autoscaling/v2", "HorizontalPodAutoscaler", autoscaler),
    ("v1", "Pod", pod),
    ("batch/v1", "Job", job),
    ("apps/v1", "DaemonSet", daemon_set),
    ("v1", "Namespace", namespace),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", own_definition),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", webhooks),
    ("@/v1", STRICT, strict),
    ("@/v1", LOOSE, loose),
];

/// The kinds among them that are in no namespace.
const CLUSTER_WIDE: [&str; 3] =
    ["Namespace", "CustomResourceDefinition", "ValidatingWebhookConfiguration"];

pub(super) const QUANTITIES: [&str; 9] =
    ["1", "2", "500m", "1000m", "0.5", "1Gi", "1024Mi", "128Mi", "1e3"];

/// Makes the object of this number, with a name that no other test has.
pub(crate) fn make(dice: &mut Dice, index: usize, namespace: &str, group: &str) -> Value {
    let (version, kind, make) = KINDS[index % KINDS.len()];
    let mut body = make(dice);
    body["apiVersion"] = version.replace('@', group).into();
    body["kind"] = kind.into();
    body["metadata"]["name"] = format!("x{index}").into();
    if !CLUSTER_WIDE.contains(&kind) {
        body["metadata"]["namespace"] = namespace.into();
    } else if kind == "CustomResourceDefinition" {
        body = renamed(body, &format!("x{index}.{group}"));
    } else {
        body["metadata"]["name"] = format!("{namespace}-x{index}").into();
    }
    if dice.percent(60) {
        body["metadata"]["labels"]["tier"] = "web".into();
        body["metadata"]["labels"]["app.kubernetes.io/name"] = "web".into();
    }
    if dice.percent(30) {
        body["metadata"]["annotations"] = json!({ "example.com/note": "a: b\n" });
    }
    if dice.percent(10) {
        body["metadata"]["finalizers"] = json!(["example.com/a", "example.com/b"]);
    }
    body
}

fn config_map(dice: &mut Dice) -> Value {
    let mut data = json!({ "nginx.conf": "server {\n}\n", "k": "v" });
    if dice.percent(30) {
        data["0"] = "zero".into();
    }
    json!({ "data": data })
}

fn secret(dice: &mut Dice) -> Value {
    let mut body = json!({ "type": "Opaque", "data": { "password": "aHVudGVyMg==" } });
    if dice.percent(20) {
        body["stringData"] = json!({ "token": "plain" });
    }
    body
}

fn service(dice: &mut Dice) -> Value {
    let mut ports = vec![json!({ "name": "http", "port": 80 })];
    if dice.percent(50) {
        ports[0]["protocol"] = "TCP".into();
    }
    if dice.percent(50) {
        ports[0]["targetPort"] = dice.one_of(&[json!(8080), json!("http")]);
    }
    if dice.percent(50) {
        ports.push(json!({ "name": "dns", "port": 53, "protocol": "UDP" }));
    }
    json!({ "spec": { "selector": { "app": "web" }, "ports": ports } })
}

fn service_account(dice: &mut Dice) -> Value {
    if dice.percent(40) {
        return json!({});
    }
    let mut body = json!({ "automountServiceAccountToken": dice.percent(50) });
    if dice.percent(50) {
        body["imagePullSecrets"] = json!([{ "name": "pull" }, { "name": "other" }]);
    }
    body
}

/// Counts what nobody has: others of the namespace have to be admitted.
fn quota(dice: &mut Dice) -> Value {
    let hard = json!({ "count/nothings.nobody.example": dice.one_of(&["100k", "100000", "1e5"]),
        "services.loadbalancers": "10000" });
    json!({ "spec": { "hard": hard } })
}

fn limits(dice: &mut Dice) -> Value {
    let memory = dice.one_of(&["64Gi", "65536Mi"]);
    json!({ "spec": { "limits": [{ "type": "nobody.example/Nothing", "max": { "memory": memory } }] } })
}

pub(super) fn claim(dice: &mut Dice) -> Value {
    json!({ "spec": { "accessModes": ["ReadWriteOnce"],
        "resources": { "requests": { "storage": dice.one_of(&QUANTITIES) } } } })
}

fn namespace(dice: &mut Dice) -> Value {
    if dice.percent(50) {
        return json!({});
    }
    json!({ "metadata": { "labels": { "pod-security.kubernetes.io/enforce": "restricted" } } })
}

fn role(dice: &mut Dice) -> Value {
    let mut rules =
        vec![json!({ "apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"] })];
    if dice.percent(50) {
        rules.push(json!({ "apiGroups": ["apps"], "resources": ["*"], "verbs": ["*"] }));
    }
    json!({ "rules": rules })
}

fn binding(dice: &mut Dice) -> Value {
    let mut subject =
        json!({ "kind": "ServiceAccount", "name": "default", "namespace": "default" });
    if dice.percent(30) {
        subject = json!({ "kind": "User", "name": "jo" });
    }
    json!({ "subjects": [subject], "roleRef": { "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Role", "name": "r" } })
}

fn policy(dice: &mut Dice) -> Value {
    let mut port = json!({ "port": dice.one_of(&[json!(80), json!("http")]) });
    if dice.percent(50) {
        port["protocol"] = "TCP".into();
    }
    json!({ "spec": { "podSelector": {}, "policyTypes": ["Ingress"],
        "ingress": [{ "ports": [port], "from": [{ "podSelector": { "matchLabels": { "a": "b" } } }] }] } })
}

fn ingress(dice: &mut Dice) -> Value {
    let service = json!({ "name": "web", "port": { "number": 80 } });
    let host = dice.one_of(&["a.example", "*.b.example"]);
    let path = json!({ "path": "/", "pathType": "Prefix", "backend": { "service": service } });
    json!({ "spec": { "rules": [{ "host": host, "http": { "paths": [path] } }] } })
}

fn budget(dice: &mut Dice) -> Value {
    let least = dice.one_of(&[json!(1), json!("50%")]);
    json!({ "spec": { "minAvailable": least, "selector": { "matchLabels": { "app": "web" } } } })
}

fn autoscaler(dice: &mut Dice) -> Value {
    let target = json!({ "type": "AverageValue", "averageValue": dice.one_of(&QUANTITIES) });
    json!({ "spec": { "maxReplicas": 3, "minReplicas": 1,
        "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "none" },
        "metrics": [{ "type": "Resource", "resource": { "name": "cpu", "target": target } }] } })
}

fn strict(dice: &mut Dice) -> Value {
    let mut items = vec![json!({ "id": "a", "size": 1 }), json!({ "id": "b", "port": "http" })];
    if dice.percent(50) {
        items.push(json!({ "id": "c", "zone": "z", "port": 80 }));
    }
    json!({ "spec": { "items": items, "tags": ["x", "y"], "either": dice.one_of(&[json!(1), json!("1")]),
        "ratio": dice.one_of(&[json!(0.5), json!(2)]), "list": [3, 1, 2], "map": { "a.b": { "n": 1 } } } })
}

fn loose(dice: &mut Dice) -> Value {
    let mut spec = json!({ "anything": { "deep": [{ "name": "a" }, { "name": "b" }], "n": 1.5 },
        "empty": {}, "none": [], "text": "t" });
    if dice.percent(20) {
        spec["null"] = Value::Null;
    }
    json!({ "spec": spec })
}
