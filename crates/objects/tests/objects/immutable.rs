//! Fields that cannot be changed, as the real API tells them by kind.

use events::Class;
use objects::{Object, Trouble};
use serde_json::{Value, json};

use crate::harbour::Harbour;

/// An object before and after, which field differs, and what is to be done.
type Case = (Object, Object, &'static str, &'static str);

fn pod_template(label: &str, image: &str) -> Value {
    json!({ "metadata": { "labels": { "app": label } },
        "spec": { "restartPolicy": "Always", "containers": [{ "name": "a", "image": image }] } })
}

fn deployment(harbour: &Harbour, label: &str) -> Object {
    let spec = json!({ "replicas": 0, "selector": { "matchLabels": { "app": label } },
        "template": pod_template(label, "example.test/a") });
    harbour.object("apps/v1", "Deployment", "a", json!({ "spec": spec }))
}

fn job(harbour: &Harbour, image: &str) -> Object {
    let mut template = pod_template("a", image);
    template["spec"]["restartPolicy"] = "Never".into();
    let spec = json!({ "suspend": true, "template": template });
    harbour.object("batch/v1", "Job", "a", json!({ "spec": spec }))
}

fn claim(harbour: &Harbour, class: &str) -> Object {
    let spec = json!({ "accessModes": ["ReadWriteOnce"], "storageClassName": class,
        "resources": { "requests": { "storage": "1Gi" } } });
    harbour.object("v1", "PersistentVolumeClaim", "a", json!({ "spec": spec }))
}

fn service(harbour: &Harbour, address: &str) -> Object {
    let spec = json!({ "clusterIP": address, "ports": [{ "port": 80 }] });
    harbour.object("v1", "Service", "a", json!({ "spec": spec }))
}

fn secret(harbour: &Harbour, value: &str) -> Object {
    let body = json!({ "immutable": true, "stringData": { "password": value } });
    harbour.object("v1", "Secret", "a", body)
}

fn binding(harbour: &Harbour, role: &str) -> Object {
    let group = "rbac.authorization.k8s.io";
    let role_ref = json!({ "apiGroup": group, "kind": "Role", "name": role });
    harbour.object(&format!("{group}/v1"), "RoleBinding", "a", json!({ "roleRef": role_ref }))
}

fn cases(harbour: &Harbour) -> Vec<Case> {
    let pod = |name: &str| {
        let spec = json!({ "nodeName": "nowhere", "hostname": name,
            "containers": [{ "name": "a", "image": "example.test/a" }] });
        harbour.object("v1", "Pod", "a", json!({ "spec": spec }))
    };
    vec![
        (
            deployment(harbour, "one"),
            deployment(harbour, "two"),
            "`spec.selector.matchLabels.app`",
            "its pods stop until the new ones run",
        ),
        (
            job(harbour, "example.test/a"),
            job(harbour, "example.test/b"),
            "`spec.template.spec.containers[0].image`",
            "its pods and their logs go, and it runs anew",
        ),
        (
            claim(harbour, "one"),
            claim(harbour, "two"),
            "`spec.storageClassName`",
            "deleting this one deletes its data",
        ),
        (
            service(harbour, "10.96.77.6"),
            service(harbour, "10.96.77.7"),
            "clusterIP",
            "its addresses change",
        ),
        (secret(harbour, "hunter2"), secret(harbour, "hunter3"), "`data`", "under another name"),
        (
            binding(harbour, "one"),
            binding(harbour, "two"),
            "`roleRef.name`",
            "nobody has its rights meanwhile",
        ),
        (pod("one"), pod("two"), "`spec.hostname`", "in emptyDirs is lost"),
    ]
}

#[tokio::test]
async fn each_kind_says_which_field_stays_and_what_a_new_object_costs() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    for (before, after, field, cost) in cases(&harbour) {
        harbour.apply(&before).await.unwrap();
        let error = harbour.apply(&after).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error.trouble(), Trouble::Immutable(_)), "{text}");
        assert_eq!(error.class(), Class::Permanent);
        assert!(text.contains("it cannot be changed in place: "), "{text}");
        assert!(text.contains(field) && text.contains(cost), "{text}");
        assert!(text.len() < 700 && !text.contains("hunter"), "{text}");
    }
}
