//! How many requests a look at a set over many namespaces takes.

use std::fs;

use objects::set::{Finding, Inventory, Prune, Set, SetDiff, Settings, Walk};
use objects::{Access, Change, Cluster, Object};
use serde_json::{Value, json};

use crate::harbour::{Harbour, means};
use crate::set::story;

/// A map in each of so many namespaces, and the namespaces.
fn town(houses: usize, each: usize) -> Vec<Object> {
    let read = |body| Object::new(body).unwrap();
    let name = |house: usize| format!("z{house:03}");
    let namespace = |house| {
        let metadata = json!({ "name": name(house), "labels": { "of": "town" } });
        read(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata }))
    };
    let map = |index: usize| {
        let metadata =
            json!({ "namespace": name(index / each), "name": format!("c{}", index % each) });
        let data = json!({ "k": "v" });
        read(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data }))
    };
    (0..houses).map(namespace).chain((0..houses * each).map(map)).collect()
}

fn without_inventory(objects: Vec<Object>) -> Set {
    Set::new(objects, "default")
}

fn pruned(objects: Vec<Object>) -> Set {
    let inventory = Some(Inventory::parse("town", "default").unwrap());
    Set { inventory, prune: Prune::Yes, ..without_inventory(objects) }
}

async fn diff(cluster: &Cluster, set: Set) -> SetDiff {
    let settings = Settings { walk: Walk::Compare, ..Settings::default() };
    let veil = objects::diff::Veil::new([7; 32]);
    // On the heap: a comparison of a set is large, and lies in every future around it.
    Box::pin(cluster.diff_set(set, settings, &means(), &veil)).await.unwrap()
}

/// Returns how often config maps are listed and got by that.
async fn asked(harbour: &Harbour, work: impl Future<Output = ()>) -> [u64; 2] {
    let counts = || {
        let counts = harbour.proxy.counts();
        let counts = counts.borrow();
        ["list", "get"].map(|verb| counts.of(verb, "configmaps"))
    };
    let before = counts();
    work.await;
    let after = counts();
    [0, 1].map(|verb| after[verb] - before[verb])
}

/// Connects as somebody who may do just this everywhere.
async fn everywhere_as(harbour: &Harbour, name: &str, rules: Value) -> Cluster {
    let cluster_role = json!({ "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole", "metadata": { "name": name }, "rules": rules });
    harbour.apply(&Object::new(cluster_role).unwrap()).await.unwrap();
    harbour.kubectl(&["create", "serviceaccount", name]);
    let account = format!("--serviceaccount={}:{name}", harbour.namespace.name());
    let role = format!("--clusterrole={name}");
    harbour.kubectl(&["create", "clusterrolebinding", name, &role, &account]);
    let token = harbour.kubectl(&["create", "token", name]);
    let text = fs::read_to_string(harbour.proxy.kubeconfig()).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["users"][0]["user"] = json!({ "token": token.trim() });
    let access = Access::from_kubeconfig(config.to_string().as_bytes(), None).unwrap();
    access.connect().await.unwrap()
}

fn all_same(found: &SetDiff) {
    assert!(found.objects.iter().all(|one| matches!(one.finding, Finding::Same)), "{found:?}");
}

