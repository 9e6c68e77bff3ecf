//! Running a plan: starts units as their prerequisites pass, and ends the run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use events::{
    Cause, Digest, Hindrance, Interruption, Plan, RecordError, RunOutcome, StageName, Unit,
    UnitOutcome, UnitState, What,
};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::confirmation::Confirmation;
use crate::schedule::Schedule;
use crate::unit_run::UnitRun;
use crate::{Backoff, Cancel, Chance, Eyes, Hands, Session, Work};

/// All that a run needs beside its work.
#[derive(Debug)]
pub struct Engine {
    /// The right to run, and the journal.
    pub session: Session,
    /// Randomness for jitter.
    pub chance: Chance,
    /// The wish to stop.
    pub cancel: Cancel,
    /// The pauses between tries.
    pub backoff: Backoff,
}

/// How far a run goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// To the last stage.
    #[default]
    TheEnd,
    /// To this stage, with all that it needs.
    Stage(StageName),
}

/// What a failure of one unit means for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterFailure {
    /// Nothing new is started, and waits are ended: later units would build on
    /// what is not there.
    #[default]
    Halt,
    /// All that does not wait for the failed unit goes on: nothing is built,
    /// and whoever reads the report wants to know of every failure.
    GoOn,
}

/// Why there was no run, or only half of one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    /// The journal did not take an event.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The run was to end at a stage that there is none of.
    #[error("no stage is named `{name}`; there are {}", known.join(", "))]
    UnknownStage {
        /// The name that was given.
        name: StageName,
        /// The names that there are.
        known: Vec<String>,
    },
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub outcome: RunOutcome,
    /// Whether all that was asked for was proven, though that may be less than
    /// the whole plan.
    pub is_done: bool,
    /// The digest of the journal's last line.
    pub head: Option<Digest>,
}

/// A run that is under way.
struct Run<W> {
    engine: Engine,
    work: Arc<W>,
    plan: Plan,
    asked_for: BTreeSet<StageName>,
    schedule: Schedule,
    /// Ends waits: somebody asked for a stop, or a unit has failed.
    halt: Cancel,
    running: JoinSet<Result<(Unit, UnitOutcome), RecordError>>,
    failed: BTreeMap<Unit, Cause>,
}

// === impl Engine ===

impl Engine {
    /// Runs the plan to its end, to a failure, or until it is asked to stop.
    ///
    /// Nothing is destroyed on failure: after the first failed unit nothing new
    /// is started, calls under way are finished, and waits are ended, unless the
    /// work [goes on](AfterFailure::GoOn).
    ///
    /// # Errors
    ///
    /// Only where the journal cannot be written, or the plan cannot be run.
    pub async fn run<W: Work>(
        self,
        plan: Plan,
        until: &Until,
        work: Arc<W>,
    ) -> Result<Finished, EngineError> {
        let asked_for = asked_for(&plan, until)?;
        let resumes = self.session.ledger.history(|history| history.unfinished(&plan.command));
        let start = What::RunStarted { plan: Box::new(plan.clone()), resumes };
        self.session.ledger.recorder().record_durably(1, start).await?;
        let halt = Cancel::new();
        let passing_on = tokio::spawn({
            let (asked, halt) = (self.cancel.clone(), halt.clone());
            async move {
                asked.asked().await;
                halt.ask();
            }
        });
        let run = Run {
            asked_for,
            schedule: Schedule::new(&plan),
            engine: self,
            work,
            plan,
            halt,
            running: JoinSet::new(),
            failed: BTreeMap::new(),
        };
        let finished = run.finish().await;
        passing_on.abort();
        Ok(finished?)
    }
}

// === impl Run ===

impl<W: Work> Run<W> {
    async fn finish(mut self) -> Result<Finished, RecordError> {
        let first = self.schedule.first();
        self.start_all(first)?;
        while let Some(ended) = self.running.join_next().await {
            let ended =
                ended.unwrap_or_else(|stopped| std::panic::resume_unwind(stopped.into_panic()));
            let (unit, outcome) = ended?;
            self.take_end(unit, outcome)?;
        }
        self.give_up_the_rest()?;
        let outcome = self.outcome();
        let recorder = self.engine.session.ledger.recorder();
        // What is still on its way to the disk counts too.
        recorder.flushed().await?;
        let removed = recorder.hidden();
        if !removed.0.is_empty() {
            recorder.record(1, What::Redacted { removed })?;
        }
        recorder.record_durably(1, What::RunEnded { outcome: outcome.clone() }).await?;
        let left_out = recorder.state(|state| !state.missing().is_empty());
        let is_done = match outcome {
            RunOutcome::Proven => true,
            RunOutcome::NotProven { .. } => !left_out,
            RunOutcome::Failed { .. } | RunOutcome::Interrupted { .. } => false,
        };
        Ok(Finished { outcome, is_done, head: recorder.flushed().await? })
    }

    fn take_end(&mut self, unit: Unit, outcome: UnitOutcome) -> Result<(), RecordError> {
        match outcome {
            UnitOutcome::Passed { .. } => {
                let ready = self.schedule.passed(&unit);
                self.start_all(ready)?;
            }
            UnitOutcome::Failed { cause } | UnitOutcome::Unknown { cause } => {
                self.failed.insert(unit, cause);
                if self.work.after_failure() == AfterFailure::Halt {
                    self.halt.ask();
                }
            }
            UnitOutcome::Stopped => {}
        }
        Ok(())
    }

