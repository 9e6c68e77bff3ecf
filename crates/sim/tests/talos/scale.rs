//! Many nodes in one process, and nodes on a clock that stands still.

use std::time::Duration;

use sim::{Tempo, talos::Stage};
use talos_proto::machine::ResetRequest;

use crate::world::{World, eventually};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_nodes_take_their_configuration() {
    let mut world = World::new("scale");
    world.tempo = Tempo::INSTANT;
    let control_plane = world.node("cp-1", [127, 90, 8, 1]);
    world.control_plane(&control_plane).await;
    let workers: Vec<_> =
        (2..=100).map(|n| world.node(&format!("w-{n}"), [127, 90, 8, n])).collect();
    for worker in &workers {
        world.apply(worker, &world.secrets.worker(&worker.facts().hostname)).await;
    }
    for worker in &workers {
        world.admin(worker).await;
        worker.reaches(Stage::Running).await;
    }
    let lines = world.told.lines();
    assert_eq!(lines.iter().filter(|line| line.starts_with("kubelet")).count(), 100);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_on_a_paused_clock() {
    let mut world = World::new("paused");
    world.tempo = Tempo::INSTANT;
    for _ in 0..10 {
        let first = world.node("cp-1", [127, 90, 9, 1]);
        let second = world.node("cp-2", [127, 90, 9, 2]);
        let mut client = world.control_plane(&first).await;
        let mut other = world.control_plane(&second).await;
        eventually("the bootstrap", async || client.bootstrap().await.ok()).await;
        eventually("both members", async || {
            let members = other.members(Duration::from_secs(5)).await.ok()?;
            (members.len() == 2).then_some(())
        })
        .await;
        assert_eq!(world.effects.all().len(), 3, "no answer was lost");
        for mut client in [client, other] {
            let wipe = ResetRequest { graceful: true, ..ResetRequest::default() };
            client.machine.reset(wipe).await.unwrap();
            world.effects = sim::Effects::default();
        }
        first.reaches(Stage::Off).await;
        second.reaches(Stage::Off).await;
    }
}
