//! Calls of which nobody knows what came, and what must not be sent for them.

use std::collections::BTreeSet;

use events::RunOutcome;

use crate::harbour::{Fall, Harbour};

const BOOTSTRAP: &str = "MachineService/Bootstrap";
const APPLY: &str = "MachineService/ApplyConfiguration";

/// One of three control planes is left: it still holds all that etcd knows.
#[tokio::test(flavor = "multi_thread")]
async fn where_etcd_has_lost_its_quorum_no_second_one_is_begun() {
    let mut harbour = Harbour::new("210", 3, 0).await;
    let ran = harbour.up(Some("etcd")).await;
    assert!(ran.is_done, "{}", ran.text);
    for name in ["demo-cp-1", "demo-cp-2"] {
        harbour.world.hetzner().vanish(name);
    }
    harbour.expect_failure(Some("etcd"));
    let ran = harbour.up(Some("etcd")).await;
    println!("{}", ran.text);
    assert_eq!(ran.falls, BTreeSet::from([Fall::act("etcd", 318)]), "{}", ran.text);
    assert!(ran.text.contains("etcd runs on demo-cp-3, and knows no leader"), "{}", ran.text);
    assert_eq!(harbour.count(BOOTSTRAP), 1, "{}", ran.text);
    let clusters = harbour.world.inventory().clusters;
    let etcds: usize = clusters.iter().map(|cluster| cluster.etcds.len()).sum();
    assert_eq!(etcds, 1, "{}", ran.text);
}

/// The only control plane was deleted with its disk, and is made anew: it is
/// another machine under the same name, and what etcd held is gone all the same.
#[tokio::test(flavor = "multi_thread")]
async fn an_etcd_that_went_with_its_server_is_not_begun_anew() {
    let mut harbour = Harbour::new("213", 1, 0).await;
    let ran = harbour.up(Some("etcd")).await;
    assert!(ran.is_done, "{}", ran.text);
    harbour.world.hetzner().vanish("demo-cp-1");
    harbour.expect_failure(Some("etcd"));
    let ran = harbour.up(Some("etcd")).await;
    assert_eq!(ran.falls, BTreeSet::from([Fall::act("etcd", 321)]), "{}", ran.text);
    assert_eq!(harbour.count(BOOTSTRAP), 1, "{}", ran.text);
}

/// The answer to the bootstrap was lost: a later run has seen what came of it, and
/// that is remembered too.
#[tokio::test(flavor = "multi_thread")]
async fn an_etcd_that_was_seen_and_is_gone_is_not_begun_anew() {
    let mut harbour = Harbour::new("215", 1, 0).await;
    harbour.world.effects().lose_next(BOOTSTRAP);
    harbour.expect_failure(None);
    for _ in ["begun", "seen"] {
        let ran = harbour.up(Some("etcd")).await;
        assert!(ran.is_done, "{}", ran.text);
    }
    assert_eq!(harbour.world.effects().counters().answers_lost, 1);
    harbour.world.hetzner().vanish("demo-cp-1");
    harbour.expect_failure(Some("etcd"));
    let ran = harbour.up(Some("etcd")).await;
    assert_eq!(ran.falls, BTreeSet::from([Fall::act("etcd", 321)]), "{}", ran.text);
    assert_eq!(harbour.count(BOOTSTRAP), 1, "{}", ran.text);
}

/// A simulated Kubernetes that outlived its servers would still hold the Nodes of
/// the old ones, with the ids of servers that are gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_comes_up_again_after_down_in_the_same_world() {
    let harbour = Harbour::new("214", 1, 0).await;
    let ran = harbour.up(Some("cloud")).await;
    assert!(ran.is_done, "{}", ran.text);
    let down = harbour.down().await;
    assert_eq!(down.outcome, RunOutcome::Proven, "{}", down.text);
    let clusters = harbour.world.inventory().clusters;
    assert!(clusters.iter().all(|it| it.etcds.is_empty() && it.objects.is_empty()));
    let ran = harbour.up(Some("cloud")).await;
    assert!(ran.is_done, "{}", ran.text);
    assert_eq!(harbour.count(BOOTSTRAP), 2, "{}", ran.text);
}

/// Etcd's image and the kubelet's take long, and the answer to the bootstrap was
/// lost: a machine that still boots does not prove that it never arrived.
#[tokio::test(flavor = "multi_thread")]
async fn a_bootstrap_in_doubt_is_not_sent_again_while_the_machine_boots() {
    let mut harbour = Harbour::new("211", 1, 0).await;
    harbour.world.turn("demo-cp-1", |knobs| knobs.disk_slowness = 30);
    harbour.world.effects().lose_next(BOOTSTRAP);
    harbour.expect_failure(None);
    let ran = harbour.up(Some("etcd")).await;
    assert!(ran.is_done, "{}", ran.text);
    assert_eq!(harbour.world.effects().counters().answers_lost, 1);
    assert_eq!(harbour.count(BOOTSTRAP), 1, "{}", ran.text);
}

/// The answer to the config was lost, and the node takes long to change its
/// server: old and new answer in turns, and none of it is a reason to give up.
#[tokio::test(flavor = "multi_thread")]
async fn a_config_in_doubt_is_looked_at_until_the_node_has_changed() {
    let mut harbour = Harbour::new("212", 1, 0).await;
    let ran = harbour.up(Some("identity")).await;
    assert!(ran.is_done, "{}", ran.text);
    harbour.world.turn("demo-cp-1", |knobs| knobs.slowness = 500);
    harbour.world.effects().lose_next(APPLY);
    harbour.expect_failure(None);
    let ran = harbour.up(Some("config")).await;
    assert!(ran.is_done, "{}", ran.text);
    assert_eq!(harbour.world.effects().counters().answers_lost, 1);
    assert_eq!(harbour.count(APPLY), 1, "{}", ran.text);
}
