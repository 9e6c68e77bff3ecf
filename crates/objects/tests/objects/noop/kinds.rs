//! Objects of many kinds, as manifests have them.

use serde_json::{Value, json};

use super::dice::Dice;

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

const QUANTITIES: [&str; 9] = ["1", "2", "500m", "1000m", "0.5", "1Gi", "1024Mi", "128Mi", "1e3"];

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

fn claim(dice: &mut Dice) -> Value {
    json!({ "spec": { "accessModes": ["ReadWriteOnce"],
        "resources": { "requests": { "storage": dice.one_of(&QUANTITIES) } } } })
}

fn container(dice: &mut Dice, name: &str) -> Value {
    let mut container = json!({ "name": name, "image": format!("example.test/{name}:1") });
    if dice.percent(60) {
        container["env"] = env(dice);
    }
    if dice.percent(60) {
        container["ports"] = json!([{ "containerPort": 8080 },
            { "containerPort": 8080, "protocol": "UDP", "name": "quic" }]);
    }
    if dice.percent(60) {
        container["resources"] = json!({
            "requests": { "cpu": dice.one_of(&QUANTITIES) },
            "limits": { "memory": dice.one_of(&QUANTITIES) } });
    }
    if dice.percent(40) {
        let port = dice.one_of(&[json!(8080), json!("quic")]);
        container["readinessProbe"] = json!({ "httpGet": { "path": "/", "port": port } });
    }
    if dice.percent(40) {
        container["args"] = json!(["--b", "--a"]);
        container["volumeMounts"] = json!([{ "name": "v", "mountPath": "/v" }]);
    }
    if dice.percent(20) {
        container["securityContext"] = json!({});
        container["command"] = json!([]);
    }
    container
}

fn env(dice: &mut Dice) -> Value {
    let mut env = vec![json!({ "name": "A", "value": "1" }), json!({ "name": "B" })];
    if dice.percent(40) {
        let field = json!({ "fieldPath": "metadata.name" });
        env.insert(0, json!({ "name": "POD", "valueFrom": { "fieldRef": field } }));
    }
    if dice.percent(40) {
        let key = json!({ "name": "c", "key": "k" });
        env.push(json!({ "name": "C", "valueFrom": { "configMapKeyRef": key } }));
    }
    json!(env)
}

fn template(dice: &mut Dice) -> Value {
    let mut containers = vec![container(dice, "app")];
    for name in ["proxy", "log"] {
        if dice.percent(40) {
            containers.push(container(dice, name));
        }
    }
    let mut spec = json!({ "containers": containers,
        "volumes": [{ "name": "v", "emptyDir": {} }, { "name": "w", "configMap": { "name": "c", "defaultMode": 420 } }] });
    if dice.percent(30) {
        spec["tolerations"] = json!([{ "key": "a", "operator": "Exists" }]);
        spec["nodeSelector"] = json!({ "kubernetes.io/os": "linux" });
        spec["imagePullSecrets"] = json!([]);
    }
    if dice.percent(30) {
        spec["serviceAccountName"] = "default".into();
        spec["securityContext"] = json!({ "runAsNonRoot": true });
        let init = json!({ "name": "init", "image": "example.test/init:1", "env": env(dice) });
        spec["initContainers"] = json!([init]);
    }
    let mut metadata = json!({ "labels": { "app": "web" } });
    if dice.percent(15) {
        metadata["creationTimestamp"] = Value::Null;
    }
    json!({ "metadata": metadata, "spec": spec })
}

fn deployment(dice: &mut Dice) -> Value {
    let mut spec = json!({ "selector": { "matchLabels": { "app": "web" } }, "replicas": 0,
        "template": template(dice) });
    if dice.percent(30) {
        let surge = dice.one_of(&[json!(1), json!("25%")]);
        spec["strategy"] =
            json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": surge } });
    }
    json!({ "spec": spec })
}

fn stateful_set(dice: &mut Dice) -> Value {
    let mut template = template(dice);
    template["spec"]["containers"][0]["volumeMounts"] =
        json!([{ "name": "data", "mountPath": "/d" }]);
    let claim = json!({ "metadata": { "name": "data" }, "spec": claim(dice)["spec"] });
    json!({ "spec": { "selector": { "matchLabels": { "app": "web" } }, "replicas": 0,
        "serviceName": "web", "template": template, "volumeClaimTemplates": [claim] } })
}

