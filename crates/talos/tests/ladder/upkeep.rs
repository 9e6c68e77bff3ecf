//! Images, versions, restarts and wiping: all of it where it is simulated, and
//! what a container has of it on real nodes.

use events::Class;
use talos::client::{
    Afterwards, Client, ClientError, Keeper, Pull, Reason, Reboot, Reset, Upgrade,
};

use crate::climber::{Climber, until};
use crate::ground::{Ground, api};
use crate::on_both_grounds;
use crate::release::Release;

on_both_grounds! { an_image_is_pulled, a_node_is_wiped }

/// The sandbox image, which every node needs.
const IMAGE: &str = "registry.k8s.io/pause:3.10.2";
const INSTALLER: &str = "ghcr.io/siderolabs/installer:v1.14.2";

async fn pull(climber: &Climber, client: &Client, image: &str) -> Result<String, ClientError> {
    let target = format!("{} {image}", client.address());
    let pull = Pull { target: &target, image, keeper: Keeper::Talos };
    let permit = climber.permits.for_call(pull.call()).await;
    client.pull_image(permit, &pull).await
}

async fn install(climber: &Climber, client: &Client, image: &str) -> Result<(), ClientError> {
    let target = format!("{} {image}", client.address());
    let upgrade = Upgrade { target: &target, image };
    let permit = climber.permits.for_call(upgrade.call()).await;
    client.install_version(permit, &upgrade).await.map(drop)
}

async fn reboot(climber: &Climber, client: &Client) -> Result<(), ClientError> {
    let target = client.address().to_string();
    let reboot = Reboot { target: &target };
    let permit = climber.permits.for_call(reboot.call()).await;
    client.reboot(permit, &reboot).await
}

async fn an_image_is_pulled(ground: Ground) {
    let mut climber = Climber::new(ground);
    let (address, client) = climber.authenticated("cp-1").await;
    let name = pull(&climber, &client, IMAGE).await.unwrap();
    assert!(name.starts_with("registry.k8s.io/pause@sha256:"), "{name}");

    let missing = "registry.k8s.io/nobody-has-this:v1";
    if let Ground::Simulated(simulated) = &climber.ground {
        simulated.node(address).turn(|knobs| knobs.no_registry = true);
    }
    let error = pull(&climber, &client, missing).await.unwrap_err();
    assert!(matches!(error.reason, Reason::PullFailed(_)), "{error:?}");
    assert_eq!(error.class(), Class::Transient);
    let [reader, operator] = [talos::credentials::Role::Reader, talos::credentials::Role::Operator]
        .map(|role| climber.identity(role));
    let reader = api(address).authenticated(&reader).await.unwrap();
    let error = pull(&climber, &reader, IMAGE).await.unwrap_err();
    assert!(matches!(error.reason, Reason::PermissionDenied(_)), "{error:?}");
    api(address).authenticated(&operator).await.unwrap();
    if climber.ground.is_real() {
        not_in_a_container(&climber, &client).await;
    }
}

/// What a container does not have is refused as such.
async fn not_in_a_container(climber: &Climber, client: &Client) {
    for error in [
        reboot(climber, client).await.unwrap_err(),
        install(climber, client, INSTALLER).await.unwrap_err(),
    ] {
        assert!(
            matches!(&error.reason, Reason::Unimplemented(said) if said.contains("container mode")),
            "{error:?}"
        );
        assert_eq!(error.class(), Class::Permanent);
    }
}

async fn a_node_is_wiped(ground: Ground) {
    let mut climber = Climber::new(ground);
    let (address, client) = climber.authenticated("cp-1").await;
    let target = address.to_string();
    let reset = Reset { target: &target, graceful: false, afterwards: Afterwards::Halt };
    let permit = climber.permits.for_call(reset.call()).await;
    client.reset(permit, &reset).await.unwrap();
    until("the machine ends", async || {
        if climber.ground.is_off(address) { Ok(()) } else { Err("it still runs") }
    })
    .await;
    let error = api(address).maintenance(None).await.unwrap_err();
    let gone = matches!(error.reason, Reason::Refused | Reason::NoRoute | Reason::NoAnswer);
    assert!(gone, "{error:?}");
}

/// Real nodes in containers have no disk to start again from.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_wiped_waits_for_its_config_again() {
    let mut climber = Climber::new(Ground::simulated());
    let (address, client) = climber.authenticated("cp-1").await;
    let target = address.to_string();
    let reset = Reset { target: &target, graceful: false, afterwards: Afterwards::Reboot };
    let permit = climber.permits.for_call(reset.call()).await;
    client.reset(permit, &reset).await.unwrap();
    until("the node waits for its config", async || {
        api(address).maintenance(None).await.map(drop).map_err(|error| error.to_string())
    })
    .await;
}

/// Since 1.13: three calls. The installer's failure is in its exit code.
#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_installed_and_comes_with_a_restart() {
    let mut climber = Climber::new(Ground::simulated());
    let (address, client) = climber.authenticated("cp-1").await;
    pull(&climber, &client, INSTALLER).await.unwrap();
    let error = install(&climber, &client, "ghcr.io/siderolabs/other:latest").await.unwrap_err();
    let Reason::InstallerFailed { code, last } = &error.reason else { panic!("{error:?}") };
    assert_eq!((*code, last.ends_with("has no installer")), (1, true));
    assert_eq!(error.class(), Class::Permanent);
    install(&climber, &client, INSTALLER).await.unwrap();
    assert_eq!(client.version().await.unwrap().tag, "v1.14.1");
    reboot(&climber, &client).await.unwrap();
    comes_back_as(&climber, address, "v1.14.2").await;
}

/// Up to 1.12: one call, and the new services are unknown.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_node_is_upgraded_by_one_call() {
    let mut climber = Climber::new(Ground::simulated_of(Release::V1_12));
    let (address, client) = climber.authenticated("cp-1").await;
    for error in [
        pull(&climber, &client, INSTALLER).await.unwrap_err(),
        install(&climber, &client, INSTALLER).await.unwrap_err(),
    ] {
        assert!(matches!(error.reason, Reason::Unimplemented(_)), "{error:?}");
    }
    let upgrade = Upgrade { target: "the old one", image: INSTALLER };
    let permit = climber.permits.for_call(upgrade.call()).await;
    client.upgrade(permit, &upgrade).await.unwrap();
    comes_back_as(&climber, address, "v1.14.2").await;
}

async fn comes_back_as(climber: &Climber, address: std::net::Ipv4Addr, version: &str) {
    let admin = climber.identity(talos::credentials::Role::Admin);
    until("the new version", async || {
        let client = api(address).authenticated(&admin).await.map_err(|error| error.reason)?;
        let tag = client.version().await.map_err(|error| error.reason)?.tag;
        if tag == version { Ok(()) } else { Err(Reason::Nonsense(tag)) }
    })
    .await;
}
