//! Sets of objects that are as large, as long-named and as foreign as they may be.

use objects::set::{Mode, Outcome, Settings, StepError, Walk};
use objects::{Change, Doomed, RemovalTerms, Trouble, manifest};
use serde_json::{Value, json};

use crate::harbour::Harbour;
use crate::remove::remove;
use crate::set::story;

/// The most that the values of a `ConfigMap` may hold.
const MEBIBYTE: usize = 1 << 20;

fn compare() -> Settings {
    Settings { walk: Walk::Compare, ..Settings::default() }
}

#[tokio::test]
async fn the_largest_object_comes_stays_and_goes_and_one_byte_more_is_refused() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = |name: &str, size: usize| harbour.config_map(name, json!({ "k": "x".repeat(size) }));
    let set = || vec![map("largest", MEBIBYTE), map("small", 1)];
    let report = harbour.apply_set(set(), compare()).await.unwrap();
    assert_eq!(report.count(Change::Created), 2, "{:?}", story(&report));
    let report = harbour.apply_set(set(), compare()).await.unwrap();
    assert_eq!(report.count(Change::Unchanged), 2, "{:?}", story(&report));
    assert_eq!(harbour.proxy.counts().borrow().of("patch", "configmaps"), 2);

    let more = vec![map("more", MEBIBYTE + 1), map("small", 2)];
    let report = harbour.apply_set(more, compare()).await.unwrap();
    let Outcome::Failed(StepError::Api(error)) = &report.steps[0].outcome else {
        panic!("the API takes no more")
    };
    assert!(matches!(error.trouble(), Trouble::Invalid(_)), "{error}");
    assert!(error.to_string().len() < 2000, "the object itself is not told");
    assert_eq!(story(&report)[1], "small configured");

    let live = harbour.cluster.get(map("largest", 0).id()).await.unwrap().unwrap();
    let doomed = Doomed { id: live.id().clone(), uid: live.uid().unwrap().to_owned() };
    remove(&harbour, vec![doomed], RemovalTerms::default()).await.0.unwrap();
}

#[tokio::test]
async fn the_longest_name_is_a_name_and_what_is_none_stays_in_its_place() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let longest = "n".repeat(253);
    let map = |name: &str| harbour.config_map(name, json!({ "k": "v" }));
    let report = harbour.apply_set(vec![map(&longest)], compare()).await.unwrap();
    assert_eq!(report.count(Change::Created), 1, "{:?}", story(&report));
    let report = harbour.apply_set(vec![map(&longest)], compare()).await.unwrap();
    assert_eq!(report.count(Change::Unchanged), 1, "{:?}", story(&report));
    let live = harbour.cluster.get(map(&longest).id()).await.unwrap().unwrap();
    let doomed = Doomed { id: live.id().clone(), uid: live.uid().unwrap().to_owned() };
    remove(&harbour, vec![doomed], RemovalTerms::default()).await.0.unwrap();

    for name in ["n".repeat(254), "größe".into(), "a b".into(), "Upper".into()] {
        let report = harbour.apply_set(vec![map(&name)], compare()).await.unwrap();
        let step = &report.steps[0];
        let Outcome::Failed(StepError::Api(error)) = &step.outcome else { panic!("{step:?}") };
        let refused = matches!(error.trouble(), Trouble::Invalid(_) | Trouble::Refused { .. });
        assert!(refused, "{}: {error}", step.id.name);
    }
    for elsewhere in ["../secrets/s", "..", "%2e"] {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: \"{elsewhere}\"}}");
        let error = manifest::read("a.yaml", text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("is not a name"), "{error}");
    }
}

