//! Every fault by name: the run names the true cause first, at the check that
//! the fault declares, and passes it once the fault is mended. With that, every
//! check of the table has something that makes it fail.

use std::collections::BTreeSet;
use std::sync::Arc;

use events::Heals;
use lifecycle::{MISHAPS, up};
use sim::world::fault::{Cast, Expected, FAULTS, Fault, Wound};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::harbour::{Fall, Harbour, LAST, Ran};
use crate::messages;

/// How many worlds run at once: they wait most of the time.
const WORLDS: usize = 6;

/// What runs themselves call something that a fault is named after.
const OUR_WORDS: &[&str] = &["rate-limited"];

#[test]
fn every_check_has_a_killer() {
    let faults = FAULTS.iter().filter_map(|fault| fault.expected.check());
    let killed: BTreeSet<_> = faults.chain(MISHAPS.iter().map(|mishap| mishap.check)).collect();
    let checks = || up::TABLE.iter().flat_map(|stage| stage.checks).map(|check| check.name);
    let immortal: Vec<_> = checks().filter(|check| !killed.contains(check)).collect();
    assert!(immortal.is_empty(), "no fault makes these fail: {}", immortal.join(", "));
    let known: BTreeSet<_> = checks().collect();
    assert!(killed.is_subset(&known), "there are no such checks: {:?}", killed.difference(&known));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_named_and_can_be_mended() {
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
    let until = stage_of(fault.expected);
    // One control plane alone joins nobody.
    let (control_planes, workers) = if until == "etcd" { (3, 0) } else { (1, 2) };
    let mut harbour = Harbour::new(&format!("{}", 100 + number), control_planes, workers).await;
    let names = |of: &str, count| (1..=count).map(|n| format!("demo-{of}-{n}")).collect();
    let cast =
        Cast { control_planes: names("cp", control_planes), workers: names("workers", workers) };
    fault.strike(&harbour.world, &cast);
    harbour.expect_failure(waits_in_vain(fault.expected).then_some(until));
    let ran = harbour.up(Some(until)).await;
    let expected = match fault.expected {
        Expected::Proven => BTreeSet::new(),
        Expected::Failed { check, code } => [Fall::check(until, check, code)].into(),
        Expected::Refused { stage, code } => [Fall::act(stage, code)].into(),
    };
    if ran.falls != expected || ran.is_done != expected.is_empty() {
        return Err(format!("it was {:?}\n{}", ran.falls, ran.text));
    }
    let complaints = messages::complaints(&ran.text);
    if !complaints.is_empty() {
        return Err(format!("{}\n{}", complaints.join("\n"), ran.text));
    }
    if !expected.is_empty() && !has_next_step(&ran) {
        return Err(format!("there is no next step beyond `explain`\n{}", ran.text));
    }
    if !OUR_WORDS.contains(&fault.name) && harbour.wrote(fault.name) {
        return Err("its name got into what the run wrote".to_owned());
    }
    if expected.is_empty() || fault.wound == Wound::Lasting {
        return Ok(());
    }
    fault.mend(&harbour.world, &cast);
    harbour.expect_failure(None);
    let ran = harbour.up(Some(until)).await;
    if ran.is_done { Ok(()) } else { Err(format!("mended, and yet {:?}\n{}", ran.falls, ran.text)) }
}

/// Whether a run would wait for all of its deadline: what does not heal ends the wait.
fn waits_in_vain(expected: Expected) -> bool {
    let (Expected::Failed { code, .. } | Expected::Refused { code, .. }) = expected else {
        return false;
    };
    let pages = lifecycle::pages();
    pages.iter().any(|page| page.code.0 == code && page.heals == Heals::ByItself)
}

/// Whether the first cause says more than where to read about it.
fn has_next_step(ran: &Ran) -> bool {
    let first = ran.story.first_cause();
    first.is_some_and(|it| it.cause.next.iter().any(|step| !is_page(&step.command)))
}

fn is_page(command: &str) -> bool {
    command.starts_with("seaworthy explain SW")
}

/// Returns how far a run has to go.
fn stage_of(expected: Expected) -> &'static str {
    match expected {
        Expected::Proven => LAST,
        Expected::Refused { stage, .. } => stage,
        Expected::Failed { check, .. } => {
            let has_it = |stage: &&engine::Stage| stage.checks.iter().any(|it| it.name == check);
            up::TABLE.iter().find(has_it).map_or(LAST, |stage| stage.name)
        }
    }
}
