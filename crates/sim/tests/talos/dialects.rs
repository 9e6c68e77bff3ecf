//! What depends on the version of Talos, and on how a machine was started.

use sim::talos::{Node, Stage};
use talos_proto::machine::{
    BootstrapRequest, RebootRequest, ResetRequest, UpgradeRequest,
    apply_configuration_request::Mode,
};
use tonic::{Code, Status};

use crate::{
    client::Client,
    configured::refused,
    world::{World, eventually},
};

async fn in_maintenance(node: &Node) -> Client {
    node.reaches(Stage::Maintenance).await;
    Client::insecure(node).await.unwrap()
}

/// The maintenance server of its own knows one call of the machine service.
#[tokio::test(flavor = "multi_thread")]
async fn old_nodes_know_few_calls() {
    let world = World::new("old");
    let node = world.node_of("v1.12.1", "cp-1", [127, 90, 1, 5]);
    let mut client = in_maintenance(&node).await;
    let refusals: [Status; 6] = [
        client.machine.version(()).await.unwrap_err(),
        client.machine.service_list(()).await.unwrap_err(),
        client.machine.bootstrap(BootstrapRequest::default()).await.unwrap_err(),
        client.machine.reset(ResetRequest::default()).await.unwrap_err(),
        client.machine.reboot(RebootRequest::default()).await.unwrap_err(),
        client.machine.upgrade(UpgradeRequest::default()).await.unwrap_err(),
    ];
    for refused in refusals {
        assert_eq!(refused.code(), Code::Unimplemented, "{refused:?}");
        assert_eq!(refused.message(), "API is not implemented in maintenance mode");
    }
    assert!(client.machine_status().await.contains("stage: maintenance"));
    let config = world.secrets.control_plane("cp-1");
    for (mode, name) in [(Mode::NoReboot, "no-reboot"), (Mode::Staged, "staged")] {
        let refused = client.apply_with(&config, mode, false).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unimplemented, "{mode:?}");
        let said =
            format!("apply configuration --mode='{name}' is not supported in maintenance mode");
        assert_eq!(refused.message(), said);
    }
    let answer = client.apply_with(&config, Mode::Auto, true).await.unwrap();
    let nothing = "Node is running in maintenance mode and does not have a config yet.";
    assert_eq!(answer.mode_details, format!("Dry run summary:\n{nothing}"));
    let answer = client.apply(&config).await.expect("AUTO is for all");
    assert_eq!((answer.mode, answer.mode_details.as_str()), (0, ""), "it says nothing of it");
}

/// Everybody is a reader of the one server, which refuses by role.
#[tokio::test(flavor = "multi_thread")]
async fn newer_nodes_refuse_by_role() {
    let world = World::new("newer");
    let node = world.node_of("v1.13.6", "cp-1", [127, 90, 1, 6]);
    let mut client = in_maintenance(&node).await;
    client.machine.version(()).await.unwrap();
    for denied in [
        client.machine.bootstrap(BootstrapRequest::default()).await.unwrap_err(),
        client.machine.reset(ResetRequest::default()).await.unwrap_err(),
        client.machine.upgrade(UpgradeRequest::default()).await.unwrap_err(),
    ] {
        assert_eq!((denied.code(), denied.message()), (Code::PermissionDenied, "not authorized"));
    }
    let config = world.secrets.control_plane("cp-1");
    let answer = client.apply_with(&config, Mode::Reboot, false).await.unwrap();
    assert_eq!(answer.mode(), Mode::NoReboot, "the mode is another one in silence");
}

/// A node that has its configuration restarts for a new one, up to 1.13.
#[tokio::test(flavor = "multi_thread")]
async fn the_mode_that_restarts_ended_with_1_14() {
    let world = World::new("reboot-mode");
    for (version, place) in [("v1.12.1", 7), ("v1.13.6", 8)] {
        let node = world.machine("cp-1", [127, 90, 1, place], |facts, settings| {
            version.clone_into(&mut facts.version);
            // It goes on to listen long enough for another call.
            settings.delays.accept = std::time::Duration::from_secs(50);
        });
        let mut client = world.control_plane(&node).await;
        let config = world.secrets.control_plane("cp-1");
        let changed = config.replace("debug: false", "debug: true");
        let answer = client.apply_with(&changed, Mode::Reboot, false).await.unwrap();
        assert_eq!(answer.mode_details, "Applied configuration with a reboot");
        let busy = client.apply(&changed).await.unwrap_err();
        let words = "configuration is already applied and node is rebooting";
        assert_eq!((busy.code(), busy.message()), (Code::FailedPrecondition, words));
        eventually("the new configuration", async || {
            node.config().is_some_and(|config| config.text == changed).then_some(())
        })
        .await;
        world.admin(&node).await;
    }
    let node = world.node("cp-1", [127, 90, 1, 9]);
    let mut client = world.control_plane(&node).await;
    let config = world.secrets.control_plane("cp-1");
    let refused = client.apply_with(&config, Mode::Reboot, false).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented);
}

