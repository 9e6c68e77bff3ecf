//! Sets whose API server, or whose own process, dies in the middle.

use std::time::Duration;

use objects::set::{Inventory, Outcome, Prune, Set, Settings, Walk};
use objects::{Access, Change, Cluster, Object};
use rig::{ControlPlane, need};
use serde_json::json;
use tokio::sync::mpsc;

use crate::harbour::{Harbour, PATIENCE, means};
use crate::set::story;

const MAPS: usize = 120;

fn maps(harbour: &Harbour, value: &str) -> Vec<Object> {
    (0..MAPS).map(|n| harbour.config_map(&format!("c{n:03}"), json!({ "k": value }))).collect()
}

fn few() -> Settings {
    Settings { in_flight: 4, walk: Walk::Compare, ..Settings::default() }
}

/// Straight to the server: the proxy would answer in its place.
async fn direct(access: &rig::Access) -> Cluster {
    let kubeconfig = std::fs::read(access.kubeconfig()).unwrap();
    Access::from_kubeconfig(&kubeconfig, None).unwrap().connect().await.unwrap()
}

/// Starts a set in a task, and returns when some of it is there.
async fn under_way(
    cluster: &Cluster,
    set: Set,
    settings: Settings,
) -> tokio::task::JoinHandle<objects::set::Report> {
    let (cluster, (told, mut turns)) = (cluster.clone(), mpsc::unbounded_channel());
    let task = tokio::spawn(async move {
        // Whoever listened may be content already.
        let observe = move |_: &_| {
            let _ = told.send(());
        };
        cluster.apply_set(set, settings, &means(), observe).await.unwrap()
    });
    for _ in 0..MAPS / 10 {
        tokio::time::timeout(PATIENCE, turns.recv()).await.unwrap();
    }
    task
}

fn restart(plane: &mut ControlPlane) {
    tokio::task::block_in_place(|| plane.start_api_server()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_that_crashes_in_the_middle_loses_nothing() {
    let Some(mut plane) = need::control_plane() else { return };
    let harbour = Harbour::open_on(plane.access()).harbour().await;
    let cluster = direct(plane.access()).await;
    let set = |value: &str| Set::new(maps(&harbour, value), harbour.namespace.name());

    // Who has no patience fails, and goes on where it was.
    let hasty = Settings { patience: Duration::from_millis(300), ..few() };
    let task = under_way(&cluster, set("1"), hasty).await;
    plane.kill_api_server();
    let report = task.await.unwrap();
    let made = report.count(Change::Created);
    assert!((1..MAPS).contains(&made), "{:?}", story(&report));
    let told = story(&report);
    assert!(told.iter().any(|line| line.contains("failed: could not apply")), "{told:?}");
    restart(&mut plane);
    let report = cluster.apply_set(set("1"), few(), &means(), |_| ()).await.unwrap();
    assert!(report.is_whole(), "{:?}", story(&report));
    let kept = report.count(Change::Unchanged);
    assert!(kept >= made, "{kept} of {made}: what was said to be there is there");
    assert_eq!(kept + report.count(Change::Created), MAPS);

    // Who has it waits for the server, and is done in one go.
    let task = under_way(&cluster, set("2"), few()).await;
    plane.kill_api_server();
    restart(&mut plane);
    let report = task.await.unwrap();
    assert_eq!(report.count(Change::Configured), MAPS, "{:?}", story(&report));
    let values = harbour.kubectl(&["get", "cm", "-o", "jsonpath={.items[*].data.k}"]);
    assert_eq!(values.split_whitespace().collect::<Vec<_>>(), ["2"; MAPS]);
}

#[test]
fn a_process_that_dies_in_the_middle_leaves_nothing_that_is_forgotten() {
    let runtime = || tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let Some(opening) = Harbour::open() else { return };
    let (first, second) = (runtime(), runtime());
    let harbour = second.block_on(opening.harbour());
    let set = |objects: Vec<Object>| Set {
        inventory: Some(Inventory::parse("shop", harbour.namespace.name()).unwrap()),
        prune: Prune::Yes,
        ..Set::new(objects, harbour.namespace.name())
    };
    let kubeconfig = std::fs::read(harbour.proxy.kubeconfig()).unwrap();
    let access = Access::from_kubeconfig(&kubeconfig, None).unwrap();
    let doomed = set(maps(&harbour, "1"));
    first.block_on(async {
        let cluster = access.connect().await.unwrap();
        under_way(&cluster, doomed, few()).await.abort();
    });
    // Nothing of it goes on, and nothing of it is waited for.
    first.shutdown_background();

    let half = maps(&harbour, "1").split_off(MAPS / 2);
    let (half, means) = (set(half), means());
    let applied = harbour.cluster.apply_set(half, few(), &means, |_| ());
    let report = second.block_on(applied).unwrap();
    assert!(report.is_whole(), "{:?}", story(&report));
    assert!(!report.pruned.is_empty(), "what was made and is not wished for is remembered");
    let live = harbour.kubectl(&["get", "cm", "-o", "name"]).matches("/c").count();
    assert_eq!(live, MAPS / 2, "and goes");
}

#[tokio::test]
async fn two_with_different_wishes_never_mix_them() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let wish = |who: &str| -> Vec<Object> {
        let map = |n: usize| harbour.config_map(&format!("c{n}"), json!({ "by": who, who: "1" }));
        (0..40).map(map).collect()
    };
    let settings = Settings { in_flight: 8, ..Settings::default() };
    let (one, other) = tokio::join!(
        harbour.apply_set(wish("one"), settings),
        harbour.apply_set(wish("other"), settings)
    );
    for report in [one.unwrap(), other.unwrap()] {
        let good = report.steps.iter().all(|step| matches!(step.outcome, Outcome::There(_)));
        assert!(good, "{:?}", story(&report));
    }
    for n in 0..40 {
        let id = harbour.config_map(&format!("c{n}"), json!({})).id().clone();
        let data = harbour.cluster.get(&id).await.unwrap().unwrap().at("/data").cloned();
        let whole = ["one", "other"].map(|who| Some(json!({ "by": who, who: "1" })));
        assert!(whole.contains(&data), "{data:?}");
    }
}
