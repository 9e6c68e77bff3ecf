//! Etcd, from Bootstrap on.

use std::{io::Read, time::Duration};

use futures::StreamExt;
use sim::talos::{Settings, Stage};
use talos_proto::cosi::resource::{EventType, WatchOptions, WatchRequest};
use tonic::Code;

use crate::{
    client::Client,
    configured::refused,
    world::{World, eventually, ready},
};

const SOON: Duration = Duration::from_secs(10);

/// Waits until Bootstrap is taken; returns what the answers before said.
async fn bootstrap(client: &mut Client) -> Vec<String> {
    let mut before = Vec::new();
    eventually("the bootstrap", async || match client.bootstrap().await {
        Ok(()) => Some(()),
        Err(status) => {
            assert_eq!(status.code(), Code::FailedPrecondition);
            before.push(status.message().to_owned());
            None
        }
    })
    .await;
    before
}

#[tokio::test(flavor = "multi_thread")]
async fn one_control_plane_from_nothing_to_ready() {
    let world = World::new("one");
    let node = world.node("cp-1", [127, 90, 4, 1]);
    let mut client = world.control_plane(&node).await;

    let status = client.machine_status().await;
    assert!(status.contains("stage: booting"), "{status}");
    assert!(status.contains("etcd not running"), "{status}");
    assert!(
        status.contains("node \\\"cp-1\\\" status is not available yet")
            || status.contains("node \"cp-1\" status is not available yet"),
        "{status}"
    );
    let waits = client.members(Duration::from_millis(300)).await.unwrap_err();
    assert_eq!(waits.code(), Code::DeadlineExceeded, "there is no etcd to ask");
    assert_eq!(kubeconfig_server(&mut client).await, "https://10.0.64.9:6443");

    let before = bootstrap(&mut client).await;
    assert!(before.iter().all(|message| message == "bootstrap is not available yet"), "{before:?}");
    let members = client.members(SOON).await.unwrap();
    assert_eq!(members.len(), 1);
    assert_eq!(members[0].hostname, "cp-1");
    assert_eq!(members[0].peer_urls, ["https://10.0.64.1:2380"]);
    let status = client.etcd_status().await;
    assert_eq!((status.member_id, status.leader), (members[0].id, members[0].id));
    let again = client.bootstrap().await.unwrap_err();
    assert_eq!(
        (again.code(), again.message()),
        (Code::AlreadyExists, "etcd data directory is not empty")
    );
    assert_eq!(world.effects.all().len(), 2, "one configuration, one bootstrap");

    eventually("the Kubernetes API", async || {
        world.told.lines().contains(&"api cp-1".to_owned()).then_some(())
    })
    .await;
    assert!(world.told.lines().contains(&"kubelet cp-1".to_owned()));
    let pods = client.list("k8s", "StaticPodStatuses.kubernetes.talos.dev").await.unwrap();
    assert_eq!(pods[0], "kube-system/kube-apiserver-cp-1");
    assert!(client.machine_status().await.contains("nodeReady"), "nobody has seen the node yet");
    node.kubernetes_says(Some(ready()));
    eventually("a ready machine", async || {
        client.machine_status().await.contains("ready: true").then_some(())
    })
    .await;
    let local = client.get("etcd", "EtcdMembers.etcd.talos.dev", "local").await.unwrap();
    assert!(local.contains(&format!("{:x}", members[0].id)), "{local}");
}

#[tokio::test(flavor = "multi_thread")]
async fn three_control_planes_agree() {
    let world = World::new("three");
    let nodes: Vec<_> =
        (1..=3).map(|n| world.node(&format!("cp-{n}"), [127, 90, 4, 10 + n])).collect();
    let mut clients = Vec::new();
    for node in &nodes {
        clients.push(world.control_plane(node).await);
    }
    bootstrap(&mut clients[1]).await;
    for client in &mut clients {
        let members = eventually("three voting members", async || {
            let members = client.members(SOON).await.ok()?;
            (members.len() == 3 && members.iter().all(|member| !member.is_learner))
                .then_some(members)
        })
        .await;
        assert_eq!(members[0].hostname, "cp-2", "the first is the one that was bootstrapped");
        assert_eq!(client.etcd_status().await.leader, members[0].id);
    }
    for client in &mut clients {
        assert_eq!(client.bootstrap().await.unwrap_err().code(), Code::AlreadyExists);
    }

    nodes[1].power_off();
    let status = clients[0].etcd_status().await;
    assert_ne!(status.leader, 0, "two of three choose another");
    nodes[2].power_off();
    let status = clients[0].etcd_status().await;
    assert_eq!((status.leader, status.errors[0].as_str()), (0, "etcdserver: no leader"));
    let nobody_knows = clients[0].members(SOON).await.unwrap_err();
    assert_eq!(nobody_knows.code(), Code::Unavailable, "{nobody_knows}");
}

