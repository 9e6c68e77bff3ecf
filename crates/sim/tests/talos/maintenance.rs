//! A node without a configuration.

use sim::talos::Stage;
use talos_proto::{
    machine::apply_configuration_request::Mode,
    storage::storage_service_client::StorageServiceClient,
};
use tonic::{Code, Request};

use crate::{
    client::{Client, mutual},
    world::World,
};

#[tokio::test(flavor = "multi_thread")]
async fn everybody_reads_and_nobody_sees_secrets() {
    let world = World::new("reads");
    let node = world.node("cp-1", [127, 90, 1, 1]);
    node.reaches(Stage::Maintenance).await;
    let mut client = Client::insecure(&node).await.unwrap();

    let status = client.machine_status().await;
    assert!(status.contains("stage: maintenance") && status.contains("ready: true"), "{status}");
    let version = client.machine.version(()).await.unwrap().into_inner().messages.remove(0);
    assert_eq!(version.version.unwrap().tag, "v1.14.1");
    assert_eq!(version.platform.unwrap().name, "hcloud");
    assert!(!version.features.unwrap().rbac);

    let platform = client.get("runtime", "PlatformMetadatas.talos.dev", "platformmetadata").await;
    assert!(platform.unwrap().contains("instanceId: \"257\""), "1.1 is 257");
    let link = client.get("network", "LinkStatuses.net.talos.dev", "eth0").await.unwrap();
    assert!(link.contains("96:00:00:00:01:01"), "{link}");
    assert_eq!(client.list("runtime", "Disks.block.talos.dev").await.unwrap(), ["sda"]);
    let disks = StorageServiceClient::new(client.channel.clone()).disks(()).await.unwrap();
    assert!(disks.into_inner().messages[0].disks[0].system_disk);
    let types = client.list("meta", "ResourceDefinitions.meta.cosi.dev").await.unwrap();
    assert!(types.contains(&"machinestatuses.runtime.talos.dev".to_owned()), "{types:?}");

    for denied in [
        client.get("config", "MachineConfigs.config.talos.dev", "v1alpha1").await.unwrap_err(),
        client.bootstrap().await.unwrap_err(),
    ] {
        assert_eq!(denied.code(), Code::PermissionDenied);
        assert_eq!(denied.message(), "not authorized");
    }
    let unknown = client.get("runtime", "Nothings.talos.dev", "x").await.unwrap_err();
    assert_eq!(unknown.message(), "resource type \"Nothings.talos.dev\" is not supported");
    let missing = client.get("k8s", "Nodenames.kubernetes.talos.dev", "nodename").await;
    assert_eq!(missing.unwrap_err().code(), Code::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_not_passed_on() {
    let world = World::new("forwarding");
    let node = world.node("cp-1", [127, 90, 1, 2]);
    node.reaches(Stage::Maintenance).await;
    let mut client = Client::insecure(&node).await.unwrap();
    let mut call = Request::new(());
    call.metadata_mut().insert("node", "127.90.1.99".parse().unwrap());
    let denied = client.machine.version(call).await.unwrap_err();
    assert_eq!(
        (denied.code(), denied.message()),
        (Code::PermissionDenied, "no request forwarding")
    );
    let mut call = Request::new(());
    call.metadata_mut().insert("node", "127.90.1.2".parse().unwrap());
    client.machine.version(call).await.expect("the node itself is meant");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_certificate_is_nobodys() {
    let world = World::new("nobodys");
    let node = world.node("cp-1", [127, 90, 1, 3]);
    node.reaches(Stage::Maintenance).await;
    let pair = world.secrets.talos.client("os:admin");
    let refused = Client::mutual(&node, &world.secrets.talos, &pair).await;
    assert!(format!("{:?}", refused.err().unwrap()).contains("UnknownIssuer"));
    // Whoever does not mind is a reader, whatever certificate they hold.
    let mut client = Client::connect(&node, mutual(None, &pair)).await.unwrap();
    assert_eq!(client.bootstrap().await.unwrap_err().code(), Code::PermissionDenied);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_changes_nothing() {
    let world = World::new("dry");
    let node = world.node("cp-1", [127, 90, 1, 4]);
    node.reaches(Stage::Maintenance).await;
    let mut client = Client::insecure(&node).await.unwrap();
    let config = world.secrets.control_plane("cp-1");
    let answer = client.apply_with(&config, Mode::Auto, true).await.unwrap();
    assert!(answer.mode_details.starts_with(
        "Dry run summary:\nApplied configuration without a reboot (skipped in dry-run).\nConfig diff:"
    ));
    assert!(answer.mode_details.contains("+machine:"));
    assert_eq!(node.config(), None);
    assert!(world.effects.all().is_empty());
    assert_eq!(node.stage(), Stage::Maintenance);
}
