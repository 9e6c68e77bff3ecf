//! Inventories: what a set remembers, what it prunes, and what it spares.

use std::time::Duration;

use objects::set::{Adopt, End, Inventory, Mode, Prune, Report, Set, SetError, Settings};
use objects::{ApiError, Kind, Object, Trouble};
use rig::need;
use serde_json::{Value, json};

use crate::harbour::{Harbour, PATIENCE, means};
use crate::remove_faults::dead_api_service;
use crate::set::story;

impl Harbour {
    pub(crate) async fn prune_set(
        &self,
        objects: Vec<Object>,
        settings: Settings,
    ) -> Result<Report, SetError> {
        let inventory = Inventory::parse("shop", self.namespace.name()).unwrap();
        let set = Set {
            objects,
            namespace: self.namespace.name().to_owned(),
            inventory: Some(inventory),
            prune: Prune::Yes,
        };
        self.cluster.apply_set(set, settings, &means(), |_| ()).await
    }

    pub(crate) fn maps(&self, names: &[&str]) -> Vec<Object> {
        names.iter().map(|name| self.config_map(name, json!({ "k": "v" }))).collect()
    }

    /// The names of the maps that a test has made.
    pub(crate) fn live_maps(&self) -> Vec<String> {
        let names = self.kubectl(&["get", "cm", "-o", "jsonpath={.items[*].metadata.name}"]);
        let names = names.split_whitespace().filter(|name| *name != "kube-root-ca.crt");
        names.map(str::to_owned).collect()
    }

    pub(crate) fn parent(&self) -> Value {
        let text = self.kubectl(&["get", "secret", "shop", "-o", "json"]);
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) fn kubectl_set(&self, objects: &[Object], more: &[&str]) -> Result<String, String> {
        let list: Vec<&Value> = objects.iter().map(Object::body).collect();
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": list });
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list.json");
        std::fs::write(&file, list.to_string()).unwrap();
        let mut kubectl = self.namespace.kubectl().command();
        kubectl.env("KUBECTL_APPLYSET", "true").args(["-n", self.namespace.name(), "apply"]);
        kubectl.args(["--prune", "--applyset=shop", "--server-side"]).args(more);
        let output = kubectl.arg("-f").arg(&file).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }
}

pub(crate) fn ends(report: &Report) -> Vec<String> {
    let end = |end: &End| match end {
        End::Deleted => "deleted".to_owned(),
        End::Detached { because } => format!("detached: {because}"),
        End::Kept { because } => format!("kept: {because}"),
        End::Stuck { because } => format!("stuck: {because}"),
        End::Failed(error) => format!("failed: {error}"),
    };
    report.pruned.iter().map(|one| format!("{} {}", one.id.name, end(&one.end))).collect()
}

#[tokio::test]
async fn what_is_no_longer_wished_for_is_pruned_and_forgotten() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let mut objects = harbour.maps(&["a", "b"]);
    objects.push(harbour.object("v1", "ServiceAccount", "runner", json!({})));
    let report = harbour.prune_set(objects, Settings::default()).await.unwrap();
    assert!(report.is_whole() && report.pruned.is_empty(), "{:?}", ends(&report));
    let kinds = "applyset.kubernetes.io/contains-group-kinds";
    assert_eq!(harbour.parent()["metadata"]["annotations"][kinds], "ConfigMap,ServiceAccount");

    // A dry run says the same and does nothing.
    let dry = Settings { mode: Mode::DryRun, ..Settings::default() };
    let report = harbour.prune_set(harbour.maps(&["a"]), dry).await.unwrap();
    assert_eq!(ends(&report), ["b deleted", "runner deleted"]);
    assert_eq!(harbour.live_maps(), ["a", "b"]);

    let report = harbour.prune_set(harbour.maps(&["a"]), Settings::default()).await.unwrap();
    assert_eq!(ends(&report), ["b deleted", "runner deleted"]);
    assert_eq!(harbour.live_maps(), ["a"]);
    assert_eq!(harbour.parent()["metadata"]["annotations"][kinds], "ConfigMap");
    let before = harbour.parent()["metadata"]["resourceVersion"].clone();
    harbour.prune_set(harbour.maps(&["a"]), Settings::default()).await.unwrap();
    assert_eq!(harbour.parent()["metadata"]["resourceVersion"], before, "nothing to remember");
}

