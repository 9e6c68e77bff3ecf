//! Restarts, resets, and lost answers.

use sim::talos::Stage;
use talos_proto::machine::{EventsRequest, ReadRequest, RebootRequest, ResetRequest};
use tonic::{Code, Status};

use crate::{
    client::Client,
    configured::refused,
    world::{World, eventually},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_keeps_the_configuration() {
    let world = World::new("restart");
    let node = world.node("cp-1", [127, 90, 5, 1]);
    let mut client = world.control_plane(&node).await;
    eventually("the bootstrap", async || client.bootstrap().await.ok()).await;
    let before = client.members(std::time::Duration::from_secs(10)).await.unwrap();
    client.machine.reboot(RebootRequest::default()).await.unwrap();
    eventually("the closed port", async || refused(&node).await.then_some(())).await;
    let mut client = world.admin(&node).await;
    let after = client.members(std::time::Duration::from_secs(10)).await.unwrap();
    assert_eq!(before, after, "the same member came back");
    assert!(world.told.lines().contains(&"down cp-1".to_owned()));
}

/// Returns what is in a file.
async fn read(client: &mut Client, path: &str) -> Result<String, Status> {
    let request = ReadRequest { path: path.to_owned() };
    let mut answers = client.machine.read(request).await?.into_inner();
    let data = answers.message().await?.expect("there is something in it");
    Ok(String::from_utf8(data.bytes).unwrap())
}

/// Returns the id of the first event that is told after the greeting.
async fn first_event(client: &mut Client, request: EventsRequest) -> Result<String, Status> {
    let mut events = client.machine.events(request).await?.into_inner();
    let greeting = events.message().await?.expect("the node listens");
    assert_eq!(greeting.id, "");
    Ok(events.message().await?.expect("there are events").id)
}

/// So a client that waits for a restart knows that it was one, and misses
/// nothing of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_is_another_boot_and_its_events_come_after_the_earlier_ones() {
    let world = World::new("boot-id");
    let node = world.node("cp-1", [127, 90, 5, 5]);
    let mut client = world.control_plane(&node).await;
    let boot_id = "/proc/sys/kernel/random/boot_id";
    let before = read(&mut client, boot_id).await.unwrap();
    assert_eq!(read(&mut client, boot_id).await.unwrap(), before);
    let last = EventsRequest { tail_events: 1, ..Default::default() };
    let seen = first_event(&mut client, last).await.unwrap();
    client.machine.reboot(RebootRequest::default()).await.unwrap();
    eventually("the closed port", async || refused(&node).await.then_some(())).await;
    let mut client = world.admin(&node).await;
    assert_ne!(read(&mut client, boot_id).await.unwrap(), before);
    let after = EventsRequest { tail_id: seen.clone(), ..Default::default() };
    assert!(first_event(&mut client, after).await.unwrap() > seen);
    let all = EventsRequest { tail_seconds: 3600, ..Default::default() };
    assert!(first_event(&mut client, all).await.unwrap() > seen, "the earlier ones are forgotten");
    let odd = EventsRequest { tail_id: "odd".to_owned(), ..Default::default() };
    assert_eq!(first_event(&mut client, odd).await.unwrap_err().code(), Code::Unknown);
    let other = read(&mut client, "/etc/os-release").await.unwrap_err();
    assert_eq!(other.code(), Code::Unimplemented);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_ends_in_maintenance_mode_or_off() {
    let world = World::new("reset");
    let node = world.node("cp-1", [127, 90, 5, 2]);
    let mut client = world.control_plane(&node).await;
    client.machine.reset(ResetRequest { reboot: true, ..Default::default() }).await.unwrap();
    node.reaches(Stage::Maintenance).await;
    assert_eq!(node.config(), None);
    let mut client = world.control_plane(&node).await;
    client.machine.reset(ResetRequest::default()).await.unwrap();
    node.reaches(Stage::Off).await;
    eventually("word of it", async || {
        world.told.lines().contains(&"off cp-1".to_owned()).then_some(())
    })
    .await;
    assert!(refused(&node).await);
    node.power_on();
    node.reaches(Stage::Maintenance).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_was_a_change_all_the_same() {
    let world = World::new("lost");
    let node = world.node("cp-1", [127, 90, 5, 3]);
    world.effects.lose_next("MachineService/ApplyConfiguration");
    node.reaches(Stage::Maintenance).await;
    let mut client = Client::insecure(&node).await.unwrap();
    let lost = client.apply(&world.secrets.control_plane("cp-1")).await.unwrap_err();
    assert!(matches!(lost.code(), Code::Unavailable | Code::Unknown | Code::Internal), "{lost:?}");
    let mut client = world.admin(&node).await;
    world.effects.lose_next("MachineService/Bootstrap");
    eventually("a bootstrap without an answer", async || {
        let status = client.bootstrap().await.unwrap_err();
        (status.code() != Code::FailedPrecondition).then_some(())
    })
    .await;
    let mut client = world.admin(&node).await;
    assert_eq!(client.members(std::time::Duration::from_secs(10)).await.unwrap().len(), 1);
    let calls: Vec<_> = world.effects.all().into_iter().map(|effect| effect.call).collect();
    assert_eq!(calls, ["MachineService/ApplyConfiguration", "MachineService/Bootstrap"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_taken_is_said_to_be() {
    let world = World::new("taken");
    let first = world.node("cp-1", [127, 90, 5, 4]);
    first.reaches(Stage::Maintenance).await;
    let second = world.node("cp-2", [127, 90, 5, 4]);
    let failure = eventually("the failure", async || second.failure()).await;
    assert!(failure.starts_with("could not listen on the node's address"), "{failure}");
    assert_eq!(first.failure(), None);
}
