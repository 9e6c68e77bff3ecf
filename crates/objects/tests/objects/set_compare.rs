//! Differences and drift of whole sets on a real API server.

use objects::diff::{Diff, Veil};
use objects::set::{
    Adopt, Compared, End, Finding, Inventory, Prune, Set, SetDiff, Settings, StepError, Walk,
};
use objects::{Change, Object, Ownership, Trouble};
use rig::proxy::{Fault, Matching, Rule};
use serde_json::{Value, json};

use crate::harbour::{Harbour, means};
use crate::set::story;

const VEIL: Veil = Veil::new([7; 32]);

fn walking() -> Settings {
    Settings { walk: Walk::Compare, ..Settings::default() }
}

fn maps(harbour: &Harbour, count: usize, value: &str) -> Vec<Object> {
    let map = |index| harbour.config_map(&format!("c{index:04}"), json!({ "k": value }));
    (0..count).map(map).collect()
}

async fn diff(harbour: &Harbour, objects: Vec<Object>, settings: Settings) -> SetDiff {
    let set = Set::new(objects, harbour.namespace.name());
    harbour.cluster.diff_set(set, settings, &means(), &VEIL).await.unwrap()
}

fn said(one: &Compared<Diff>) -> String {
    let name = &one.id.name;
    match &one.finding {
        Finding::Same => format!("{name} same"),
        Finding::Told { answer, .. } if answer.is_new => format!("{name} new"),
        Finding::Told { answer, .. } if answer.is_empty() => format!("{name} same when asked"),
        Finding::Told { answer, .. } => format!("{name} {} differ", answer.differences.len()),
        Finding::Absent => format!("{name} absent"),
        Finding::Unchecked { .. } => format!("{name} unchecked"),
        Finding::Failed(error) => format!("{name} failed: {error}"),
    }
}

#[tokio::test]
async fn only_what_may_differ_is_asked_about() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let mut objects = maps(&harbour, 600, "1");
    let applied = harbour.apply_set(objects.clone(), Settings::default()).await.unwrap();
    assert_eq!(applied.count(Change::Created), 600);
    for (place, value) in [(3, "2"), (550, "3")] {
        objects[place] = harbour.config_map(&format!("c{place:04}"), json!({ "k": value }));
    }
    objects.push(harbour.config_map("fresh", json!({ "k": "1" })));
    let asked = || {
        let counts = harbour.proxy.counts();
        let counts = counts.borrow();
        ["list", "get", "patch"].map(|verb| counts.of(verb, "configmaps"))
    };
    let before = asked();
    let found = diff(&harbour, objects, walking()).await;
    let told = found.objects.iter().map(said).filter(|it| !it.ends_with("same"));
    assert_eq!(told.collect::<Vec<_>>(), ["c0003 1 differ", "c0550 1 differ", "fresh new"]);
    let after = asked();
    let spent = [0, 1, 2].map(|verb| after[verb] - before[verb]);
    assert_eq!(spent, [2, 0, 3], "two pages, and three dry runs");
}

#[tokio::test]
async fn a_list_that_breaks_off_begins_anew() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let objects = maps(&harbour, 20, "1");
    harbour.apply_set(objects.clone(), Settings::default()).await.unwrap();
    let lists = || Matching::class("list", "configmaps");
    harbour.proxy.add(Rule::next(2, lists(), Fault::Status(503)));
    harbour.proxy.add(Rule::next(1, lists(), Fault::CutAfter(900)));
    let found = diff(&harbour, objects, walking()).await;
    assert_eq!(harbour.proxy.counts().borrow().faults(), 3);
    assert!(found.objects.iter().all(|one| matches!(one.finding, Finding::Same)), "{found:?}");
}

#[tokio::test]
async fn what_apply_would_refuse_a_diff_refuses_too() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.kubectl(&["create", "cm", "theirs", "--from-literal=k=theirs"]);
    harbour.kubectl(&["create", "cm", "helms", "--from-literal=k=theirs"]);
    harbour.kubectl(&["annotate", "cm", "helms", "meta.helm.sh/release-name=shop"]);
    let objects = || {
        let wrong = harbour.object("v1", "ConfigMap", "wrong", json!({ "dta": { "k": "1" } }));
        let unknown = harbour.object("example.com/v1", "Widget", "w", json!({}));
        let map = |name: &str| harbour.config_map(name, json!({ "k": "1" }));
        vec![map("theirs"), map("helms"), wrong, unknown]
    };
    let found = diff(&harbour, objects(), walking()).await;
    let [conflict, helm, wrong, unknown] = &found.objects[..] else { panic!("{found:?}") };
    let trouble = |one: &Compared<Diff>| match &one.finding {
        Finding::Failed(StepError::Api(error)) => error.trouble().clone(),
        other => panic!("{other:?}"),
    };
    assert!(matches!(trouble(conflict), Trouble::Ownership(_)), "{conflict:?}");
    assert!(said(helm).contains("it belongs to the Helm release shop"), "{helm:?}");
    assert!(said(wrong).contains("dta"), "{wrong:?}");
    assert!(matches!(trouble(unknown), Trouble::KindMissing { .. }), "{unknown:?}");
    let force = Settings { ownership: Ownership::Take, adopt: Adopt::Always, ..walking() };
    let found = diff(&harbour, objects(), force).await;
    assert_eq!(said(&found.objects[0]), "theirs 1 differ");
    assert_eq!(said(&found.objects[1]), "helms 1 differ");
}

