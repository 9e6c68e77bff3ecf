//! Runs with faults, as a table: what each run made of them, and how soon.

use std::path::Path;
use std::sync::Arc;

use events::{Event, PlannedCheck, RunOutcome, Unit, What};
use sim::world::fault::{Cast, Expected, Fault};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::harbour::{Harbour, LAST, Ran};

/// Every fault has somebody to strike: one control plane alone joins nobody.
const CONTROL_PLANES: u32 = 3;
const WORKERS: u32 = 1;

/// How many worlds run at once: they wait most of the time.
const WORLDS: usize = 6;

/// Loopback networks that worlds of this file may take.
const NETWORKS: usize = 250;
const FIRST_NETWORK: usize = 240;

/// A run with some faults, and what it made of them.
pub(crate) struct Observation {
    pub(crate) faults: Vec<&'static Fault>,
    pub(crate) ran: Ran,
    /// Whether it is the second run, because the first was not as it should be.
    pub(crate) is_second: bool,
    speed: u32,
}

/// When a cause was known, in simulated milliseconds.
pub(crate) struct Times {
    /// From the start of the run, when the faults were injected, to the cause.
    pub(crate) from_injection: u64,
    /// From the start of the check or call that shows it.
    pub(crate) from_check: u64,
    /// From there to the end of the unit.
    pub(crate) to_end: u64,
    /// How long the check might have taken.
    pub(crate) deadline: u64,
}

/// Runs `up` once for each list of faults, all injected before it starts.
/// Deadlines are `slack` times as long as usual.
pub(crate) async fn sweep(
    speed: u32,
    slack: u32,
    runs: Vec<Vec<&'static Fault>>,
) -> Vec<Observation> {
    let room = Arc::new(Semaphore::new(WORLDS));
    let mut worlds = JoinSet::new();
    for (number, faults) in runs.into_iter().enumerate() {
        let room = Arc::clone(&room);
        worlds.spawn(async move {
            let _seat = room.acquire_owned().await.unwrap();
            let network = (FIRST_NETWORK + number) % NETWORKS;
            (number, observe(speed, slack, &network.to_string(), faults).await)
        });
    }
    let mut observations = worlds.join_all().await;
    observations.sort_by_key(|(number, _)| *number);
    let mut observations: Vec<_> = observations.into_iter().map(|(_, it)| it).collect();
    // Connections are real: where this machine is busy with other things they time
    // out. What was not as it should be is tried again, alone.
    for (number, observation) in observations.iter_mut().enumerate() {
        if !observation.is_right() {
            let faults = observation.faults.clone();
            let network = (FIRST_NETWORK + number) % NETWORKS;
            *observation = observe(speed, slack, &network.to_string(), faults).await;
            observation.is_second = true;
        }
    }
    observations
}

async fn observe(
    speed: u32,
    slack: u32,
    network: &str,
    faults: Vec<&'static Fault>,
) -> Observation {
    let mut harbour = Harbour::at_speed(speed, network, CONTROL_PLANES, WORKERS).await;
    harbour.take_time(slack);
    let cast = cast();
    for fault in &faults {
        fault.strike(&harbour.world, &cast);
    }
    let ran = harbour.up(Some(LAST)).await;
    Observation { faults, ran, is_second: false, speed }
}

fn cast() -> Cast {
    let names = |of: &str, count| (1..=count).map(|n| format!("demo-{of}-{n}")).collect();
    Cast { control_planes: names("cp", CONTROL_PLANES), workers: names("workers", WORKERS) }
}

// === impl Observation ===

impl Observation {
    /// Returns whether the first cause is that of one of the faults, and a run
    /// is proven only where every fault lets it be.
    pub(crate) fn is_right(&self) -> bool {
        let codes: Vec<_> = self.faults.iter().filter_map(|it| code_of(it.expected)).collect();
        match self.ran.story.first_cause() {
            Some(first) => codes.contains(&first.cause.code.0),
            None => codes.is_empty() && self.ran.outcome == RunOutcome::Proven,
        }
    }

