//! What is spared because something in it stays: by whom it is owned, by whom it
//! cannot be known, and what goes wrong while that is looked for.

use std::time::Duration;

use objects::set::{Mode, Settings};
use objects::{Kind, Object, Trouble};
use rig::need;
use rig::proxy::{Fault, Matching, Rule};
use serde_json::{Value, json};

use crate::harbour::{Harbour, PATIENCE};
use crate::inventory::ends;
use crate::inventory_kinds::{buoy, definition};
use crate::old_server::{Age, OldServer};
use crate::remove_faults::dead_api_service;

impl Harbour {
    /// Makes a namespace that the set has, beside other objects, and that nobody
    /// wishes for any more.
    async fn fresh_namespace(&self, mut set: Vec<Object>) -> String {
        let fresh = format!("{}-fresh", self.namespace.name());
        let body =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": fresh } });
        set.push(Object::new(body).unwrap());
        let report = self.prune_set(set, Settings::default()).await.unwrap();
        assert!(report.is_whole(), "{report:?}");
        fresh
    }

    async fn owned_map(&self, namespace: &str, name: &str, owner: Value) -> Object {
        let metadata = json!({ "name": name, "namespace": namespace, "ownerReferences": [owner] });
        let body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata });
        self.apply(&Object::new(body).unwrap()).await.unwrap().object
    }

    /// Prunes everything, and says what became of it.
    async fn prune_all(&self, mode: Mode) -> Vec<String> {
        let settings = Settings { mode, ..Settings::default() };
        ends(&self.prune_set(vec![], settings).await.unwrap())
    }
}

fn owner(live: &Object) -> Value {
    json!({ "apiVersion": live.kind().api_version(), "kind": live.kind().kind,
        "name": live.id().name, "uid": live.uid() })
}

/// An operator's own object, of the whole cluster, made by hand.
async fn cluster_wide(harbour: &Harbour) -> Object {
    let body = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": { "name": harbour.namespace.name() }, "rules": [] });
    harbour.apply(&Object::new(body).unwrap()).await.unwrap().object
}

#[tokio::test]
async fn a_namespace_stays_for_what_an_owner_elsewhere_keeps() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let fresh = harbour.fresh_namespace(vec![]).await;
    let policy = cluster_wide(&harbour).await;
    let first = harbour.owned_map(&fresh, "first", owner(&policy)).await;
    // What an owner in the namespace has goes only if that does.
    harbour.owned_map(&fresh, "second", owner(&first)).await;
    for mode in [Mode::DryRun, Mode::ForReal] {
        let told = harbour.prune_all(mode).await;
        let kept = format!("{fresh} kept: {} in it is not of this set", first.id());
        assert_eq!(told, [kept]);
    }
    harbour.kubectl(&["delete", "clusterrole", &policy.id().name]);
    for mode in [Mode::DryRun, Mode::ForReal] {
        assert_eq!(harbour.prune_all(mode).await, [format!("{fresh} deleted")]);
    }
}

#[tokio::test]
async fn a_namespace_does_not_stay_for_what_it_owns_itself() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let fresh = harbour.fresh_namespace(vec![]).await;
    let namespace = Kind::new("v1", "Namespace").unwrap().named(None, &fresh);
    let namespace = harbour.cluster.get(&namespace).await.unwrap().unwrap();
    harbour.owned_map(&fresh, "own", owner(&namespace)).await;
    assert_eq!(harbour.prune_all(Mode::ForReal).await, [format!("{fresh} deleted")]);
}

