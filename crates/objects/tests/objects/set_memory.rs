//! Doubts that turned out to be none, and are not sent again.

use objects::compare::Settled;
use objects::set::{Means, Memory, Report, Set, Settings, Walk};
use objects::{Change, Object};
use serde_json::{Value, json};

use crate::harbour::{Harbour, means as memoryless};
use crate::set::story;

/// Means with a memory that goes on from another one, through its JSON.
fn remembering(memory: &Memory) -> Means {
    let kept = serde_json::to_vec(&memory.settled()).unwrap();
    Means { memory: Some(Memory::of(Settled::kept(&kept))), ..memoryless() }
}

async fn apply(harbour: &Harbour, object: &Object, means: &Means) -> Report {
    let set = Set::new(vec![object.clone()], harbour.namespace.name());
    let settings = Settings { walk: Walk::Compare, ..Settings::default() };
    harbour.cluster.apply_set(set, settings, means, |_| ()).await.unwrap()
}

/// A limit that the API writes in another way: nobody else knows that it is the same.
fn limits(harbour: &Harbour, cpu: &str) -> Object {
    let limits = json!([{ "type": "Container", "max": { "cpu": cpu } }]);
    harbour.object("v1", "LimitRange", "l", json!({ "spec": { "limits": limits } }))
}

fn buoys(group: &str, colour: &Value) -> Object {
    let spec = json!({ "type": "object", "properties": {
        "size": { "type": "integer", "nullable": true }, "name": { "type": "string" }, "colour": colour } });
    let schema = json!({ "openAPIV3Schema": { "type": "object", "properties": { "spec": spec } } });
    Object::new(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("buoys.{group}") },
        "spec": { "group": group, "scope": "Namespaced",
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }],
            "names": { "plural": "buoys", "singular": "buoy", "kind": "Buoy" } },
    }))
    .unwrap()
}

#[tokio::test]
async fn the_same_doubt_is_sent_once() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let patches = || harbour.proxy.counts().borrow().of("patch", "limitranges");
    let memory = Memory::default();
    let wished = limits(&harbour, "1000m");
    let means = remembering(&memory);
    let made = apply(&harbour, &wished, &means).await;
    assert_eq!((made.count(Change::Created), patches()), (1, 1), "{:?}", story(&made));
    let again = apply(&harbour, &wished, &means).await;
    assert_eq!((again.count(Change::Unchanged), patches()), (1, 2), "{:?}", story(&again));

    // Another process knows what this one has learnt.
    let means = remembering(means.memory.as_ref().unwrap());
    for _ in 0..2 {
        let report = apply(&harbour, &wished, &means).await;
        assert_eq!((report.count(Change::Unchanged), patches()), (1, 2), "{:?}", story(&report));
    }
    // Another wish, and a change by others, are sent.
    let report = apply(&harbour, &limits(&harbour, "2000m"), &means).await;
    assert_eq!((report.count(Change::Configured), patches()), (1, 3), "{:?}", story(&report));
    apply(&harbour, &wished, &means).await;
    apply(&harbour, &wished, &means).await;
    assert_eq!(patches(), 5);
    let other = r#"{"spec":{"limits":[{"type":"Container","max":{"cpu":"3"}}]}}"#;
    harbour.kubectl(&["patch", "limitrange", "l", "--type=merge", "-p", other]);
    let report = apply(&harbour, &wished, &means).await;
    assert!(!report.is_whole(), "the limits are somebody else's now: {:?}", story(&report));
    // Without a memory every doubt is sent.
    harbour.kubectl(&["delete", "limitrange", "l"]);
    apply(&harbour, &wished, &memoryless()).await;
    let sent = patches();
    for _ in 0..2 {
        apply(&harbour, &wished, &memoryless()).await;
    }
    assert_eq!(patches(), sent + 2);
}

#[tokio::test]
async fn a_changed_definition_makes_the_doubt_anew() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let group = format!("{}.example", harbour.namespace.name());
    let definition = buoys(&group, &json!({ "type": "string" }));
    harbour.apply_set(vec![definition.clone()], Settings::default()).await.unwrap();
    let spec = json!({ "spec": { "name": "north", "size": null } });
    let buoy = harbour.object(&format!("{group}/v1"), "Buoy", "b", spec);
    let resource = format!("buoys.{group}");
    let patches = || harbour.proxy.counts().borrow().of("patch", &resource);
    let means = remembering(&Memory::default());
    for sent in [1, 2, 2, 2] {
        let report = apply(&harbour, &buoy, &means).await;
        assert_eq!((report.is_whole(), patches()), (true, sent), "{:?}", story(&report));
    }
    let changed = buoys(&group, &json!({ "type": "string", "maxLength": 9 }));
    harbour.apply_set(vec![changed], Settings::default()).await.unwrap();
    for sent in [3, 3] {
        let report = apply(&harbour, &buoy, &means).await;
        assert_eq!((report.is_whole(), patches()), (true, sent), "{:?}", story(&report));
    }
    harbour.kubectl(&["delete", "crd", &definition.id().name, "--wait=false"]);
}

#[tokio::test]
async fn a_diff_asks_nothing_about_a_doubt_that_is_settled() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let patches = || harbour.proxy.counts().borrow().of("patch", "limitranges");
    let means = remembering(&Memory::default());
    let wished = limits(&harbour, "1000m");
    let veil = objects::diff::Veil::new([7; 32]);
    let settings = Settings { walk: Walk::Compare, ..Settings::default() };
    let mut asked = Vec::new();
    for _ in 0..3 {
        apply(&harbour, &wished, &means).await;
        let before = patches();
        let set = Set::new(vec![wished.clone()], harbour.namespace.name());
        harbour.cluster.diff_set(set.clone(), settings, &means, &veil).await.unwrap();
        harbour.cluster.drift_of_set(set, settings, &means, &veil).await.unwrap();
        asked.push(patches() - before);
    }
    assert_eq!(asked, [2, 0, 0]);
}