    /// Returns how the run ended, in a word.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.ran.outcome {
            RunOutcome::Proven => "proven",
            RunOutcome::NotProven { .. } => "not proven",
            RunOutcome::Failed { .. } => "failed",
            RunOutcome::Interrupted { .. } => "interrupted",
        }
    }

    /// Returns the first cause, as a cell of a table.
    pub(crate) fn first_cause(&self) -> String {
        match self.ran.story.first_cause() {
            Some(first) => format!("{} at {}", first.cause.code, self.shown_by().unwrap_or("?")),
            None => "–".to_owned(),
        }
    }

    /// Returns the check or the stage that showed the first cause.
    pub(crate) fn shown_by(&self) -> Option<&str> {
        let first = self.ran.story.first_cause()?;
        let check = first.cause.shown_by.as_ref().map(|by| by.check.as_str());
        Some(check.unwrap_or_else(|| first.unit.stage.as_str()))
    }

    /// Returns when the first cause was known.
    pub(crate) fn times(&self) -> Option<Times> {
        let first = self.ran.story.first_cause()?;
        let (code, unit) = (first.cause.code, first.unit);
        let check = first.cause.shown_by.as_ref().map(|by| &by.check);
        let of_unit = || self.ran.events.iter().filter(|it| it.what.unit() == Some(unit));
        let names_it = |event: &&Event| match &event.what {
            What::Checked { check: by, verdict, .. } => {
                Some(by) == check && verdict.cause().is_some_and(|it| it.code == code)
            }
            // A call that is tried again says why.
            What::AttemptStarted { after, .. } => check.is_none() && after.is_some(),
            What::StageDone { .. } => true,
            _ => false,
        };
        let by_check = |event: &&Event| match &event.what {
            What::Checked { check: by, .. } => Some(by) == check,
            What::StageDone { .. } => true,
            _ => false,
        };
        let known = of_unit().find(names_it)?.elapsed_ms;
        let ended = of_unit().next_back()?.elapsed_ms;
        let first_look = of_unit().find(by_check)?.seq;
        // A check begins where what its unit did before has ended.
        let mut before = of_unit().filter(|it| it.seq < first_look && begins(it));
        let began = before.next_back().map_or(0, |it| it.elapsed_ms);
        let simulated = |ms: u64| ms * u64::from(self.speed);
        Some(Times {
            from_injection: simulated(known),
            from_check: simulated(known.saturating_sub(began)),
            to_end: simulated(ended.saturating_sub(began)),
            deadline: simulated(self.deadline(unit)?),
        })
    }

    fn deadline(&self, unit: &Unit) -> Option<u64> {
        let shown_by = self.shown_by()?;
        let What::RunStarted { plan, .. } = &self.ran.events.first()?.what else { return None };
        let stage = plan.stages.iter().find(|stage| stage.name == unit.stage)?;
        let named = |check: &&PlannedCheck| check.name.as_str() == shown_by;
        // Acting may take as long as the first check.
        let check = stage.checks.iter().find(named).or(stage.checks.first())?;
        Some(check.deadline_ms)
    }
}

/// Whether a check may begin after an event of its unit.
fn begins(event: &Event) -> bool {
    matches!(event.what, What::StageStarted { .. } | What::Checked { .. } | What::Result { .. })
}

/// Returns the code that a run must name, where it must fail.
pub(crate) fn code_of(expected: Expected) -> Option<u16> {
    match expected {
        Expected::Proven => None,
        Expected::Failed { code, .. } | Expected::Refused { code, .. } => Some(code),
    }
}

/// Says how many runs were tried twice, for the end of a page.
pub(crate) fn tried_twice(observations: &[Observation]) -> String {
    let count = observations.iter().filter(|it| it.is_second).count();
    format!(
        "A run that is not as it should be is tried again, once and alone, because connections \
         are real and time out where the machine is busy: {count} were."
    )
}

/// Writes a generated page.
pub(crate) fn write(page: &str, text: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::write(root.join(page), text).unwrap();
}

/// Returns what a chore asks for by the environment.
#[expect(clippy::disallowed_methods, reason = "a test is asked by its environment")]
pub(crate) fn asked_for(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}