#[tokio::test]
async fn a_set_that_is_not_whole_prunes_nothing_and_a_crash_forgets_nothing() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.prune_set(harbour.maps(&["a"]), Settings::default()).await.unwrap();
    harbour.kubectl(&["create", "cm", "foreign", "--from-literal=k=theirs"]);
    let report = harbour.prune_set(harbour.maps(&["foreign"]), Settings::default()).await.unwrap();
    assert!(!report.is_whole(), "{:?}", story(&report));
    assert_eq!(report.not_pruned, Some("not everything that is wished for is there"));
    assert_eq!(harbour.live_maps(), ["a", "foreign"]);

    // The end comes right after the inventory was extended.
    let means = crate::harbour::means();
    means.cancel.cancel();
    let inventory = Inventory::parse("shop", harbour.namespace.name()).unwrap();
    let set = Set {
        objects: vec![harbour.object("v1", "ServiceAccount", "runner", json!({}))],
        namespace: harbour.namespace.name().to_owned(),
        inventory: Some(inventory),
        prune: Prune::Yes,
    };
    let ended = harbour.cluster.apply_set(set, Settings::default(), &means, |_| ());
    assert!(!ended.await.unwrap().is_whole());
    let kinds = "applyset.kubernetes.io/contains-group-kinds";
    assert_eq!(harbour.parent()["metadata"]["annotations"][kinds], "ConfigMap,ServiceAccount");
    assert_eq!(harbour.live_maps(), ["a", "foreign"]);
}

#[tokio::test]
async fn members_that_say_so_stay_and_leave_the_set() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let mut objects = harbour.maps(&["a"]);
    let notes = [
        ("detached", "client.lifecycle.config.k8s.io/deletion", "detach"),
        ("kept", "cli-utils.sigs.k8s.io/on-remove", "keep"),
    ];
    for (name, key, value) in notes {
        let mut map = harbour.config_map(name, json!({})).into_body();
        map["metadata"]["annotations"] = json!({ key: value });
        objects.push(Object::new(map).unwrap());
    }
    harbour.prune_set(objects, Settings::default()).await.unwrap();
    let report = harbour.prune_set(harbour.maps(&["a"]), Settings::default()).await.unwrap();
    assert_eq!(
        ends(&report),
        [
            "detached detached: it has the annotation client.lifecycle.config.k8s.io/deletion: detach",
            "kept detached: it has the annotation cli-utils.sigs.k8s.io/on-remove: keep"
        ]
    );
    assert_eq!(harbour.live_maps(), ["a", "detached", "kept"]);
    let members = ["get", "cm", "-l", "applyset.kubernetes.io/part-of", "-o", "name"];
    assert_eq!(harbour.kubectl(&members).trim(), "configmap/a");
    assert_eq!(
        ends(&harbour.prune_set(harbour.maps(&["a"]), Settings::default()).await.unwrap()),
        [""; 0]
    );
}

#[tokio::test]
async fn a_namespace_with_something_foreign_in_it_stays() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let fresh = format!("{}-fresh", harbour.namespace.name());
    let namespace = Kind::new("v1", "Namespace").unwrap().named(None, &fresh);
    let made = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": fresh } });
    let inside = json!({ "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "ours", "namespace": fresh } });
    let set = vec![Object::new(made).unwrap(), Object::new(inside).unwrap()];
    harbour.prune_set(set, Settings::default()).await.unwrap();
    let kubectl = harbour.namespace.kubectl();
    kubectl.run(&["-n", &fresh, "create", "secret", "generic", "theirs"]).unwrap();
    let report = harbour.prune_set(vec![], Settings::default()).await.unwrap();
    let told = ends(&report);
    assert!(told.contains(&"ours deleted".to_owned()), "{told:?}");
    let kept = format!("{fresh} kept: secret/theirs in namespace {fresh} in it is not of this set");
    assert!(told.contains(&kept), "{told:?}");

    kubectl.run(&["-n", &fresh, "delete", "secret", "theirs"]).unwrap();
    let report = harbour.prune_set(vec![], Settings::default()).await.unwrap();
    assert_eq!(ends(&report), [format!("{fresh} deleted")]);
    let live = harbour.cluster.get(&namespace).await.unwrap();
    assert!(live.is_none_or(|live| live.at("/metadata/deletionTimestamp").is_some()));
}

#[tokio::test]
async fn kubectl_and_we_take_sets_over_from_each_other() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.kubectl_set(&harbour.maps(&["a", "b"]), &[]).unwrap();
    let theirs = harbour.parent();
    let inventory = Inventory::parse("shop", harbour.namespace.name()).unwrap();
    assert_eq!(theirs["metadata"]["labels"]["applyset.kubernetes.io/id"], inventory.id());

    // Not by accident.
    let error = harbour.prune_set(harbour.maps(&["a"]), Settings::default()).await.unwrap_err();
    assert!(error.to_string().contains("is an inventory of kubectl"), "{error}");
    let take = Settings { adopt: Adopt::Always, ..Settings::default() };
    let report = harbour.prune_set(harbour.maps(&["a", "c"]), take).await.unwrap();
    assert_eq!(ends(&report), ["b deleted"], "{:?}", story(&report));
    assert_eq!(harbour.live_maps(), ["a", "c"]);

    // And back: kubectl asks for its own name in the annotation.
    let refused = harbour.kubectl_set(&harbour.maps(&["a"]), &[]).unwrap_err();
    assert!(refused.contains("managed by tooling \"seaworthy\""), "{refused}");
    let tooling = "applyset.kubernetes.io/tooling=kubectl/v1.36.3";
    harbour.kubectl(&["annotate", "--overwrite", "secret", "shop", tooling]);
    let told = harbour.kubectl_set(&harbour.maps(&["a", "d"]), &[]).unwrap();
    assert!(told.contains("configmap/c pruned"), "{told}");
    assert_eq!(harbour.live_maps(), ["a", "d"]);
}

