//! Sets of objects: order, what is sent, what is not, and who owns what.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use objects::set::{Adopt, Mode, Outcome, Report, Set, Settings, Step, StepError, Walk};
use objects::{Change, DEPENDS_ON, Kind, Object, Trouble, manifest};
use serde_json::{Value, json};

use crate::harbour::{Harbour, means};

pub(crate) fn said(step: &Step) -> String {
    match &step.outcome {
        Outcome::There(there) => there.change.word().to_owned(),
        Outcome::Failed(error) => format!("failed: {error}"),
        Outcome::Left { because } => format!("left: {because}"),
        Outcome::NoTurn => "no turn".to_owned(),
    }
}

pub(crate) fn story(report: &Report) -> Vec<String> {
    report.steps.iter().map(|step| format!("{} {}", step.id.name, said(step))).collect()
}

fn widget_definition(group: &str, versions: &[(&str, bool, bool)]) -> Object {
    let schema = json!({ "openAPIV3Schema": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let version = |(name, served, storage): &(&str, bool, bool)| json!({ "name": name, "served": served, "storage": storage, "schema": schema });
    let versions: Vec<Value> = versions.iter().map(version).collect();
    Object::new(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("widgets.{group}") },
        "spec": { "group": group, "scope": "Namespaced", "versions": versions,
            "names": { "plural": "widgets", "singular": "widget", "kind": "Widget" } },
    }))
    .unwrap()
}

#[tokio::test]
async fn a_set_takes_one_list_and_one_request_each_and_then_nothing() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let set =
        || (0..40).map(|n| harbour.config_map(&format!("c{n}"), json!({ "n": n.to_string() })));
    let made = harbour.apply_set(set().collect(), Settings::default()).await.unwrap();
    assert_eq!((made.count(Change::Created), made.is_whole()), (40, true), "{:?}", story(&made));
    let counts = harbour.proxy.counts().borrow().clone();
    assert_eq!((counts.of("list", "configmaps"), counts.of("patch", "configmaps")), (1, 40));
    assert_eq!(counts.of("get", "configmaps"), 0);

    let compare = Settings { walk: Walk::Compare, ..Settings::default() };
    let mut again: Vec<Object> = set().collect();
    again[7] = harbour.config_map("c7", json!({ "n": "other" }));
    let again = harbour.apply_set(again, compare).await.unwrap();
    let found = (again.count(Change::Unchanged), again.count(Change::Configured));
    assert_eq!(found, (39, 1), "{:?}", story(&again));
    let counts = harbour.proxy.counts().borrow().clone();
    assert_eq!((counts.of("list", "configmaps"), counts.of("patch", "configmaps")), (2, 41));
    for (before, after) in made.steps.iter().zip(&again.steps) {
        let (Outcome::There(before), Outcome::There(after)) = (&before.outcome, &after.outcome)
        else {
            panic!("everything is there")
        };
        let same = before.version == after.version;
        assert_eq!(same, after.change == Change::Unchanged);
    }
}

#[tokio::test]
async fn a_namespace_a_definition_and_their_objects_go_in_one_call() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let group = format!("{}.example", harbour.namespace.name());
    let fresh = format!("{}-fresh", harbour.namespace.name());
    let text = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: p, namespace: {fresh} }}\n\
         spec: {{ containers: [{{ name: a, image: example.test/a }}] }}\n---\n\
         apiVersion: {group}/v1\nkind: Widget\nmetadata: {{ name: w, namespace: {fresh} }}\n---\n\
         apiVersion: {group}/v1\nkind: Widget\nmetadata: {{ name: near }}\n---\n\
         apiVersion: v1\nkind: Namespace\nmetadata: {{ name: {fresh} }}\n"
    );
    let mut objects = manifest::read("set.yaml", text.as_bytes()).unwrap();
    objects.push(widget_definition(&group, &[("v1", true, true)]));
    let turns = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&turns);
    let set = Set::new(objects, harbour.namespace.name());
    let means = means();
    let applied = harbour.cluster.apply_set(set, Settings::default(), &means, move |step| {
        seen.lock().unwrap().push(step.id.name.clone());
    });
    let report = applied.await.unwrap();
    assert_eq!(report.count(Change::Created), 5, "{:?}", story(&report));
    let turns = turns.lock().unwrap().clone();
    let turn = |name: &str| turns.iter().position(|one| one == name).unwrap();
    assert!(turn(&format!("widgets.{group}")) < turn("w"), "{turns:?}");
    let widget = Kind::new(&format!("{group}/v1"), "Widget").unwrap();
    let near = widget.named(Some(harbour.namespace.name()), "near");
    assert!(harbour.cluster.get(&near).await.unwrap().is_some(), "in the default namespace");
    harbour.kubectl(&["delete", "crd", &format!("widgets.{group}"), "--wait=false"]);
    harbour.kubectl(&["delete", "namespace", &fresh, "--wait=false"]);
}