/// Returns what a node says to a bootstrap, once it does not say that it is
/// too early.
async fn said_to_bootstrap(client: &mut Client) -> (Code, String) {
    eventually("another answer", async || {
        let status = client.bootstrap().await.unwrap_err();
        let early = status.message() == "bootstrap is not available yet";
        (!early).then(|| (status.code(), status.message().to_owned()))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_version_has_its_words_for_a_bootstrap_on_a_worker() {
    let world = World::new("worker-words");
    let control_plane = world.node("cp-1", [127, 90, 1, 10]);
    world.control_plane(&control_plane).await;
    for (version, place, code, words) in [
        (
            "v1.12.1",
            11,
            Code::FailedPrecondition,
            "bootstrap can only be performed on a control plane node",
        ),
        ("v1.13.6", 12, Code::Unimplemented, "bootstrap is only available on control plane nodes"),
    ] {
        let worker = world.node_of(version, "w-1", [127, 90, 1, place]);
        world.apply(&worker, &world.secrets.worker("w-1")).await;
        let mut client = world.admin(&worker).await;
        assert_eq!(said_to_bootstrap(&mut client).await, (code, words.to_owned()), "{version}");
    }
}

/// Too early, and not at all without an authority for etcd.
#[tokio::test(flavor = "multi_thread")]
async fn a_bootstrap_is_refused_in_order() {
    let world = World::new("refusals");
    let node = world.machine("cp-1", [127, 90, 1, 13], |_, settings| {
        settings.delays.runtime = std::time::Duration::from_mins(2);
    });
    let mut client = world.control_plane(&node).await;
    let early = client.bootstrap().await.unwrap_err();
    assert_eq!(
        (early.code(), early.message()),
        (Code::FailedPrecondition, "bootstrap is not available yet")
    );

    let node = world.node("cp-2", [127, 90, 1, 14]);
    let config = world.secrets.control_plane("cp-2");
    let (before, after) = config.split_once("  etcd:\n").expect("there is an etcd in it");
    let (_, document) = after.split_once("---").expect("there is a second document");
    let without = format!("{before}---{document}");
    world.apply(&node, &without).await;
    let mut client = world.admin(&node).await;
    assert_eq!(
        said_to_bootstrap(&mut client).await,
        (Code::InvalidArgument, "etcd is not configured, bootstrap is not possible".to_owned())
    );
}

/// A machine that was not started from its disk installs itself and restarts.
/// Since 1.14 its API is there meanwhile, and no bootstrap is taken: that it is
/// not available yet is looked at first. Its other words, that none is allowed
/// during an unattended install, are only for one that begins between both looks.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_talos_on_its_disk_installs_itself() {
    let world = World::new("install");
    let bare = |version: &'static str, place| {
        world.machine("cp-1", [127, 90, 1, place], move |facts, settings| {
            version.clone_into(&mut facts.version);
            facts.installed = false;
            settings.delays.install = std::time::Duration::from_mins(2);
        })
    };
    let node = bare("v1.14.1", 15);
    world.apply(&node, &world.secrets.control_plane("cp-1")).await;
    let mut client = world.admin(&node).await;
    assert!(client.machine_status().await.contains("stage: installing"));
    let early = client.bootstrap().await.unwrap_err();
    assert_eq!(early.message(), "bootstrap is not available yet");
    node.reaches(Stage::Rebooting).await;
    let mut client = world.admin(&node).await;
    eventually("the bootstrap", async || client.bootstrap().await.ok()).await;

    let old = bare("v1.12.1", 16);
    world.apply(&old, &world.secrets.control_plane("cp-1")).await;
    old.reaches(Stage::Installing).await;
    assert!(refused(&old).await, "nobody listens");
    world.admin(&old).await;
}
