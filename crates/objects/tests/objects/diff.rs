//! Differences, drift and owners on a real API server.

use objects::diff::{Diff, Drift, Veil};
use objects::fields::{Handover, Owners};
use objects::{FIELD_MANAGER, Object, Ownership};
use serde_json::{Value, json};

use crate::harbour::Harbour;

const VEIL: Veil = Veil::new([7; 32]);

fn web(harbour: &Harbour, image: &str, replicas: u32, cpu: &str) -> Object {
    let container = json!({ "name": "app", "image": image,
        "resources": { "limits": { "cpu": cpu } }, "ports": [{ "containerPort": 80 }],
        "env": [{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }] });
    let body = json!({ "metadata": { "labels": { "app.kubernetes.io/name": "web" } },
        "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": "web" } },
            "template": { "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [container] } } } });
    harbour.object("apps/v1", "Deployment", "web", body)
}

async fn diff(harbour: &Harbour, wanted: &Object) -> Diff {
    let live = harbour.cluster.get(wanted.id()).await.unwrap();
    let preview = harbour.cluster.preview(wanted, Ownership::Take, live.as_ref()).await.unwrap();
    Diff::between(live.as_ref(), &preview.object, &VEIL).unwrap()
}

fn shown(diff: &Diff) -> Vec<String> {
    diff.differences.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_diff_shows_our_fields_and_not_their_spelling() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let first = web(&harbour, "example.test/web:1", 0, "1000m");
    let new = diff(&harbour, &first).await;
    assert!(new.is_new);
    let image = r#"+ spec.template.spec.containers[name="app"].image: "example.test/web:1""#;
    assert!(shown(&new).iter().any(|line| line == image), "{new}");
    harbour.apply(&first).await.unwrap();
    // One processor is one, however it is written; defaults are not ours.
    for cpu in ["1", "1000m"] {
        let same = diff(&harbour, &web(&harbour, "example.test/web:1", 0, cpu)).await;
        assert!(same.is_empty(), "{same}");
    }
    let mut changed = web(&harbour, "example.test/web:2", 0, "1").into_body();
    let env = &mut changed["spec"]["template"]["spec"]["containers"][0]["env"];
    env.as_array_mut().unwrap().remove(0);
    changed["metadata"]["labels"] = json!({ "app.kubernetes.io/version": "2" });
    let changed = diff(&harbour, &Object::new(changed).unwrap()).await;
    let expected = [
        r#"- metadata.labels["app.kubernetes.io/name"]: "web""#,
        r#"+ metadata.labels["app.kubernetes.io/version"]: "2""#,
        r#"- spec.template.spec.containers[name="app"].env[name="A"].value: "1""#,
        r#"~ spec.template.spec.containers[name="app"].image: "example.test/web:1" → "example.test/web:2""#,
    ];
    assert_eq!(shown(&changed), expected);
}

#[tokio::test]
async fn drift_says_who_changed_our_fields() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let wanted = web(&harbour, "example.test/web:1", 0, "1");
    let before = harbour.apply(&wanted).await.unwrap().object;
    harbour.kubectl(&["scale", "deployment", "web", "--replicas=1"]);
    harbour.kubectl(&["annotate", "deployment", "web", "example.com/theirs=1"]);
    let remove = r#"[{"op": "remove", "path": "/metadata/labels/app.kubernetes.io~1name"}]"#;
    harbour.kubectl(&["patch", "deployment", "web", "--type=json", "-p", remove]);
    let live = harbour.cluster.get(wanted.id()).await.unwrap().unwrap();
    let preview = harbour.cluster.preview(&wanted, Ownership::Take, Some(&live)).await.unwrap();
    let drift = Drift::between(&live, &preview.object, &VEIL).unwrap();
    assert!(drift.pending.is_empty(), "{drift:?}");
    let paths: Vec<String> = drift.drifted.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(paths, [r#"metadata.labels["app.kubernetes.io/name"]"#, "spec.replicas"]);
    let [label, replicas] = &drift.drifted[..] else { panic!("{drift}") };
    assert!(label.theirs.is_none() && label.by.is_empty(), "{label}");
    // Who only removes owns nothing, and so leaves no name.
    let perhaps: Vec<&str> =
        label.perhaps.iter().map(|touch| touch.owner.manager.as_str()).collect();
    assert!(perhaps.contains(&"kubectl-annotate"), "{label}");
    let by: Vec<String> = replicas.by.iter().map(|touch| touch.owner.to_string()).collect();
    assert_eq!(by, ["kubectl through scale"]);
    let text = replicas.to_string();
    assert!(text.starts_with("~ spec.replicas: 0 → 1\n    by kubectl through scale"), "{text}");

    let owners = |object: &Object| Owners::of(object).unwrap();
    let lost = Handover::between(&owners(&before), &owners(&live), FIELD_MANAGER);
    assert_eq!(lost.lost[0].path.to_string(), "spec.replicas");
    assert_eq!(lost.released[0].to_string(), paths[0]);
    let taken = harbour.apply_as(&wanted, Ownership::Take).await.unwrap().object;
    let taken = Handover::between(&owners(&live), &owners(&taken), FIELD_MANAGER);
    assert_eq!(taken.taken[0].path.to_string(), "spec.replicas");
}

#[tokio::test]
async fn a_secret_s_diff_gives_nothing_away() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let secret = |data: Value, text: Value| {
        let body = json!({ "type": "Opaque", "data": data, "stringData": text });
        harbour.object("v1", "Secret", "s", body)
    };
    let first = secret(json!({ "password": "aHVudGVyMg==" }), json!({ "token": "canary-7f3" }));
    harbour.apply(&first).await.unwrap();
    let second =
        secret(json!({ "password": "Y2FuYXJ5LTdmMw==" }), json!({ "token": "canary-7f4" }));
    let diff = diff(&harbour, &second).await;
    let text = format!("{diff}\n{diff:?}");
    for canary in ["hunter2", "aHVudGVyMg", "canary-7f", "Y2FuYXJ5LTdm"] {
        assert!(!text.contains(canary), "{text}");
    }
    assert!(text.contains("~ data.password: (hidden "), "{text}");
}
