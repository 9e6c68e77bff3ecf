//! Objects that nobody can try out, because a webhook takes no dry runs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use objects::diff::Veil;
use objects::set::{Finding, Mode, Set, SetDiff, Settings, Walk};
use objects::{Object, Ownership, Trouble};
use rig::ControlPlane;
use rig::webhook::{Admission, Webhook};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harbour::{Harbour, PATIENCE, means};
use crate::set::story;

/// The API server refuses such a webhook since 1.22, and obeys those that it was
/// given before. So it stands in the database already.
async fn plant(plane: &ControlPlane, hook: &Value) {
    let name = hook["metadata"]["name"].as_str().unwrap();
    let key = STANDARD.encode(format!("/registry/validatingwebhookconfigurations/{name}"));
    let body = json!({ "key": key, "value": STANDARD.encode(hook.to_string()) }).to_string();
    let address = plane.etcd().trim_start_matches("http://");
    let head = format!(
        "POST /v3/kv/put HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut etcd = TcpStream::connect(address).await.unwrap();
    etcd.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    etcd.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn secretive(webhook: &Webhook) -> Value {
    json!({ "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": "secretive", "uid": "0b5b1f0e-8f5c-4a57-9c43-5b0cf5bb0a11",
            "creationTimestamp": "2021-01-01T00:00:00Z" },
        "webhooks": [{ "name": "secretive.example.test", "sideEffects": "Some",
            "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "timeoutSeconds": 10,
            "matchPolicy": "Equivalent", "namespaceSelector": {},
            "objectSelector": { "matchLabels": { "secretive": "yes" } },
            "rules": [{ "apiGroups": [""], "apiVersions": ["v1"], "scope": "*",
                "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"] }],
            "clientConfig": webhook.client_config() }] })
}

fn said(found: &SetDiff) -> Vec<String> {
    let one = |one: &objects::set::Compared<objects::diff::Diff>| match &one.finding {
        Finding::Same => format!("{} same", one.id.name),
        Finding::Told { answer, warnings } => {
            let paths = answer.differences.iter().map(|it| it.path.to_string());
            let paths: Vec<String> = paths.collect();
            format!("{} {} {}", one.id.name, paths.join(" "), warnings.join(" "))
        }
        Finding::Unchecked { because } => format!("{} new, {because}", one.id.name),
        other => format!("{} {other:?}", one.id.name),
    };
    found.objects.iter().map(one).collect()
}

#[tokio::test]
async fn what_cannot_be_tried_out_is_compared_without_the_api_and_fails_nobody() {
    let Some(plane) = rig::need::control_plane() else { return };
    let harbour = Harbour::open_on(plane.access()).harbour().await;
    let webhook = Webhook::start(|_| Admission::Allow).unwrap();
    plant(&plane, &secretive(&webhook)).await;
    let map = |name: &str, value: &str| {
        let metadata = json!({ "labels": { "secretive": "yes" } });
        harbour.object(
            "v1",
            "ConfigMap",
            name,
            json!({ "metadata": metadata, "data": { "k": value } }),
        )
    };
    let untried = || async {
        let tried = harbour.cluster.preview(&map("x", "1"), Ownership::Respect, None).await;
        tried.is_err_and(|error| matches!(error.trouble(), Trouble::NoDryRun { .. }))
    };
    let heard = async {
        while !untried().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, heard).await.unwrap();

    let walking = Settings { walk: Walk::Compare, ..Settings::default() };
    let set = |objects: Vec<Object>| Set::new(objects, harbour.namespace.name());
    let first = vec![map("a", "1"), map("b", "1")];
    let report = harbour.apply_set(first, walking).await.unwrap();
    assert!(report.is_whole(), "{:?}", story(&report));
    // What a client has applied is taken over, also where nobody can ask before.
    harbour.namespace.kubectl().apply(&map("c", "1").body().to_string()).unwrap();

    let open = harbour.config_map("open", json!({ "k": "1" }));
    let wished =
        || vec![map("a", "1"), map("b", "2"), map("c", "2"), map("new", "1"), open.clone()];
    let veil = Veil::new([7; 32]);
    let found = harbour.cluster.diff_set(set(wished()), walking, &means(), &veil).await.unwrap();
    let why = "it cannot be tried out, because webhook secretive.example.test takes no dry runs";
    let guessed = format!("{why}; compared without the API, which may spell the same otherwise");
    let said = said(&found);
    assert_eq!(said[0], "a same");
    assert_eq!(said[1], format!("b data.k {guessed}"));
    assert!(said[2].starts_with("c data.k") && said[2].ends_with(&guessed), "{said:?}");
    assert_eq!(said[3], format!("new new, {why}"));
    assert!(!said[4].contains("tried out"), "{said:?}");

    let dry = Settings { mode: Mode::DryRun, ..walking };
    let report = harbour.apply_set(wished(), dry).await.unwrap();
    assert!(report.is_whole(), "{:?}", story(&report));
    let told = ["a unchanged", "b configured", "c configured", "new created", "open created"];
    assert_eq!(story(&report), told);
    let report = harbour.apply_set(wished(), walking).await.unwrap();
    assert!(report.is_whole(), "{:?}", story(&report));
}