#[tokio::test]
async fn every_problem_is_told_and_the_others_go_on() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    for name in ["a", "b"] {
        harbour.kubectl(&["create", "cm", name, "--from-literal=k=theirs"]);
    }
    let service = json!({ "spec": { "prots": [] } });
    let objects = vec![
        harbour.config_map("a", json!({ "k": "ours" })),
        harbour.config_map("b", json!({ "k": "ours" })),
        harbour.config_map("fine", json!({ "k": "ours" })),
        harbour.object("v1", "Service", "typo", service),
    ];
    let report = harbour.apply_set(objects.clone(), Settings::default()).await.unwrap();
    assert!(!report.is_whole());
    for step in &report.steps[..2] {
        let Outcome::Failed(StepError::Api(error)) = &step.outcome else { panic!("{step:?}") };
        let Trouble::Ownership(fields) = error.trouble() else { panic!("{error:?}") };
        assert_eq!(
            (fields[0].manager.as_str(), fields[0].path.to_string().as_str()),
            ("kubectl-create", "data.k")
        );
    }
    let told = story(&report);
    assert_eq!(told[2], "fine created");
    assert!(told[3].contains("`spec.prots`: field not declared in schema"), "{told:?}");

    // What is known beforehand keeps everything from being sent.
    let stranger = harbour.object("nobody.example/v1", "Thing", "x", json!({}));
    let fresh = harbour.config_map("fresh", json!({}));
    let report =
        harbour.apply_set(vec![stranger, fresh.clone()], Settings::default()).await.unwrap();
    let told = story(&report);
    assert!(told[0].contains("the API serves no Thing of nobody.example/v1"), "{told:?}");
    assert_eq!(told[1], "fresh left: others of the set cannot be applied");
    assert_eq!(harbour.cluster.get(fresh.id()).await.unwrap(), None);
}

#[tokio::test]
async fn adoption_must_be_wished() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.kubectl(&["create", "cm", "a", "--from-literal=k=v"]);
    harbour.kubectl(&["create", "cm", "helms", "--from-literal=k=v"]);
    harbour.kubectl(&["annotate", "cm", "helms", "meta.helm.sh/release-name=shop"]);
    let set = || {
        vec![
            harbour.config_map("a", json!({ "k": "v" })),
            harbour.config_map("helms", json!({ "k": "v" })),
        ]
    };
    let with = |adopt: Adopt| Settings { adopt, ..Settings::default() };
    let told = story(&harbour.apply_set(set(), with(Adopt::Never)).await.unwrap());
    assert!(told[0].contains("it is there already, and was not made by us"), "{told:?}");
    let told = story(&harbour.apply_set(set(), with(Adopt::Unmanaged)).await.unwrap());
    assert_eq!(told[0], "a left: others of the set cannot be applied");
    assert!(told[1].contains("it belongs to the Helm release shop"), "{told:?}");
    let report = harbour.apply_set(set(), with(Adopt::Always)).await.unwrap();
    assert!(report.is_whole(), "{:?}", story(&report));
    // From now on it is ours.
    let again = harbour.apply_set(set(), with(Adopt::Never)).await.unwrap();
    assert_eq!(story(&again)[0], "a unchanged");
}

