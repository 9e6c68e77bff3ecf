//! Hundreds of simulated nodes at once: every one gets there, and all of them
//! need little memory. How long it takes, `cargo xtask bench talos` tells.

#![expect(clippy::unwrap_used, reason = "a test may")]

mod fleet;
#[path = "../talos/permits.rs"]
mod permits;
#[path = "../talos/sample.rs"]
mod sample;

use std::time::Duration;

use rig::need::remark;
use tokio::time::Instant;

use fleet::{Fleet, MEMORY, NODES, memory};

async fn timed(task: impl Future<Output = ()>) -> Duration {
    let began = Instant::now();
    task.await;
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_nodes_are_proven_at_once_in_little_memory() {
    let fleet = Fleet::start(0, NODES).await;
    let proven = timed(fleet.configure()).await;
    // Only a node that has its config lets a certificate of its cluster in.
    let bare = timed(fleet.shake_hands()).await;
    let most = memory("VmHWM:");
    remark(&format!(
        "{NODES} simulated nodes proven in {:.1} s, bare handshakes with them in {:.1} s \
         (without optimisation), {most} MB",
        proven.as_secs_f64(),
        bare.as_secs_f64()
    ));
    assert!(most < MEMORY, "{most} MB");
}
