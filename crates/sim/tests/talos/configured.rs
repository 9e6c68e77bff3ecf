//! From maintenance mode to mutual TLS.

use std::io::ErrorKind;

use rcgen::ExtendedKeyUsagePurpose;
use sim::talos::{API_PORT, Node, Stage};
use tokio::net::TcpStream;
use tonic::{Code, Request};

use crate::{
    client::{Client, insecure, mutual, probe},
    secrets::Authority,
    world::{World, eventually},
};

#[tokio::test(flavor = "multi_thread")]
async fn the_old_server_presents_the_new_certificate_for_a_moment() {
    let world = World::new("race");
    let node = world.node_with("cp-1", [127, 90, 3, 1], |settings| {
        settings.delays.race_window = std::time::Duration::from_mins(1);
        // Long enough to be seen by whoever looks from time to time.
        settings.delays.swap = std::time::Duration::from_mins(1);
    });
    world.apply(&node, &world.secrets.control_plane("cp-1")).await;
    let pair = world.secrets.talos.client("os:admin");
    // It looks authenticated, and is not: the certificate was never asked for.
    let mut client = eventually("the new certificate", async || {
        Client::mutual(&node, &world.secrets.talos, &pair).await.ok()
    })
    .await;
    client.machine.version(()).await.unwrap();
    let denied = client.bootstrap().await.unwrap_err();
    assert_eq!(denied.code(), Code::PermissionDenied);
    eventually("the closed port", async || refused(&node).await.then_some(())).await;
    let mut client = world.admin(&node).await;
    let answer = client.bootstrap().await.map_err(|status| status.code());
    assert_ne!(answer, Err(Code::PermissionDenied));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_certificates_of_the_cluster_are_let_in() {
    let world = World::new("mutual");
    let node = world.node("cp-1", [127, 90, 3, 2]);
    let mut client = world.control_plane(&node).await;
    let features = client.machine.version(()).await.unwrap().into_inner().messages.remove(0);
    assert!(features.features.unwrap().rbac);

    let talos = &world.secrets.talos;
    let foreign = Authority::talos().client("os:admin");
    let both = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    for (tls, alert) in [
        (insecure(), "CertificateRequired"),
        (mutual(None, &foreign), "UnknownCA"),
        (mutual(None, &talos.client_for("os:admin", both)), "BadCertificate"),
        (
            mutual(None, &talos.client_for("os:admin", vec![ExtendedKeyUsagePurpose::ServerAuth])),
            "BadCertificate",
        ),
    ] {
        let failure = probe(&node, tls).await.unwrap_err().to_string();
        assert!(failure.contains(alert), "{alert}: {failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_are_enforced() {
    let world = World::new("roles");
    let node = world.node("cp-1", [127, 90, 3, 3]);
    world.control_plane(&node).await;
    let mut reader = world.client(&node, "os:reader").await;
    reader.machine.version(()).await.unwrap();
    assert_eq!(reader.bootstrap().await.unwrap_err().message(), "not authorized");
    let config = world.secrets.control_plane("cp-1");
    assert_eq!(reader.apply(&config).await.unwrap_err().code(), Code::PermissionDenied);
    assert_eq!(reader.machine.kubeconfig(()).await.unwrap_err().code(), Code::PermissionDenied);
    let mut nobody = world.client(&node, "system:masters").await;
    assert_eq!(nobody.machine.version(()).await.unwrap_err().code(), Code::PermissionDenied);

    let mut admin = world.admin(&node).await;
    let mut call = Request::new(());
    call.metadata_mut().insert("node", "127.90.3.99".parse().unwrap());
    assert_eq!(admin.machine.version(call).await.unwrap_err().code(), Code::Unimplemented);
    let follow = talos_proto::machine::DmesgRequest { follow: true, tail: false };
    assert_eq!(admin.machine.dmesg(follow).await.unwrap_err().code(), Code::Unimplemented);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_configuration_is_compared_with_the_first() {
    use talos_proto::machine::apply_configuration_request::Mode;
    let world = World::new("second");
    let node = world.node("cp-1", [127, 90, 3, 4]);
    let mut client = world.control_plane(&node).await;
    let config = world.secrets.control_plane("cp-1");
    let answer = client.apply_with(&config, Mode::Auto, true).await.unwrap();
    assert!(answer.mode_details.ends_with("No changes."), "{}", answer.mode_details);
    let refused = client.apply_with(&config, Mode::Reboot, false).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented);
    let changed = config.replace("debug: false", "debug: true");
    let answer = client.apply(&changed).await.unwrap();
    assert_eq!(answer.mode_details, "Applied configuration without a reboot");
    let read = client.get("config", "MachineConfigs.config.talos.dev", "v1alpha1").await.unwrap();
    let read: String = serde_saphyr::from_str(&read).unwrap();
    assert_eq!(read, changed, "one text, as it was given");
    let partial = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: x\n";
    assert_eq!(client.apply(partial).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_are_closed_until_a_control_plane_answers() {
    let world = World::new("workers");
    let worker = world.node("w-1", [127, 90, 3, 5]);
    let control_plane = world.node("cp-1", [127, 90, 3, 6]);
    world.apply(&worker, &world.secrets.worker("w-1")).await;
    eventually("the closed port", async || refused(&worker).await.then_some(())).await;
    worker.reaches(Stage::Running).await;
    assert!(refused(&worker).await, "its kubelet runs, its API does not");

    world.control_plane(&control_plane).await;
    let mut client = world.admin(&worker).await;
    let refused = client.bootstrap().await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented);
    assert_eq!(refused.message(), "bootstrap is only available on control plane nodes");
    let refused = client.machine.kubeconfig(()).await.unwrap_err();
    assert_eq!(refused.message(), "kubeconfig is only available on control plane nodes");
    let mut call = Request::new(());
    call.metadata_mut().insert("node", "127.90.3.6".parse().unwrap());
    assert_eq!(client.machine.version(call).await.unwrap_err().message(), "no request forwarding");
    let members = client.list("cluster", "Members.cluster.talos.dev").await.unwrap();
    assert_eq!(members, ["cp-1", "w-1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_of_another_cluster_is_not_signed() {
    let world = World::new("stranger");
    let (worker, control_plane) =
        (world.node("w-1", [127, 90, 3, 7]), world.node("cp-1", [127, 90, 3, 8]));
    let other = world.secrets.worker("w-1").replace("token: abcdef", "token: xbcdef");
    world.apply(&worker, &other).await;
    world.control_plane(&control_plane).await;
    world.tempo.pass(std::time::Duration::from_secs(20)).await;
    assert!(refused(&worker).await, "the token is not the cluster's");
}

/// Says whether nobody listens.
pub(crate) async fn refused(node: &Node) -> bool {
    let connected = TcpStream::connect((node.facts().address, API_PORT)).await;
    connected.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}