/// A machine boots until all its services were up, the kubelet as well. Etcd
/// counts as up once it was told to begin.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_boots_until_its_kubelet_is_up_too() {
    let world = World::new("boots");
    let volume = Some("kube-api-access".to_owned());
    let node = world
        .node_with("cp-1", [127, 90, 4, 51], |settings| settings.knobs.kubelet_volume = volume);
    let mut client = world.control_plane(&node).await;
    bootstrap(&mut client).await;
    assert_eq!(client.members(SOON).await.unwrap().len(), 1);
    assert_eq!(node.stage(), Stage::Booting);
    node.turn(|knobs| knobs.kubelet_volume = None);
    node.reaches(Stage::Running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_bootstraps_make_two_clusters() {
    let world = World::new("split");
    // Neither etcd is there yet when the other one is asked for.
    let slow_image = |settings: &mut Settings| {
        settings.delays.etcd_image = Duration::from_mins(2);
    };
    let a = world.node_with("cp-1", [127, 90, 4, 21], slow_image);
    let b = world.node_with("cp-2", [127, 90, 4, 22], slow_image);
    let (mut a, mut b) = (world.control_plane(&a).await, world.control_plane(&b).await);
    tokio::join!(bootstrap(&mut a), bootstrap(&mut b));
    let (a, b) = (a.members(SOON).await.unwrap(), b.members(SOON).await.unwrap());
    assert_ne!(a[0].id, b[0].id, "each leads an etcd of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bootstrap_again_starts_over_or_breaks_etcd() {
    let world = World::new("wedge");
    let node = world.node_with("cp-1", [127, 90, 4, 31], |settings| {
        settings.delays.etcd_image = Duration::from_secs(15);
        settings.delays.etcd_init = Duration::from_secs(200);
    });
    let mut client = world.control_plane(&node).await;
    bootstrap(&mut client).await;
    client.bootstrap().await.expect("the image is still being pulled");
    world.tempo.pass(Duration::from_secs(30)).await;
    let wedged = client.bootstrap().await.unwrap_err();
    assert_eq!(
        (wedged.code(), wedged.message()),
        (Code::Unknown, "etcd data directory is not empty")
    );
    let service = client.service("etcd").await.unwrap();
    assert_eq!(service.state, "Finished");
    assert_eq!(service.events.unwrap().events.last().unwrap().msg, "Bootstrap requested");
    world.tempo.pass(Duration::from_secs(250)).await;
    assert_eq!(client.service("etcd").await.unwrap().state, "Finished", "for good");

    client.machine.reboot(talos_proto::machine::RebootRequest::default()).await.unwrap();
    eventually("the closed port", async || refused(&node).await.then_some(())).await;
    let mut client = world.admin(&node).await;
    eventually("etcd starts from its data", async || {
        (client.service("etcd").await?.state == "Running").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn watchers_see_the_machine_become_ready() {
    let world = World::new("watch");
    let node = world.node("cp-1", [127, 90, 4, 41]);
    let mut client = world.control_plane(&node).await;
    let request = WatchRequest {
        namespace: "runtime".to_owned(),
        r#type: "MachineStatuses.runtime.talos.dev".to_owned(),
        id: Some("machine".to_owned()),
        options: Some(WatchOptions::default()),
        api_version: 1,
    };
    let mut events = client.state.watch(request).await.unwrap().into_inner();
    bootstrap(&mut client).await;
    node.kubernetes_says(Some(ready()));
    let mut versions = Vec::new();
    assert_eq!(events.next().await.unwrap().unwrap().event, [], "the watch has begun");
    while let Some(Ok(answer)) = events.next().await {
        let event = &answer.event[0];
        let resource = event.resource.as_ref().unwrap();
        let expected = if versions.is_empty() { EventType::Created } else { EventType::Updated };
        assert_eq!(event.event_type(), expected);
        versions.push(resource.metadata.as_ref().unwrap().version.parse::<u64>().unwrap());
        // It is ready a moment before its boot sequence has ended.
        let status = &resource.spec.as_ref().unwrap().yaml_spec;
        if status.contains("ready: true") && status.contains("stage: running") {
            break;
        }
    }
    assert!(versions.is_sorted() && versions.len() > 2, "{versions:?}");
    assert_eq!(node.stage(), Stage::Running);
    node.power_off();
    let the_rest = async { while let Some(Ok(_)) = events.next().await {} };
    tokio::time::timeout(SOON, the_rest).await.expect("the stream ends with the node");
}

/// Reads the kubeconfig and returns the server that it names.
async fn kubeconfig_server(client: &mut Client) -> String {
    let mut stream = client.machine.kubeconfig(()).await.unwrap().into_inner();
    let data = stream.message().await.unwrap().unwrap().bytes;
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(data.as_slice()));
    let mut file = archive.entries().unwrap().next().unwrap().unwrap();
    assert_eq!(file.path().unwrap().to_str(), Some("kubeconfig"));
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    let config: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(config["current-context"], "admin@demo");
    assert!(config["users"][0]["user"]["client-key-data"].is_string());
    config["clusters"][0]["cluster"]["server"].as_str().unwrap().to_owned()
}