    /// Starts units, and those that wait only for units that are skipped.
    fn start_all(&mut self, ready: Vec<Unit>) -> Result<(), RecordError> {
        let mut ready = VecDeque::from(ready);
        while let Some(unit) = ready.pop_front() {
            if self.may_start(&unit) && !self.start_or_skip(&unit)? {
                ready.extend(self.schedule.passed(&unit));
            }
        }
        Ok(())
    }

    fn may_start(&self, unit: &Unit) -> bool {
        !self.halt.is_asked()
            && !self.engine.cancel.is_asked()
            && self.asked_for.contains(&unit.stage)
    }

    /// Returns whether the unit was started rather than skipped.
    fn start_or_skip(&mut self, unit: &Unit) -> Result<bool, RecordError> {
        if let Some(skip) = self.work.skip(unit, None) {
            let stage = self.plan.stage(&unit.stage);
            let required = stage.is_some_and(|stage| stage.is_required(None));
            let (unit, reason) = (unit.clone(), skip.reason);
            self.record(What::Skipped { unit, check: None, required, reason })?;
            return Ok(false);
        }
        let run = self.unit_run(unit.clone());
        self.running.spawn(run.run());
        Ok(true)
    }

    fn unit_run(&self, unit: Unit) -> UnitRun<W> {
        let stage = self.plan.stage(&unit.stage).expect("the schedule knows the plan's units");
        let ledger = self.engine.session.ledger.clone();
        let nudge = Arc::new(Notify::new());
        let eyes = Eyes { unit: unit.clone(), ledger: ledger.clone(), nudge };
        let under_way = watch::Sender::new(0);
        UnitRun {
            stage: stage.clone(),
            unit,
            work: Arc::clone(&self.work),
            hands: Hands { eyes, ledger, cancel: self.halt.clone(), attempt: 0, under_way },
            chance: self.engine.chance.clone(),
            backoff: self.engine.backoff,
            confirmation: Confirmation::new(self.plan.simulated_speed),
        }
    }

    /// Says of every unit that was not started why it will not run.
    fn give_up_the_rest(&self) -> Result<(), RecordError> {
        for unit in self.plan.units() {
            let state = self.engine.session.ledger.recorder().state(|state| state.unit(&unit));
            if state == Some(UnitState::Planned) {
                let because = self.hindrance(&unit);
                self.record(What::WillNotRun { unit, because })?;
            }
        }
        Ok(())
    }

    fn hindrance(&self, unit: &Unit) -> Hindrance {
        match self.first_failed() {
            _ if !self.asked_for.contains(&unit.stage) => Hindrance::NotAsked,
            Some((unit, _)) => Hindrance::Failed { unit },
            None => Hindrance::Interrupted,
        }
    }

    /// Of units that fail together, the journal knows which was first.
    fn first_failed(&self) -> Option<(Unit, Cause)> {
        let recorder = self.engine.session.ledger.recorder();
        let unit = recorder.state(|state| state.first_failed().cloned())?;
        let cause = self.failed.get(&unit)?.clone();
        Some((unit, cause))
    }

    fn outcome(&self) -> RunOutcome {
        if let Some((unit, cause)) = self.first_failed() {
            return RunOutcome::Failed { unit, cause };
        }
        let recorder = self.engine.session.ledger.recorder();
        let (stopped, mut missing) = recorder.state(|state| {
            let stopped = state.units().any(|(_, unit)| unit == UnitState::Stopped);
            (stopped, state.missing().to_vec())
        });
        let not_asked = self.plan.stages.iter().filter(|s| !self.asked_for.contains(&s.name));
        missing.extend(not_asked.map(|stage| format!("{}: not asked for", stage.name)));
        if stopped || self.was_cut_short() {
            return RunOutcome::Interrupted { how: Interruption::Asked };
        }
        if missing.is_empty() { RunOutcome::Proven } else { RunOutcome::NotProven { missing } }
    }

    /// Returns whether a unit that was asked for was never started.
    fn was_cut_short(&self) -> bool {
        let recorder = self.engine.session.ledger.recorder();
        recorder.state(|state| {
            state.units().any(|(unit, is)| {
                is == UnitState::WillNotRun && self.asked_for.contains(&unit.stage)
            })
        })
    }

    fn record(&self, what: What) -> Result<(), RecordError> {
        self.engine.session.ledger.recorder().record(1, what).map(|_| ())
    }
}

/// Returns the stages that a run is to go through: all, or some and whatever they
/// come after.
fn asked_for(plan: &Plan, until: &Until) -> Result<BTreeSet<StageName>, EngineError> {
    let all = || plan.stages.iter().map(|stage| stage.name.clone());
    let mut asked = match until {
        Until::TheEnd => return Ok(all().collect()),
        Until::Stage(last) => BTreeSet::from([last.clone()]),
    };
    if let Some(name) = asked.iter().find(|name| plan.stage(name).is_none()) {
        let known = all().map(String::from).collect();
        return Err(EngineError::UnknownStage { name: name.clone(), known });
    }
    // A stage only comes after stages before it in the table.
    for stage in plan.stages.iter().rev() {
        if asked.contains(&stage.name) {
            asked.extend(stage.after.iter().map(|after| after.stage.clone()));
        }
    }
    Ok(asked)
}
