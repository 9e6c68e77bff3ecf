//! Workloads: everything with a template of pods.

use serde_json::{Value, json};

use super::dice::Dice;
use super::kinds::{QUANTITIES, claim};

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

pub(super) fn deployment(dice: &mut Dice) -> Value {
    let mut spec = json!({ "selector": { "matchLabels": { "app": "web" } }, "replicas": 0,
        "template": template(dice) });
    if dice.percent(30) {
        let surge = dice.one_of(&[json!(1), json!("25%")]);
        spec["strategy"] =
            json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": surge } });
    }
    json!({ "spec": spec })
}

pub(super) fn stateful_set(dice: &mut Dice) -> Value {
    let mut template = template(dice);
    template["spec"]["containers"][0]["volumeMounts"] =
        json!([{ "name": "data", "mountPath": "/d" }]);
    let claim = json!({ "metadata": { "name": "data" }, "spec": claim(dice)["spec"] });
    json!({ "spec": { "selector": { "matchLabels": { "app": "web" } }, "replicas": 0,
        "serviceName": "web", "template": template, "volumeClaimTemplates": [claim] } })
}

pub(super) fn cron_job(dice: &mut Dice) -> Value {
    let mut template = template(dice);
    template["spec"]["restartPolicy"] = "Never".into();
    json!({ "spec": { "schedule": "0 4 1 1 *", "suspend": true,
        "jobTemplate": { "spec": { "template": template } } } })
}

/// There is no node for it, and no controller takes it for its own: it stays.
pub(super) fn pod(dice: &mut Dice) -> Value {
    json!({ "metadata": { "labels": { "alone": "true" } }, "spec": template(dice)["spec"] })
}

pub(super) fn job(dice: &mut Dice) -> Value {
    let mut template = template(dice);
    template["spec"]["restartPolicy"] = "Never".into();
    json!({ "spec": { "suspend": true, "backoffLimit": 1, "template": template } })
}

pub(super) fn daemon_set(dice: &mut Dice) -> Value {
    let mut spec = json!({ "selector": { "matchLabels": { "app": "web" } },
        "template": template(dice) });
    if dice.percent(50) {
        let most = dice.one_of(&[json!(1), json!("10%")]);
        spec["updateStrategy"] =
            json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": most } });
    }
    json!({ "spec": spec })
}
