//! Waits for objects that were what they should be when nobody could look any more.

use std::time::Duration;

use objects::{Access, Miss, Terms};
use rig::need;
use rig::proxy::{Counts, Fault, Matching, Rule};
use serde_json::json;

use crate::harbour::{Harbour, PATIENCE};
use crate::wait::{run, terms, unmet, wait_for};

/// Long enough for whoever does not look to have come to an end.
const WHILE: Duration = Duration::from_secs(3);

/// The watch is open and silent all the while: only a look at the end can tell.
#[tokio::test(flavor = "multi_thread")]
async fn what_has_to_hold_is_looked_at_once_more_at_the_end() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = harbour.config_map("a", json!({ "k": "yes" }));
    harbour.apply(&map).await.unwrap();
    let second = Terms { stable: Duration::from_secs(1), ..terms() };
    let wait = wait_for("field=data.k=yes", second, &[map.id()]);
    let cluster = harbour.cluster.clone();
    let mut waiting = tokio::spawn(async move { run(&cluster, &wait).await });
    harbour.proxy.wait_for(PATIENCE, |counts| counts.of("watch", "configmaps") > 0).await.unwrap();
    harbour.proxy.add(Rule::always(Matching::any(), Fault::Status(503)));
    let blind = tokio::time::timeout(WHILE, &mut waiting).await;
    assert!(blind.is_err(), "nobody could look: {blind:?}");
    harbour.proxy.behave();
    let met = waiting.await.unwrap().0.unwrap();
    assert!(met.errors > 0, "{met:?}");
}

/// One has reached the goal and its watch is broken; meanwhile it changes, and
/// the other gets there.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_ready_before_its_watch_broke_is_looked_at_again() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let labelled = |kind: &str, go: &str| {
        harbour.object("v1", kind, "a", json!({ "metadata": { "labels": { "go": go } } }))
    };
    let (first, second) = (labelled("ConfigMap", "yes"), labelled("Secret", "no"));
    harbour.apply(&first).await.unwrap();
    harbour.apply(&second).await.unwrap();
    harbour.proxy.add(Rule::always(Matching::class("watch", "configmaps"), Fault::Drop));
    let wait = wait_for("field=metadata.labels.go=yes", terms(), &[first.id(), second.id()]);
    let cluster = harbour.cluster.clone();
    let mut waiting = tokio::spawn(async move { run(&cluster, &wait).await });
    let broken =
        |counts: &Counts| counts.of("watch", "configmaps") > 1 && counts.of("watch", "secrets") > 0;
    harbour.proxy.wait_for(PATIENCE, broken).await.unwrap();
    harbour.kubectl(&["label", "--overwrite", "configmap", "a", "go=no"]);
    harbour.kubectl(&["label", "--overwrite", "secret", "a", "go=yes"]);
    let early = tokio::time::timeout(WHILE, &mut waiting).await;
    assert!(early.is_err(), "one of them is not there: {early:?}");
    harbour.kubectl(&["label", "--overwrite", "configmap", "a", "go=yes"]);
    harbour.proxy.behave();
    waiting.await.unwrap().0.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_that_dies_while_a_goal_has_to_hold_is_no_success() {
    let Some(mut plane) = need::control_plane() else { return };
    let harbour = Harbour::open_on(plane.access()).harbour().await;
    let map = harbour.config_map("a", json!({ "k": "yes" }));
    harbour.apply(&map).await.unwrap();
    // Straight to the server: the proxy would answer in its place.
    let direct = std::fs::read(plane.access().kubeconfig()).unwrap();
    let direct = Access::from_kubeconfig(&direct, None).unwrap().connect().await.unwrap();
    let start = |timeout: Duration| {
        let terms = Terms { stable: Duration::from_secs(2), timeout, ..terms() };
        let (cluster, wait) = (direct.clone(), wait_for("field=data.k=yes", terms, &[map.id()]));
        tokio::spawn(async move { run(&cluster, &wait).await })
    };
    let waiting = start(Duration::from_secs(6));
    tokio::time::timeout(Duration::from_secs(1), std::future::pending::<()>()).await.unwrap_err();
    plane.kill_api_server();
    let missed = unmet(waiting.await.unwrap().0);
    assert_eq!(missed.missed[0].why, Some(Miss::TimedOut), "{missed:?}");
    let because = &missed.missed[0].because;
    assert!(because.what.contains("nobody could look since"), "{because:?}");
    assert!(because.chain.join(" ").contains("looks failed"), "{because:?}");
    // It comes back, and is what it was.
    let waiting = start(PATIENCE);
    plane.start_api_server().unwrap();
    let met = waiting.await.unwrap().0.unwrap();
    assert!(met.errors > 0, "{met:?}");
}