#[tokio::test]
async fn a_set_over_many_namespaces_takes_few_lists() {
    let Some(plane) = rig::need::control_plane() else { return };
    let harbour = Harbour::open_on(plane.access()).harbour().await;
    let apply = |set: Set| async {
        let settings = Settings { walk: Walk::Compare, ..Settings::default() };
        let report = harbour.cluster.apply_set(set, settings, &means(), |_| ()).await.unwrap();
        assert!(report.is_whole(), "{:?}", story(&report));
        report
    };
    let town = || town(30, 2);
    let first = asked(&harbour, async {
        assert_eq!(apply(without_inventory(town())).await.count(Change::Created), 90);
    });
    assert_eq!(first.await, [1, 0], "one list says that nothing is there");
    let again = asked(&harbour, async {
        all_same(&diff(&harbour.cluster, without_inventory(town())).await);
    });
    assert_eq!(again.await, [1, 0], "and one that all is as wished");

    // What has no label of the set yet is found all the same.
    let adopted = asked(&harbour, async {
        assert_eq!(apply(pruned(town())).await.count(Change::Configured), 90);
    });
    assert_eq!(adopted.await, [6, 0], "members, everything, and whom others have made members");
    let again = asked(&harbour, async {
        all_same(&diff(&harbour.cluster, pruned(town())).await);
    });
    assert_eq!(again.await, [3, 0], "members, whether the old ones can be listed, and those");

    // A copy elsewhere with the label of the set is not the set's.
    let copy = "kubectl.kubernetes.io/x";
    let metadata = harbour.cluster.get(town()[30].id()).await.unwrap().unwrap();
    let label = metadata.at("/metadata/labels").unwrap().clone();
    let body = json!({ "metadata": { "labels": label, "annotations": { copy: "1" } } });
    let copied = harbour.object("v1", "ConfigMap", "copied", body);
    harbour.namespace.kubectl().apply(&copied.body().to_string()).unwrap();
    let fewer = town().into_iter().filter(|one| one.id().name != "c1").collect();
    let report = apply(pruned(fewer)).await;
    assert_eq!(report.pruned.len(), 30, "{report:?}");
    assert!(harbour.cluster.get(copied.id()).await.unwrap().is_some());
}

#[tokio::test]
async fn who_may_not_list_everywhere_and_who_has_a_huge_cluster_looks_closer() {
    let Some(plane) = rig::need::control_plane() else { return };
    let harbour = Harbour::open_on(plane.access()).harbour().await;
    let rights = json!([
        { "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch", "create"] },
        { "apiGroups": [""], "resources": ["namespaces"], "verbs": ["*"] },
    ]);
    let narrow = everywhere_as(&harbour, "narrow", rights).await;
    let (set, means) = (without_inventory(town(17, 1)), means());
    let applied = narrow.apply_set(set, Settings::default(), &means, |_| ());
    let report = applied.await.unwrap();
    assert!(report.is_whole(), "{:?}", story(&report));
    let spent = asked(&harbour, async {
        all_same(&diff(&narrow, without_inventory(town(17, 1))).await);
    });
    assert_eq!(spent.await, [1, 17], "a list that is refused, and a look each");

    // More than 17 requests are worth: 500 on the first page, and 850 more.
    let stranger = |index| harbour.config_map(&format!("s{index:04}"), json!({}));
    let crowd = harbour.apply_set((0..1_400).map(stranger).collect(), Settings::default());
    assert!(crowd.await.unwrap().is_whole());
    let wide = harbour.fresh().await;
    let spent = asked(&harbour, async {
        all_same(&diff(&wide, without_inventory(town(17, 1))).await);
    });
    assert_eq!(spent.await, [1, 17], "a first page that says how many more there are");

    // Nine in one namespace are worth 450 others after the first page, and no more.
    let nine = || -> Vec<Object> {
        (0..9).map(|n| harbour.config_map(&format!("z{n}"), json!({ "k": "v" }))).collect()
    };
    let walk = Settings { walk: Walk::Compare, ..Settings::default() };
    for change in [Change::Created, Change::Unchanged] {
        let spent = asked(&harbour, async {
            let report = harbour.apply_set(nine(), walk).await.unwrap();
            assert_eq!(report.count(change), 9, "{:?}", story(&report));
        });
        assert_eq!(spent.await, [1, 9], "{change:?}: the first page, and a look each");
    }
    let spent = asked(&harbour, async {
        all_same(&diff(&wide, Set::new(nine(), harbour.namespace.name())).await);
    });
    assert_eq!(spent.await, [1, 9]);
}