fn managers(live: &Object) -> Vec<String> {
    let entries = live.items("/metadata/managedFields").iter();
    let name = |entry: &Value| {
        format!("{} {} {}", entry["manager"], entry["operation"], entry["apiVersion"])
            .replace('"', "")
    };
    entries.map(name).collect()
}

#[tokio::test]
async fn what_kubectl_applied_on_its_own_side_is_taken_over_whole() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let theirs = harbour.config_map("a", json!({ "kept": "1", "dropped": "1" }));
    harbour.namespace.kubectl().apply(&theirs.body().to_string()).unwrap();
    harbour.kubectl(&["label", "cm", "a", "other=one", "--field-manager=somebody"]);
    let before = harbour.cluster.get(theirs.id()).await.unwrap().unwrap();
    assert!(managers(&before).contains(&"kubectl-client-side-apply Update v1".to_owned()));

    let ours = harbour.config_map("a", json!({ "kept": "2" }));
    let report = harbour.apply_set(vec![ours.clone()], Settings::default()).await.unwrap();
    assert_eq!(story(&report), ["a configured"]);
    let live = harbour.cluster.get(ours.id()).await.unwrap().unwrap();
    assert_eq!(live.uid(), before.uid());
    assert_eq!(live.at("/data"), Some(&json!({ "kept": "2" })), "a field nobody wishes is gone");
    assert_eq!(live.text("/metadata/labels/other"), Some("one"), "and those of others stay");
    assert_eq!(managers(&live), ["seaworthy Apply v1", "somebody Update v1"]);
    let again = harbour.apply_set(vec![ours], Settings::default()).await.unwrap();
    assert_eq!(story(&again), ["a unchanged"]);
}

#[tokio::test]
async fn a_version_changes_in_place_also_where_the_old_one_is_gone() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let group = format!("{}.example", harbour.namespace.name());
    let both = widget_definition(&group, &[("v1beta1", true, false), ("v1", true, true)]);
    let widget = |version: &str, spec: Value| {
        harbour.object(&format!("{group}/{version}"), "Widget", "w", json!({ "spec": spec }))
    };
    let set = vec![both, widget("v1beta1", json!({ "a": 1, "b": 1 }))];
    let report = harbour.apply_set(set, Settings::default()).await.unwrap();
    assert!(report.is_whole(), "{:?}", story(&report));
    let id = widget("v1", json!({})).id().clone();
    let first = harbour.until(&id, |_| true).await;

    let upgraded = widget("v1", json!({ "a": 2 }));
    let report = harbour.apply_set(vec![upgraded.clone()], Settings::default()).await.unwrap();
    assert_eq!(story(&report), ["w configured"]);
    let live = harbour.cluster.get(&id).await.unwrap().unwrap();
    assert_eq!((live.uid(), live.at("/spec")), (first.uid(), Some(&json!({ "a": 2 }))));
    assert_eq!(managers(&live), [format!("seaworthy Apply {group}/v1")]);

    // Back to the old version, which is then taken out of the definition.
    let spec = json!({ "spec": { "a": 3 } });
    let other = harbour.object(&format!("{group}/v1beta1"), "Widget", "other", spec);
    let set = vec![widget("v1beta1", json!({ "a": 3 })), other];
    harbour.apply_set(set, Settings::default()).await.unwrap();
    let only = widget_definition(&group, &[("v1", true, true)]);
    harbour.apply_set(vec![only.clone()], Settings::default()).await.unwrap();
    let gone = async {
        while harbour.cluster.raw(&format!("/apis/{group}/v1beta1")).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::harbour::PATIENCE, gone).await.unwrap();
    // A client that knows no better yet, and one that has just asked.
    for (name, cluster) in [("w", harbour.cluster.clone()), ("other", harbour.fresh().await)] {
        let spec = json!({ "spec": { "a": 4 } });
        let wished = harbour.object(&format!("{group}/v1"), "Widget", name, spec);
        let before = cluster.get(wished.id()).await.unwrap().unwrap();
        assert_eq!(managers(&before), [format!("seaworthy Apply {group}/v1beta1")]);
        let set = Set::new(vec![wished.clone()], harbour.namespace.name());
        let means = means();
        let applied = cluster.apply_set(set, Settings::default(), &means, |_| ());
        let report = applied.await.unwrap();
        assert_eq!(story(&report), [format!("{name} configured")]);
        let live = cluster.get(wished.id()).await.unwrap().unwrap();
        assert_eq!((live.uid(), live.at("/spec")), (before.uid(), Some(&json!({ "a": 4 }))));
        assert_eq!(managers(&live), [format!("seaworthy Apply {group}/v1")]);
    }
    harbour.kubectl(&["delete", "crd", &only.id().name, "--wait=false"]);
}

