//! The real talosctl judges simulated nodes: one script of steps on a
//! simulated node and on a real one, and what it prints is the same, but for a
//! short list of differences that are known and have a reason.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod asking;
mod differences;
mod ground;
mod kubernetes;
mod normal;
mod script;
mod tls;
mod transcript;

use ground::{Ground, Real, Simulated};
use script::Script;
use transcript::compare;

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
        move || Script::new(&ctl, Ground::Simulated(Simulated::new(1))).run()
    });
    let simulated = seen.await.unwrap();
    let real = Real::new(talos);
    let real =
        tokio::task::spawn_blocking(move || Script::new(&ctl, Ground::Real(Box::new(real))).run());
    let differences = compare(&real.await.unwrap(), &simulated);
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
