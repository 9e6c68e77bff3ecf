//! The real talosctl judges simulated nodes: one script of steps on a
//! simulated node and on a real one, and what it prints is the same, but for a
//! short list of differences that are known and have a reason.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod asking;
mod differences;
mod ground;
mod itself;
mod kubernetes;
mod normal;
mod old;
mod reads;
mod restart;
mod script;
mod tls;
mod transcript;
mod worker;

use ground::{Ground, Real, Simulated};
use rig::talos::Talosctl;
use script::Script;
use transcript::{beside, compare};

#[tokio::test(flavor = "multi_thread")]
async fn talosctl_sees_no_other_differences_than_the_known_ones() {
    let Some(talos) = rig::need::talos() else { return };
    if !tls::there_is_openssl() {
        let _: Option<()> = rig::need::skip("openssl is not installed");
        return;
    }
    let ctl = talos.talosctl().clone();
    let seen = tokio::task::spawn_blocking({
        let ctl = ctl.clone();
        move || Script::new(&ctl, Ground::Simulated(Simulated::new(1).with_worker())).run()
    });
    let simulated = seen.await.unwrap();
    let real = Real::new(talos);
    let real =
        tokio::task::spawn_blocking(move || Script::new(&ctl, Ground::Real(Box::new(real))).run());
    let differences = compare(&real.await.unwrap(), &simulated);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Where somebody else is in the lists, it depends on when they are looked at:
/// here nobody is.
#[tokio::test(flavor = "multi_thread")]
async fn talosctl_sees_the_same_of_a_node_that_looks_at_itself() {
    let Some(mut talos) = rig::need::talos() else { return };
    talos.add("cp-1").unwrap();
    let ctl = talos.talosctl().clone();
    let grounds = [Ground::Simulated(Simulated::new(5)), Ground::Real(Box::new(Real::of(talos)))];
    let scripts = grounds.map(|ground| {
        let ctl = ctl.clone();
        tokio::task::spawn_blocking(move || Script::new(&ctl, ground).look_at_itself())
    });
    let [simulated, real] = scripts;
    let differences = beside(&[], &real.await.unwrap(), &simulated.await.unwrap());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The form that talosctl writes today: one document for each thing.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_takes_many_documents() {
    let Some(talos) = rig::need::talos() else { return };
    let ctl = talos.talosctl().clone();
    let taken = tokio::task::spawn_blocking(move || {
        Script::new(&ctl, Ground::Simulated(Simulated::new(2))).take_many_documents();
    });
    taken.await.unwrap();
}

/// What a container does not have.
#[tokio::test(flavor = "multi_thread")]
async fn talosctl_follows_a_restart_to_its_end() {
    let Some(talos) = rig::need::talos() else { return };
    let ctl = talos.talosctl().clone();
    let judged = tokio::task::spawn_blocking(move || {
        let node = Simulated::new(3).with_network();
        let script = Script::new(&ctl, Ground::Simulated(node));
        script.bring_up();
        script.restart();
        script.change_version();
        script.wipe();
    });
    judged.await.unwrap();
}

/// Up to 1.12 a bare machine has a server of its own, which knows few calls.
#[tokio::test(flavor = "multi_thread")]
async fn talosctl_reads_of_an_old_bare_machine_what_it_could_read_then() {
    let Some(binary) = rig::need::binary("talosctl") else { return };
    let folder = tempfile::tempdir().unwrap();
    let ctl = Talosctl::new(&binary, folder.path());
    let judged = tokio::task::spawn_blocking(move || {
        Script::new(&ctl, Ground::Simulated(Simulated::of_version("v1.12.1", 6))).look_at_old();
    });
    judged.await.unwrap();
}

/// What a node of an older version does not have.
#[tokio::test(flavor = "multi_thread")]
async fn talosctl_changes_an_old_version_as_it_did_then() {
    let Some(talos) = rig::need::talos() else { return };
    let ctl = talos.talosctl().clone();
    let judged = tokio::task::spawn_blocking(move || {
        let node = Simulated::of_version("v1.12.1", 4).with_network();
        let script = Script::new(&ctl, Ground::Simulated(node));
        script.bring_up();
        script.change_old_version();
    });
    judged.await.unwrap();
}

/// A real worker asks a simulated control plane for its certificate, and serves
/// with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_simulated_control_plane_signs_for_a_real_worker() {
    let Some(talos) = rig::need::talos() else { return };
    let ctl = talos.talosctl().clone();
    let judged = tokio::task::spawn_blocking(move || {
        let control_plane = Simulated::at(talos.gateway(), "v1.14.1");
        let worker = Box::new(Real::worker(talos));
        Script::new(&ctl, Ground::Mixed(control_plane, worker)).worker_is_signed();
    });
    judged.await.unwrap();
}
