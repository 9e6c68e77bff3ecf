//! What can be wrong with a node, and how it shows.

use std::time::Duration;

use jiff::SignedDuration;
use sim::talos::Stage;
use tonic::Code;

use crate::{
    client::{Client, mutual, probe},
    configured::refused,
    world::{World, eventually},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_never_leaves_maintenance_mode() {
    let world = World::new("stuck");
    let node = world.node_with("cp-1", [127, 90, 6, 1], |s| s.knobs.stuck_in_maintenance = true);
    world.apply(&node, &world.secrets.control_plane("cp-1")).await;
    world.tempo.pass(Duration::from_mins(1)).await;
    assert_eq!(node.stage(), Stage::Maintenance);
    let mut client = Client::insecure(&node).await.unwrap();
    assert!(client.machine_status().await.contains("stage: maintenance"));
    node.turn(|knobs| knobs.stuck_in_maintenance = false);
    world.control_plane(&node).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_another_authority() {
    let world = World::new("foreign");
    let node = world.node_with("cp-1", [127, 90, 6, 2], |s| s.knobs.foreign_authority = true);
    world.apply(&node, &world.secrets.control_plane("cp-1")).await;
    node.reaches(Stage::Booting).await;
    let pair = world.secrets.talos.client("os:admin");
    let told = eventually("the other certificate", async || {
        let error = Client::mutual(&node, &world.secrets.talos, &pair).await.err()?;
        let told = format!("{error:?}");
        told.contains("Certificate").then_some(told)
    })
    .await;
    assert!(told.contains("BadSignature") || told.contains("UnknownIssuer"), "{told}");
    let refused = probe(&node, mutual(None, &pair)).await.unwrap_err().to_string();
    assert!(refused.contains("UnknownCA"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_not_in_sync() {
    let world = World::new("clock");
    let node = world.node_with("cp-1", [127, 90, 6, 3], |s| s.knobs.clock_out_of_sync = true);
    let mut client = world.control_plane(&node).await;
    let refused = eventually("word of the clock", async || {
        client.bootstrap().await.err().filter(|status| !status.message().contains("not available"))
    })
    .await;
    assert_eq!(
        (refused.code(), refused.message()),
        (Code::FailedPrecondition, "time is not in sync yet")
    );
    let status = client.machine_status().await;
    assert!(
        status.contains("time is not synced") && status.contains("trustd not running"),
        "{status}"
    );
    node.turn(|knobs| knobs.clock_out_of_sync = false);
    eventually("the bootstrap", async || client.bootstrap().await.ok()).await;
}

/// What nobody has signed is also not of this time; the certificate of the
/// cluster, which the node gets after its clock is set, is.
#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_off_in_maintenance_mode() {
    let world = World::new("shelf");
    let pair = world.secrets.talos.client("os:admin");
    for (place, days, flaw) in [(13, -365, "Expired"), (14, 365, "NotValidYet")] {
        let node = world.node_with("cp-1", [127, 90, 6, place], |s| {
            s.knobs.clock_off_in_maintenance = SignedDuration::from_hours(days * 24);
        });
        node.reaches(Stage::Maintenance).await;
        let told = Client::mutual(&node, &world.secrets.talos, &pair).await.err();
        let told = format!("{told:?}");
        assert!(told.contains(flaw), "{told}");
        world.control_plane(&node).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubelet_that_waits_for_a_volume() {
    let world = World::new("volume");
    let node = world.node_with("cp-1", [127, 90, 6, 4], |s| {
        s.knobs.kubelet_volume = Some("KUBELET".to_owned());
    });
    let mut client = world.control_plane(&node).await;
    let service = eventually("the wait", async || {
        client.service("kubelet").await.filter(|service| {
            service
                .events
                .as_ref()
                .unwrap()
                .events
                .iter()
                .any(|event| event.msg.contains("KUBELET"))
        })
    })
    .await;
    assert_eq!(service.state, "Waiting");
    assert!(service.health.unwrap().unknown);
    let status = client.machine_status().await;
    assert!(status.contains("kubelet not running") && status.contains("nodeReady"), "{status}");
    assert!(!world.told.lines().contains(&"kubelet cp-1".to_owned()));
    node.turn(|knobs| knobs.kubelet_volume = None);
    eventually("the kubelet", async || {
        world.told.lines().contains(&"kubelet cp-1".to_owned()).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_control_plane_that_cannot_join() {
    let world = World::new("no-join");
    let first = world.node("cp-1", [127, 90, 6, 5]);
    let second = world.node_with("cp-2", [127, 90, 6, 6], |s| s.knobs.cannot_join_etcd = true);
    let mut first = world.control_plane(&first).await;
    let mut client = world.control_plane(&second).await;
    eventually("the bootstrap", async || first.bootstrap().await.ok()).await;
    assert_eq!(first.members(Duration::from_secs(10)).await.unwrap().len(), 1);
    world.tempo.pass(Duration::from_mins(1)).await;
    assert_eq!(client.service("etcd").await.unwrap().state, "Preparing");
    assert_eq!(first.members(Duration::from_secs(10)).await.unwrap().len(), 1);
    second.turn(|knobs| knobs.cannot_join_etcd = false);
    eventually("the second member", async || {
        (first.members(Duration::from_secs(10)).await.ok()?.len() == 2).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_reaches_nobody() {
    let world = World::new("cut-off");
    let control_plane = world.node("cp-1", [127, 90, 6, 7]);
    let worker = world.node_with("w-1", [127, 90, 6, 8], |s| s.knobs.cut_off = true);
    world.control_plane(&control_plane).await;
    world.apply(&worker, &world.secrets.worker("w-1")).await;
    worker.reaches(Stage::Running).await;
    world.tempo.pass(Duration::from_secs(30)).await;
    assert!(refused(&worker).await);
    assert!(!world.told.lines().contains(&"kubelet w-1".to_owned()));
    worker.turn(|knobs| knobs.cut_off = false);
    world.admin(&worker).await;
    eventually("its kubelet", async || {
        world.told.lines().contains(&"kubelet w-1".to_owned()).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_node_comes_late() {
    let world = World::new("slow");
    let slow = world.node_with("w-1", [127, 90, 6, 9], |s| s.knobs.slowness = 4);
    let quick = world.node("w-2", [127, 90, 6, 10]);
    quick.reaches(Stage::Maintenance).await;
    assert_eq!(slow.stage(), Stage::Booting);
    slow.reaches(Stage::Maintenance).await;
}

/// Its etcd comes late, is behind, and says why; its API is as quick as ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_disk_keeps_etcd_behind() {
    let world = World::new("slow-disk");
    let slow = world.node_with("cp-1", [127, 90, 6, 12], |s| s.knobs.disk_slowness = 5);
    let mut client = world.control_plane(&slow).await;
    eventually("the bootstrap", async || client.bootstrap().await.ok()).await;
    world.tempo.pass(Duration::from_secs(20)).await;
    let state = client.service("etcd").await.unwrap().health.unwrap();
    assert!(!state.healthy, "it would be there on another disk");
    client.members(Duration::from_secs(10)).await.unwrap();
    let status = client.etcd_status().await;
    assert!(status.raft_applied_index < status.raft_index, "{status:?}");
    let log = talos_proto::machine::LogsRequest {
        namespace: "system".to_owned(),
        id: "etcd".to_owned(),
        tail_lines: -1,
        ..Default::default()
    };
    let mut lines = client.machine.logs(log).await.unwrap().into_inner();
    let mut text = String::new();
    while let Some(line) = lines.message().await.unwrap() {
        text += &String::from_utf8(line.bytes).unwrap();
    }
    assert!(text.contains("slow fdatasync"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_break() {
    let world = World::new("breaks");
    let node = world.node("cp-1", [127, 90, 6, 11]);
    node.reaches(Stage::Maintenance).await;
    let mut client = Client::insecure(&node).await.unwrap();
    client.machine.version(()).await.unwrap();
    node.drop_connections_for(Duration::from_secs(30));
    let lost = client.machine.version(()).await.unwrap_err();
    assert_ne!(lost.code(), Code::Unimplemented, "{lost:?}");
    assert!(Client::insecure(&node).await.is_err());
    let mut client = eventually("a connection", async || Client::insecure(&node).await.ok()).await;
    client.machine.version(()).await.unwrap();

    // Enough for the handshake, too little for the answers.
    node.turn(|knobs| knobs.cut_after_bytes = Some(1_500));
    let mut client = Client::insecure(&node).await.unwrap();
    client.list("meta", "ResourceDefinitions.meta.cosi.dev").await.unwrap_err();
    node.turn(|knobs| knobs.cut_after_bytes = Some(100));
    assert!(Client::insecure(&node).await.is_err(), "not even the handshake");
}
