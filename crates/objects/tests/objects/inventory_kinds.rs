//! Definitions that a set no longer wishes for, and the objects of everybody
//! that would go with them.

use objects::set::{Mode, Settings};
use objects::{Kind, Object, ObjectId};
use serde_json::{Value, json};

use crate::harbour::Harbour;
use crate::inventory::ends;

/// A kind of the test's own: others share the control plane.
pub(crate) fn definition(harbour: &Harbour) -> (Object, Kind) {
    let group = format!("{}.example.com", harbour.namespace.name());
    let schema = json!({ "openAPIV3Schema":
        { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let body = json!({ "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": { "name": format!("buoys.{group}") },
        "spec": { "group": group, "scope": "Namespaced",
            "names": { "kind": "Buoy", "plural": "buoys" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }] } });
    let kind = Kind::new(&format!("{group}/v1"), "Buoy").unwrap();
    (Object::new(body).unwrap(), kind)
}

pub(crate) fn buoy(harbour: &Harbour, kind: &Kind, name: &str, metadata: &Value) -> Object {
    harbour.object(&kind.api_version(), "Buoy", name, json!({ "metadata": metadata }))
}

async fn is_there(harbour: &Harbour, id: &ObjectId) -> bool {
    let live = harbour.cluster.get(id).await.unwrap();
    live.is_some_and(|live| live.at("/metadata/deletionTimestamp").is_none())
}

#[tokio::test]
async fn a_definition_stays_while_somebody_else_has_an_object_of_its_kind() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let (crd, kind) = definition(&harbour);
    let ours = buoy(&harbour, &kind, "ours", &json!({}));
    let report = harbour.prune_set(vec![crd.clone(), ours.clone()], Settings::default()).await;
    assert!(report.as_ref().unwrap().is_whole(), "{report:?}");
    let theirs = buoy(&harbour, &kind, "theirs", &json!({}));
    let theirs = harbour.apply(&theirs).await.unwrap().object;
    let place = format!("in namespace {}", harbour.namespace.name());
    let kept = format!("{} kept: {kind}/theirs {place} is not of this set", crd.id().name);
    let dry = Settings { mode: Mode::DryRun, ..Settings::default() };
    for settings in [dry, Settings::default()] {
        let report = harbour.prune_set(vec![], settings).await.unwrap();
        assert_eq!(ends(&report), ["ours deleted".to_owned(), kept.clone()]);
        assert!(is_there(&harbour, theirs.id()).await);
    }
    let remembered = harbour.remembered();
    assert!(remembered.contains("CustomResourceDefinition.apiextensions.k8s.io"), "{remembered}");

    // What is wished for keeps it too, and what goes with its owner does not.
    let more = buoy(&harbour, &kind, "more", &json!({}));
    let report = harbour.prune_set(vec![more], Settings::default()).await.unwrap();
    let wished = format!("{} kept: {kind}/more {place} is still wished for", crd.id().name);
    assert_eq!(ends(&report), [wished]);
    harbour.kubectl(&["delete", &kind.to_string(), "theirs"]);
    let references = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
        "uid": owner(&harbour).await }]);
    let owned = buoy(&harbour, &kind, "owned", &json!({ "ownerReferences": references }));
    let owned = harbour.apply(&owned).await.unwrap().object;
    let report = harbour.prune_set(vec![], Settings::default()).await.unwrap();
    let kept = format!("{} kept: {kind}/owned {place} is not of this set", crd.id().name);
    assert_eq!(ends(&report), ["more deleted".to_owned(), kept], "its owner is there");
    assert!(is_there(&harbour, owned.id()).await);
    harbour.kubectl(&["delete", "cm", "owner"]);
    let report = harbour.prune_set(vec![], Settings::default()).await.unwrap();
    assert_eq!(ends(&report), [format!("{} deleted", crd.id().name)]);
    assert!(!is_there(&harbour, crd.id()).await);
}

async fn owner(harbour: &Harbour) -> String {
    let owner = harbour.config_map("owner", json!({}));
    harbour.apply(&owner).await.unwrap().object.uid().unwrap().to_owned()
}

/// Sparing one object is worth nothing where what it stands in goes.
#[tokio::test]
async fn what_is_spared_is_not_deleted_with_its_namespace_or_its_kind() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let (crd, kind) = definition(&harbour);
    let fresh = format!("{}-fresh", harbour.namespace.name());
    let namespace =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": fresh } });
    let namespace = Object::new(namespace).unwrap();
    let helm = json!({ "name": "both", "namespace": fresh,
        "annotations": { "meta.helm.sh/release-name": "shop" } });
    let both = json!({ "apiVersion": kind.api_version(), "kind": "Buoy", "metadata": helm });
    let both = Object::new(both).unwrap();
    let set = vec![crd.clone(), namespace.clone(), both.clone()];
    let report = harbour.prune_set(set, Settings::default()).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
    let report = harbour.prune_set(vec![], Settings::default()).await.unwrap();
    let told = ends(&report);
    assert!(told.iter().all(|line| line.contains(" kept: ")) && told.len() == 3, "{told:?}");
    for id in [crd.id(), namespace.id(), both.id()] {
        assert!(is_there(&harbour, id).await, "{id}: {told:?}");
    }
    harbour.kubectl(&[
        "-n",
        &fresh,
        "annotate",
        &kind.to_string(),
        "both",
        "meta.helm.sh/release-name-",
    ]);
    let report = harbour.prune_set(vec![], Settings::default()).await.unwrap();
    let told = ends(&report);
    assert!(told.iter().all(|line| line.ends_with(" deleted")) && told.len() == 3, "{told:?}");
}
