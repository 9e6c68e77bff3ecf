//! Every fault by name: the run names the true cause first, at the gate that
//! the fault declares.

use std::sync::Arc;

use events::{Code, RunOutcome};
use sim::world::fault::{Cast, Expected, FAULTS, Fault};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::harbour::{Harbour, LAST};

/// How many worlds run at once.
const WORLDS: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_named() {
    let room = Arc::new(Semaphore::new(WORLDS));
    let mut worlds = JoinSet::new();
    for (number, fault) in FAULTS.iter().enumerate() {
        let room = Arc::clone(&room);
        worlds.spawn(async move {
            let _seat = room.acquire_owned().await.unwrap();
            (fault, try_out(number, fault).await)
        });
    }
    let mut wrong = Vec::new();
    while let Some(tried) = worlds.join_next().await {
        let (fault, result) = tried.unwrap();
        match result {
            Ok(()) => println!("{}: as declared", fault.name),
            Err(text) => {
                wrong.push(format!("{}: expected {:?}\n{text}", fault.name, fault.expected));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns what a terminal would have shown where the run makes something else
/// of the fault than it should.
async fn try_out(number: usize, fault: &Fault) -> Result<(), String> {
    let harbour = Harbour::new(&format!("{}", 100 + number), 1, 2).await;
    let cast = Cast {
        control_planes: vec!["demo-cp-1".to_owned()],
        workers: vec!["demo-workers-1".to_owned(), "demo-workers-2".to_owned()],
    };
    fault.strike(&harbour.world, &cast);
    let ran = harbour.up(Some(LAST)).await;
    let as_expected = match (fault.expected, &ran.outcome) {
        (Expected::Proven, _) => ran.is_done,
        (Expected::Failed { gate, code }, RunOutcome::Failed { unit, cause }) => {
            unit.stage.as_str() == gate && cause.code == Code(code)
        }
        (Expected::Failed { .. }, _) => false,
    };
    if as_expected { Ok(()) } else { Err(ran.text) }
}