#[tokio::test]
async fn two_sets_never_take_each_others_members() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.prune_set(harbour.maps(&["a"]), Settings::default()).await.unwrap();
    let other = Set {
        objects: harbour.maps(&["a"]),
        namespace: harbour.namespace.name().to_owned(),
        inventory: Some(Inventory::parse("other", harbour.namespace.name()).unwrap()),
        prune: Prune::Yes,
    };
    let report =
        harbour.cluster.apply_set(other, Settings::default(), &means(), |_| ()).await.unwrap();
    assert!(story(&report)[0].contains("it belongs to the set applyset-"), "{:?}", story(&report));
    // Nor does an apply without a set take a member out of its own.
    let report = harbour.apply_set(harbour.maps(&["a"]), Settings::default()).await.unwrap();
    assert!(story(&report)[0].contains("it belongs to the set applyset-"), "{:?}", story(&report));
}

/// What a finalizer keeps is told, stays a member, and what it stands on stays.
#[tokio::test]
async fn what_something_keeps_is_no_success_and_is_not_forgotten() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let fresh = format!("{}-fresh", harbour.namespace.name());
    let made = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": fresh } });
    let held = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "held", "namespace": fresh, "finalizers": ["example.com/hold"] } });
    let set = vec![Object::new(made).unwrap(), Object::new(held).unwrap()];
    harbour.prune_set(set, Settings::default()).await.unwrap();
    let hurried = Settings { patience: Duration::from_secs(3), ..Settings::default() };
    let report = harbour.prune_set(vec![], hurried).await.unwrap();
    let told = ends(&report).join("\n");
    assert!(!report.is_whole(), "{told}");
    assert!(told.contains("held stuck: ") && told.contains("example.com/hold"), "{told}");
    assert!(told.contains(&format!("{fresh} kept: ")), "{told}");
    let kinds = &harbour.parent()["metadata"]["annotations"];
    let kinds = kinds["applyset.kubernetes.io/contains-group-kinds"].as_str().unwrap();
    assert_eq!(kinds, "ConfigMap,Namespace");

    let free = r#"{"metadata":{"finalizers":null}}"#;
    let kubectl = harbour.namespace.kubectl();
    kubectl.run(&["-n", &fresh, "patch", "cm", "held", "--type=merge", "-p", free]).unwrap();
    let report = harbour.prune_set(vec![], Settings::default()).await.unwrap();
    assert_eq!(ends(&report), [format!("{fresh} deleted")]);
}

/// Members of a group whose server is dead for a while are not forgotten.
#[tokio::test(flavor = "multi_thread")]
async fn members_that_cannot_be_listed_are_not_forgotten() {
    let Some(plane) = need::control_plane() else { return };
    let mut harbour = Harbour::open_on(plane.access()).harbour().await;
    harbour.prune_set(harbour.maps(&["a", "b"]), Settings::default()).await.unwrap();
    let all = "applyset.kubernetes.io/contains-group-kinds=ConfigMap,Thing.dead.example.com";
    harbour.kubectl(&["annotate", "--overwrite", "secret", "shop", all]);
    harbour.apply(&dead_api_service()).await.unwrap();
    // Other processes, which ask what there is now.
    let thing = Kind::new("dead.example.com/v1", "Thing").unwrap();
    let is_silent = |error: ApiError| match error.trouble() {
        Trouble::KindMissing { stale, .. } => !stale.is_empty(),
        _ => false,
    };
    let heard = async {
        while !harbour.cluster.resource(&thing).await.is_err_and(is_silent) {
            harbour.cluster = harbour.fresh().await;
        }
    };
    tokio::time::timeout(PATIENCE, heard).await.expect("the API says that the group is silent");
    let report = harbour.prune_set(harbour.maps(&["a"]), Settings::default()).await.unwrap();
    let told = ends(&report).join("\n");
    assert!(told.contains("did not hear from dead.example.com/v1"), "{told}");
    let kinds = &harbour.parent()["metadata"]["annotations"];
    let kinds = kinds["applyset.kubernetes.io/contains-group-kinds"].as_str().unwrap();
    assert!(kinds.contains("Thing.dead.example.com"), "{kinds}");
}