#[tokio::test]
async fn a_client_side_apply_is_no_conflict() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let old = harbour.config_map("a", json!({ "k": "1", "old": "1" }));
    harbour.namespace.kubectl().apply(&old.body().to_string()).unwrap();
    let found = diff(&harbour, vec![harbour.config_map("a", json!({ "k": "2" }))], walking()).await;
    let Finding::Told { answer, .. } = &found.objects[0].finding else { panic!("{found:?}") };
    let told = answer.to_string();
    assert!(told.contains(r#"~ data.k: "1" → "2""#), "{told}");
    assert!(told.contains(r#"- data.old: "1""#), "what goes is told: {told}");

    // What goes is told also where nothing else changes, and it goes.
    let wished = harbour.config_map("a", json!({ "k": "1" }));
    let found = diff(&harbour, vec![wished.clone()], walking()).await;
    let Finding::Told { answer, .. } = &found.objects[0].finding else { panic!("{found:?}") };
    assert!(answer.to_string().contains(r#"- data.old: "1""#), "{answer}");
    harbour.apply_set(vec![wished.clone()], walking()).await.unwrap();
    assert_eq!(harbour.kubectl(&["get", "cm", "a", "-o", "jsonpath={.data}"]), r#"{"k":"1"}"#);
    let found = diff(&harbour, vec![wished], walking()).await;
    assert_eq!(said(&found.objects[0]), "a same");
}

/// A conflict with somebody else is one, for diff and apply, and the refused
/// apply makes nothing ours.
#[tokio::test]
async fn a_client_side_apply_hides_no_conflict_with_others() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let old = harbour.config_map("a", json!({ "k": "1", "old": "1" }));
    harbour.namespace.kubectl().apply(&old.body().to_string()).unwrap();
    harbour.kubectl(&["patch", "cm", "a", "--type=merge", "-p", r#"{"data":{"k":"3"}}"#]);
    let wished = vec![harbour.config_map("a", json!({ "k": "2" }))];
    let found = diff(&harbour, wished.clone(), walking()).await;
    let Finding::Failed(StepError::Api(error)) = &found.objects[0].finding else {
        panic!("{found:?}")
    };
    assert!(matches!(error.trouble(), Trouble::Ownership(_)), "{error}");
    let before = harbour.cluster.get(old.id()).await.unwrap();
    let report = harbour.apply_set(wished.clone(), walking()).await.unwrap();
    assert!(!report.is_whole(), "{:?}", story(&report));
    assert_eq!(harbour.cluster.get(old.id()).await.unwrap(), before);
    let force = Settings { ownership: Ownership::Take, ..walking() };
    assert!(harbour.apply_set(wished, force).await.unwrap().is_whole());
    assert_eq!(harbour.kubectl(&["get", "cm", "a", "-o", "jsonpath={.data}"]), r#"{"k":"2"}"#);
}

#[tokio::test]
async fn what_comes_with_the_set_cannot_be_checked() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let name = format!("{}-inner", harbour.namespace.name());
    let namespace =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    let inner = json!({ "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "a", "namespace": name } });
    let objects = [namespace, inner].map(|body| Object::new(body).unwrap());
    let found = diff(&harbour, objects.into(), walking()).await;
    let told: Vec<String> = found.objects.iter().map(said).collect();
    assert_eq!(told, [format!("{name} new"), "a unchecked".to_owned()]);
}

#[tokio::test]
async fn members_that_would_be_pruned_are_told_and_stay() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let namespace = harbour.namespace.name().to_owned();
    let set = |names: &[&str]| Set {
        objects: names.iter().map(|name| harbour.config_map(name, json!({}))).collect(),
        inventory: Some(Inventory::parse("shop", &namespace).unwrap()),
        prune: Prune::Yes,
        namespace: namespace.clone(),
    };
    let (both, plain) = (set(&["a", "b"]), Settings::default());
    let applied = harbour.cluster.apply_set(both, plain, &means(), |_| {}).await;
    assert!(applied.unwrap().is_whole());
    let found = harbour.cluster.diff_set(set(&["a"]), walking(), &means(), &VEIL).await.unwrap();
    assert!(said(&found.objects[0]).contains("same"), "{found:?}");
    let [pruned] = &found.pruned[..] else { panic!("{found:?}") };
    assert!(pruned.id.name == "b" && matches!(pruned.end, End::Deleted), "{pruned:?}");
    assert!(harbour.kubectl(&["get", "cm", "-o", "name"]).contains("configmap/b"));
}

#[tokio::test]
async fn drift_of_a_set_is_what_others_did() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let secret = |value: &str| {
        let body = json!({ "stringData": { "password": value } });
        harbour.object("v1", "Secret", "s", body)
    };
    let mut objects = maps(&harbour, 12, "1");
    objects.push(secret("canary-1"));
    harbour.apply_set(objects.clone(), Settings::default()).await.unwrap();
    let drift = |objects: Vec<Object>| {
        let set = Set::new(objects, harbour.namespace.name());
        let cluster = harbour.cluster.clone();
        async move { cluster.drift_of_set(set, walking(), &means(), &VEIL).await.unwrap() }
    };
    let changed = |found: Vec<Compared<objects::diff::Drift>>| -> Vec<String> {
        let told = found.into_iter().filter_map(|one| match one.finding {
            Finding::Same => None,
            Finding::Told { answer, .. } => {
                let paths = answer.drifted.iter().map(|it| it.path.to_string());
                let paths: Vec<String> = paths.collect();
                let words = format!("{} {} {}", one.id.name, paths.join(","), answer.pending.len());
                Some(words).filter(|_| !(paths.is_empty() && answer.pending.is_empty()))
            }
            Finding::Absent => Some(format!("{} gone", one.id.name)),
            other => panic!("{other:?}"),
        });
        told.collect()
    };
    assert_eq!(changed(drift(objects.clone()).await), Vec::<String>::new());
    objects[5] = harbour.config_map("c0005", json!({ "k": "newer" }));
    objects[12] = secret("canary-2");
    assert_eq!(changed(drift(objects.clone()).await), ["c0005  1", "s  1"], "newer, not drifted");
    let patch = |kind: &str, name: &str, patch: &Value| {
        harbour.kubectl(&["patch", kind, name, "--type=merge", "-p", &patch.to_string()]);
    };
    patch("cm", "c0003", &json!({ "data": { "k": "theirs", "more": "2" } }));
    patch("secret", "s", &json!({ "stringData": { "password": "theirs" } }));
    harbour.kubectl(&["delete", "cm", "c0007"]);
    let told = changed(drift(objects).await);
    assert_eq!(told, ["c0003 data.k 0", "c0005  1", "c0007 gone", "s data.password 0"]);
}

#[tokio::test]
async fn members_tell_who_wrote_to_them_since() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let namespace = harbour.namespace.name().to_owned();
    let inventory = || Inventory::parse("shop", &namespace).unwrap();
    let bare = means();
    let drift = || harbour.cluster.drift_of_members(inventory(), walking(), &bare, &VEIL);
    let error = drift().await.unwrap_err().to_string();
    assert!(error.contains("there is no inventory secret/shop"), "{error}");
    let body = json!({ "spec": { "replicas": 0, "selector": { "matchLabels": { "app": "web" } },
        "template": { "metadata": { "labels": { "app": "web" } },
            "spec": { "containers": [{ "name": "app", "image": "example.test/a" }] } } } });
    let web = harbour.object("apps/v1", "Deployment", "web", body);
    let objects = vec![web.clone(), harbour.config_map("a", json!({ "k": "1" }))];
    let inventory = Some(inventory());
    let set = Set { objects, namespace: namespace.clone(), inventory, prune: Prune::No };
    let applied = harbour.cluster.apply_set(set, Settings::default(), &means(), |_| {}).await;
    assert!(applied.unwrap().is_whole());
    // The controller writes to the status, and to an annotation along with it.
    harbour.until(web.id(), |live| live.at("/status/observedGeneration").is_some()).await;
    let (looked_at, drifts) = drift().await.unwrap();
    assert_eq!((looked_at, drifts), (2, Vec::new()));
    harbour.kubectl(&["scale", "deployment", "web", "--replicas=1"]);
    let (_, drifts) = drift().await.unwrap();
    let [drift] = &drifts[..] else { panic!("{drifts:?}") };
    let text = drift.to_string();
    assert!(text.contains("+ spec.replicas: 1\n        by kubectl through scale"), "{text}");
}