#[tokio::test]
async fn a_dry_run_changes_nothing_and_sees_what_would_be() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = |value: &str| harbour.config_map("a", json!({ "k": value }));
    harbour.apply_set(vec![map("1")], Settings::default()).await.unwrap();
    let before = harbour.cluster.get(map("1").id()).await.unwrap();
    let fresh = format!("{}-dry", harbour.namespace.name());
    let objects = vec![
        map("2"),
        harbour.config_map("new", json!({})),
        harbour.object("v1", "Service", "typo", json!({ "spec": { "prots": [] } })),
        Object::new(
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": fresh } }),
        )
        .unwrap(),
        Object::new(json!({ "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "inside", "namespace": fresh } }))
        .unwrap(),
    ];
    let dry = Settings { mode: Mode::DryRun, ..Settings::default() };
    let report = harbour.apply_set(objects, dry).await.unwrap();
    let told = story(&report);
    assert_eq!(told[..2], ["a configured", "new created"]);
    assert!(told[2].contains("field not declared in schema"), "{told:?}");
    assert_eq!(told[4], "inside created");
    let Outcome::There(inside) = &report.steps[4].outcome else { panic!("{told:?}") };
    assert!(inside.warnings[0].starts_with("not checked: there is no namespace"), "{inside:?}");
    assert_eq!(harbour.cluster.get(map("1").id()).await.unwrap(), before);
    assert!(!harbour.kubectl(&["get", "namespaces", "-o", "name"]).contains(&fresh));
}

#[tokio::test]
async fn an_annotation_holds_an_object_back_until_another_is_ready() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let namespace = harbour.namespace.name();
    let claim = harbour.object(
        "v1",
        "PersistentVolumeClaim",
        "disk",
        json!({ "spec": {
        "storageClassName": "none", "accessModes": ["ReadWriteOnce"],
        "resources": { "requests": { "storage": "1Gi" } } } }),
    );
    let mut held = harbour.config_map("held", json!({})).into_body();
    held["metadata"]["annotations"] =
        json!({ DEPENDS_ON: format!("/namespaces/{namespace}/PersistentVolumeClaim/disk") });
    let held = Object::new(held).unwrap();
    let hasty = Settings { patience: Duration::from_secs(1), ..Settings::default() };
    let report = harbour.apply_set(vec![held.clone(), claim.clone()], hasty).await.unwrap();
    let told = story(&report);
    assert!(told[0].contains("left: it waits for persistentvolumeclaim/disk"), "{told:?}");
    assert!(told[0].contains("not ready: in progress"), "{told:?}");
    assert_eq!(told[1], "disk created");

    let volume = json!({ "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": { "name": format!("disk-{namespace}") },
        "spec": { "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteOnce"],
            "storageClassName": "none", "hostPath": { "path": "/nowhere" },
            "claimRef": { "name": "disk", "namespace": namespace } } });
    let objects = vec![held, claim, Object::new(volume).unwrap()];
    let report = harbour.apply_set(objects, Settings::default()).await.unwrap();
    assert_eq!(story(&report)[0], "held created");
    harbour.kubectl(&["delete", "pv", &format!("disk-{namespace}"), "--wait=false"]);
}
