//! Chaos: whatever happens at whatever moment, a run ends, is proven only where it
//! may be, and `down` leaves nothing. `cargo xtask chaos` tries more seeds.

use std::sync::Arc;
use std::time::Duration;

use events::RunOutcome;
use sim::hetzner::Holding;
use sim::world::chaos::Chaos;
use sim::world::fault::Cast;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::harbour::{Harbour, LAST};
use crate::sweep;

const SPEED: u32 = 100;

/// How many worlds run at once: they wait most of the time.
const WORLDS: usize = 5;

/// How many seeds are tried where nobody asks for more.
const FEW: u64 = 10;

/// Longer than all deadlines of a run together, in real time, on a busy machine.
const HANGS: Duration = Duration::from_secs(400);

/// What shows in a cluster that runs already, at a gate that the stability window asks
/// again.
const VISIBLE: &[&str] = &[
    "coredns-crashing",
    "csi-crashing",
    "lb-no-healthy-target",
    "metrics-server-crashing",
    "node-not-ready",
];

/// Longer than the stability window and all that it takes to notice, in simulated time.
const NOTICED: Duration = Duration::from_mins(5);

#[tokio::test(flavor = "multi_thread")]
async fn chaos_ends_without_a_hang_a_false_proof_or_a_leak() {
    let asked = sweep::asked_for("SEAWORTHY_CHAOS").and_then(|text| text.parse().ok());
    let first = sweep::asked_for("SEAWORTHY_SEED").and_then(|text| text.parse().ok()).unwrap_or(0);
    let room = Arc::new(Semaphore::new(WORLDS));
    let mut worlds = JoinSet::new();
    for number in 0..asked.unwrap_or(FEW) {
        let room = Arc::clone(&room);
        worlds.spawn(async move {
            let _seat = room.acquire_owned().await.unwrap();
            (first + number, survive(number, first + number).await)
        });
    }
    let mut wrong = Vec::new();
    while let Some(survived) = worlds.join_next().await {
        let (seed, result) = survived.unwrap();
        match result {
            Ok(how) => println!("seed {seed}: {how}"),
            Err(why) => wrong.push(format!("seed {seed}: {why}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Brings a cluster up in chaos, and takes it down once that has calmed.
async fn survive(number: u64, seed: u64) -> Result<String, String> {
    let network = (60 + number) % 250;
    let harbour = Harbour::at_speed(SPEED, &network.to_string(), 1, 1).await;
    let cast = Cast {
        control_planes: vec!["demo-cp-1".to_owned()],
        workers: vec!["demo-workers-1".to_owned()],
    };
    let chaos = Chaos::begin(&harbour.world, cast, seed);
    let ran = tokio::time::timeout(HANGS, harbour.up(Some(LAST))).await;
    let standing = chaos.standing();
    let events = chaos.calm().join(", ");
    let ran = ran.map_err(|_| format!("up hangs after {events}"))?;
    let overlooked = |(name, time): &&(&str, Duration)| VISIBLE.contains(name) && *time > NOTICED;
    if let Some((name, _)) = standing.iter().find(overlooked)
        && ran.outcome == RunOutcome::Proven
    {
        return Err(format!("proven in spite of {name}, after {events}\n{}", ran.text));
    }
    let down = tokio::time::timeout(HANGS, harbour.down()).await;
    let down = down.map_err(|_| format!("down hangs after {events}"))?;
    if down.outcome != RunOutcome::Proven {
        return Err(format!("down fails after {events}\n{}", down.text));
    }
    let left = harbour.world.inventory().holdings;
    let left: Vec<_> = left.iter().filter(|it| is_ours(it)).map(|it| it.name.as_str()).collect();
    if left.is_empty() {
        return Ok(format!("{} after {events}", word(&ran.outcome)));
    }
    Err(format!("{} is left after {events}", left.join(", ")))
}

/// Whether a run has made it, or a controller of the cluster: nobody else makes volumes.
fn is_ours(holding: &Holding) -> bool {
    holding.kind == "volume" || holding.view["labels"][clouds::CLUSTER_ID].is_string()
}

fn word(outcome: &RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Proven => "proven",
        RunOutcome::NotProven { .. } => "not proven",
        RunOutcome::Failed { .. } => "failed",
        RunOutcome::Interrupted { .. } => "interrupted",
    }
}