fn cron_job(dice: &mut Dice) -> Value {
    let mut template = template(dice);
    template["spec"]["restartPolicy"] = "Never".into();
    json!({ "spec": { "schedule": "0 4 1 1 *", "suspend": true,
        "jobTemplate": { "spec": { "template": template } } } })
}

/// There is no node for it, and no controller takes it for its own: it stays.
fn pod(dice: &mut Dice) -> Value {
    json!({ "metadata": { "labels": { "alone": "true" } }, "spec": template(dice)["spec"] })
}

fn job(dice: &mut Dice) -> Value {
    let mut template = template(dice);
    template["spec"]["restartPolicy"] = "Never".into();
    json!({ "spec": { "suspend": true, "backoffLimit": 1, "template": template } })
}

fn daemon_set(dice: &mut Dice) -> Value {
    let mut spec = json!({ "selector": { "matchLabels": { "app": "web" } },
        "template": template(dice) });
    if dice.percent(50) {
        let most = dice.one_of(&[json!(1), json!("10%")]);
        spec["updateStrategy"] =
            json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": most } });
    }
    json!({ "spec": spec })
}

fn namespace(dice: &mut Dice) -> Value {
    if dice.percent(50) {
        return json!({});
    }
    json!({ "metadata": { "labels": { "pod-security.kubernetes.io/enforce": "restricted" } } })
}

/// A definition that is itself what is changed.
fn own_definition(dice: &mut Dice) -> Value {
    let [strict, loose] = definitions("example.test");
    dice.one_of(&[strict, loose])
}

/// Gives a definition a name and a group of its own.
fn renamed(mut definition: Value, group: &str) -> Value {
    let plural = definition["spec"]["names"]["plural"].as_str().unwrap().to_owned();
    definition["metadata"]["name"] = format!("{plural}.{group}").into();
    definition["spec"]["group"] = group.into();
    definition
}

/// Asks about a kind that nobody has, whatever else is changed of it.
fn webhooks(dice: &mut Dice) -> Value {
    let rule = json!({ "apiGroups": ["nobody.example"], "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"], "resources": ["nothings"] });
    let webhook = |name: &str| {
        json!({ "name": name, "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": { "url": "https://127.0.0.1:1/" }, "rules": [rule] })
    };
    let mut all = vec![webhook("a.nobody.example")];
    if dice.percent(50) {
        all[0]["failurePolicy"] = "Ignore".into();
        all[0]["timeoutSeconds"] = 3.into();
        all[0]["namespaceSelector"] = json!({ "matchLabels": { "a": "b" } });
    }
    if dice.percent(50) {
        all.push(webhook("b.nobody.example"));
    }
    json!({ "webhooks": all })
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

/// The definitions of the test's own kinds.
pub(crate) fn definitions(group: &str) -> [Value; 2] {
    let either = json!({ "x-kubernetes-int-or-string": true });
    let text = json!({ "type": "string" });
    let item = json!({ "type": "object", "required": ["id"], "properties": { "id": text, "port": either,
        "size": { "type": "integer" }, "zone": { "type": "string", "default": "any" } } });
    let entry = json!({ "type": "object", "properties": { "n": { "type": "integer" },
        "with": { "type": "string", "default": "default" } } });
    let spec = json!({ "type": "object", "properties": {
        "items": { "type": "array", "items": item, "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["id", "zone"] },
        "tags": { "type": "array", "items": text, "x-kubernetes-list-type": "set" },
        "list": { "type": "array", "items": { "type": "integer" } },
        "map": { "type": "object", "additionalProperties": entry },
        "either": either, "ratio": { "type": "number" } } });
    let free = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    [definition(group, STRICT, &spec), definition(group, LOOSE, &free)]
}

fn definition(group: &str, kind: &str, spec: &Value) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    let schema = json!({ "openAPIV3Schema": { "type": "object", "properties": { "spec": spec } } });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": schema });
    json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": { "group": group, "scope": "Namespaced", "versions": [version],
            "names": { "plural": plural, "singular": kind.to_lowercase(), "kind": kind } } })
}