#[tokio::test]
async fn every_script_survives_the_way_to_the_api_and_back() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let value = "größe 漢字 🚢 עברית e\u{301}\u{2028}\u{feff}\ttab \"quotes\" \\ ${shell}";
    let quoted = json!(value).to_string();
    let text = format!(
        "\u{feff}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: scripts, annotations: \
         {{note: {quoted}}}}}\ndata:\n  k: {quoted}\n"
    );
    let set = || manifest::read("scripts.yaml", text.as_bytes()).unwrap();
    let report = harbour.apply_set(set(), compare()).await.unwrap();
    assert_eq!(story(&report), ["scripts created"]);
    let live = harbour.cluster.get(&report.steps[0].id).await.unwrap().unwrap();
    assert_eq!(live.text("/data/k"), Some(value));
    assert_eq!(live.text("/metadata/annotations/note"), Some(value));
    assert_eq!(harbour.kubectl(&["get", "cm", "scripts", "-o", "jsonpath={.data.k}"]), value);
    let report = harbour.apply_set(set(), compare()).await.unwrap();
    assert_eq!(story(&report), ["scripts unchanged"]);
    assert_eq!(harbour.proxy.counts().borrow().of("patch", "configmaps"), 1);
}

#[tokio::test]
async fn a_change_of_one_dotted_key_is_planned_and_applied() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = |version: &str, config: &str| {
        let body = json!({ "metadata": { "labels": { "app.kubernetes.io/version": version } },
            "data": { "nginx.conf": config, "plain": "same" } });
        vec![harbour.object("v1", "ConfigMap", "web", body)]
    };
    let dry = Settings { mode: Mode::DryRun, ..compare() };
    harbour.apply_set(map("1", "a"), compare()).await.unwrap();
    for (version, config) in [("1", "b"), ("2", "b")] {
        for settings in [dry, compare()] {
            let report = harbour.apply_set(map(version, config), settings).await.unwrap();
            assert_eq!(story(&report), ["web configured"]);
        }
        let report = harbour.apply_set(map(version, config), dry).await.unwrap();
        assert_eq!(story(&report), ["web unchanged"]);
    }
}

#[tokio::test]
async fn no_error_tells_a_secret() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let secret = |name: &str, body| harbour.object("v1", "Secret", name, body);
    let set = vec![
        secret("not-base64", json!({ "data": { "k": "hunter2!" } })),
        secret("bad-key", json!({ "stringData": { "k k": "hunter2!" } })),
        secret("typo", json!({ "strigData": { "k": "hunter2!" } })),
        secret(
            "bad-type",
            json!({ "type": "kubernetes.io/tls", "stringData": { "k": "hunter2!" } }),
        ),
        secret("bad-shape", json!({ "stringData": "hunter2!" })),
    ];
    let report = harbour.apply_set(set, compare()).await.unwrap();
    for (step, told) in report.steps.iter().zip(story(&report)) {
        let Outcome::Failed(StepError::Api(error)) = &step.outcome else { panic!("{told}") };
        assert!(matches!(error.trouble(), Trouble::Invalid(_)), "{told}");
        assert!(!told.contains("hunter2") && !format!("{step:?}").contains("hunter2"), "{told}");
    }
}

#[tokio::test]
async fn texts_of_a_secret_are_owned_where_they_are_kept() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let secret = |texts: Value| harbour.object("v1", "Secret", "s", json!({ "stringData": texts }));
    let apply =
        async |texts: Value| harbour.apply_set(vec![secret(texts)], compare()).await.unwrap();
    apply(json!({ "a": "1", "b": "2" })).await;
    let same = apply(json!({ "a": "1", "b": "2" })).await;
    assert_eq!(same.count(Change::Unchanged), 1);
    assert_eq!(harbour.proxy.counts().borrow().of("patch", "secrets"), 1);
    apply(json!({ "a": "1" })).await;
    let data = || harbour.kubectl(&["get", "secret", "s", "-o", "jsonpath={.data}"]);
    assert_eq!(data(), r#"{"a":"MQ=="}"#, "what is no longer wished for goes");
    harbour.kubectl(&["patch", "secret", "s", "-p", r#"{"stringData":{"a":"theirs"}}"#]);
    let refused = apply(json!({ "a": "3" })).await;
    let told = story(&refused).join("");
    assert!(!refused.is_whole() && told.contains("kubectl-patch"), "{told}");
}