/// The garbage collector does not take for gone what it cannot look for.
#[tokio::test]
async fn an_owner_of_a_kind_that_nobody_serves_keeps_what_it_has() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let (crd, kind) = definition(&harbour);
    let fresh = harbour.fresh_namespace(vec![crd.clone()]).await;
    let unserved = json!({ "apiVersion": "gone.example.com/v1", "kind": "Mooring",
        "name": "a", "uid": "00000000-0000-4000-8000-000000000000" });
    let map = harbour.owned_map(&fresh, "owned", unserved.clone()).await;
    let owned = buoy(&harbour, &kind, "owned", &json!({ "ownerReferences": [unserved] }));
    let served = async {
        while harbour.fresh().await.resource(&kind).await.is_err() {}
        harbour.apply(&owned).await.unwrap().object
    };
    let owned = tokio::time::timeout(PATIENCE, served).await.expect("the kind is served");
    let mut told = harbour.prune_all(Mode::ForReal).await;
    told.sort_unstable();
    let mut kept = [
        format!("{} kept: {} is not of this set", crd.id().name, owned.id()),
        format!("{fresh} kept: {} in it is not of this set", map.id()),
    ];
    kept.sort_unstable();
    assert_eq!(told, kept);
    harbour.kubectl(&["delete", "crd", &crd.id().name, "--wait=false"]);
    harbour.kubectl(&["delete", "ns", &fresh, "--wait=false"]);
}

#[tokio::test]
async fn a_look_for_what_stays_is_repeated() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let (crd, kind) = definition(&harbour);
    let fresh = harbour.fresh_namespace(vec![crd.clone()]).await;
    let role = cluster_wide(&harbour).await;
    harbour.owned_map(&fresh, "owned", owner(&role)).await;
    let pause = Fault::Throttle { retry_after: Duration::from_secs(1) };
    let inside = Matching::path(&format!("/api/v1/namespaces/{fresh}/secrets"));
    let objects = Matching::path(&format!("/apis/{}/v1/buoys", kind.group));
    for (matching, fault) in [
        (inside.clone(), pause.clone()),
        (inside.clone(), Fault::Status(503)),
        (inside, Fault::Status(410)),
        (objects.clone(), pause),
        (objects.clone(), Fault::Status(503)),
        (objects, Fault::Status(410)),
        (Matching::class("get", "clusterroles"), Fault::Status(503)),
        (Matching::path("/apis").verb("get"), Fault::Status(503)),
    ] {
        harbour.proxy.add(Rule::next(1, matching, fault));
    }
    let told = harbour.prune_all(Mode::DryRun).await;
    let kept = format!("{fresh} kept: configmap/owned in namespace {fresh} in it");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().any(|line| line.starts_with(&kept)), "{told:?}");
    assert!(told.contains(&format!("{} deleted", crd.id().name)), "{told:?}");

    harbour.kubectl(&["delete", "clusterrole", &role.id().name]);
    let told = harbour.prune_all(Mode::ForReal).await;
    assert!(told.iter().all(|line| line.ends_with(" deleted")) && told.len() == 2, "{told:?}");
}

/// Nobody knows what of a silent group is in a namespace.
#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_stays_while_a_group_does_not_answer() {
    let Some(plane) = need::control_plane() else { return };
    let mut harbour = Harbour::open_on(plane.access()).harbour().await;
    let fresh = harbour.fresh_namespace(vec![]).await;
    harbour.apply(&dead_api_service()).await.unwrap();
    let thing = Kind::new("dead.example.com/v1", "Thing").unwrap();
    let silent = async {
        loop {
            let error = harbour.fresh().await.resource(&thing).await.unwrap_err();
            match error.trouble() {
                Trouble::KindMissing { stale, .. } if !stale.is_empty() => break,
                _ => {}
            }
        }
    };
    tokio::time::timeout(PATIENCE, silent).await.expect("the API says that the group is silent");
    let because = "the API did not hear from dead.example.com/v1, which may have something in it";
    let kept = [format!("{fresh} kept: {because}")];
    assert_eq!(harbour.prune_all(Mode::ForReal).await, kept);
    assert_eq!(harbour.remembered(), "Namespace");

    for age in [Age::Plain, Age::Beta] {
        let old = OldServer::start(&harbour, age).await;
        harbour.cluster = old.fresh().await;
        assert_eq!(harbour.prune_all(Mode::ForReal).await, kept, "{age:?}");
    }
}
