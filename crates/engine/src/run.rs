//! Running a plan: starts units as their prerequisites pass, and ends the run.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use events::{
    Digest, Hindrance, Interruption, Ledger, Plan, RecordError, RunId, RunOutcome, StageName, Unit,
    UnitOutcome, UnitState, What,
};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::schedule::Schedule;
use crate::unit_run::UnitRun;
use crate::{Backoff, Cancel, Chance, Eyes, Hands, Work};

/// All that a run needs beside its work.
#[derive(Debug)]
pub struct Engine {
    /// The journal, and what earlier runs left in theirs.
    pub ledger: Ledger,
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

/// A run that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub outcome: RunOutcome,
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
    running: JoinSet<Result<(Unit, UnitOutcome), RecordError>>,
    failed: Option<(Unit, UnitOutcome)>,
}

// === impl Engine ===

impl Engine {
    /// Runs the plan to its end, to a failure, or until it is asked to stop.
    ///
    /// Nothing is destroyed on failure: after the first failed unit nothing new
    /// is started, and what is under way is finished.
    ///
    /// # Errors
    ///
    /// Only where the journal cannot be written, or the plan cannot be run.
    pub async fn run<W: Work>(
        self,
        plan: Plan,
        until: &Until,
        resumes: Option<RunId>,
        work: Arc<W>,
    ) -> Result<Finished, RecordError> {
        let start = What::RunStarted { plan: Box::new(plan.clone()), resumes };
        self.ledger.recorder().record_durably(1, start).await?;
        let run = Run {
            asked_for: asked_for(&plan, until),
            schedule: Schedule::new(&plan),
            engine: self,
            work,
            plan,
            running: JoinSet::new(),
            failed: None,
        };
        run.finish().await
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
        let recorder = self.engine.ledger.recorder();
        // What is still on its way to the disk counts too.
        recorder.flushed().await?;
        let removed = recorder.hidden();
        if !removed.0.is_empty() {
            recorder.record(1, What::Redacted { removed })?;
        }
        recorder.record_durably(1, What::RunEnded { outcome: outcome.clone() }).await?;
        Ok(Finished { outcome, head: recorder.flushed().await? })
    }

    fn take_end(&mut self, unit: Unit, outcome: UnitOutcome) -> Result<(), RecordError> {
        match outcome {
            UnitOutcome::Passed { .. } => {
                let ready = self.schedule.passed(&unit);
                self.start_all(ready)?;
            }
            UnitOutcome::Failed { .. } => {
                self.failed.get_or_insert((unit, outcome));
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
        self.failed.is_none()
            && !self.engine.cancel.is_asked()
            && self.asked_for.contains(&unit.stage)
    }

    /// Returns whether the unit was started rather than skipped.
    fn start_or_skip(&mut self, unit: &Unit) -> Result<bool, RecordError> {
        if let Some(skip) = self.work.skip(unit, None) {
            let (unit, required, reason) = (unit.clone(), skip.required, skip.reason);
            self.record(What::Skipped { unit, check: None, required, reason })?;
            return Ok(false);
        }
        let run = self.unit_run(unit.clone());
        self.running.spawn(run.run());
        Ok(true)
    }

    fn unit_run(&self, unit: Unit) -> UnitRun<W> {
        let stage = self.plan.stage(&unit.stage).expect("the schedule knows the plan's units");
        let ledger = self.engine.ledger.clone();
        let recorder = ledger.recorder().clone();
        let eyes = Eyes { unit: unit.clone(), recorder, nudge: Arc::new(Notify::new()) };
        UnitRun {
            stage: stage.clone(),
            unit,
            work: Arc::clone(&self.work),
            hands: Hands { eyes, ledger, cancel: self.engine.cancel.clone(), attempt: 0 },
            chance: self.engine.chance.clone(),
            backoff: self.engine.backoff,
        }
    }

    /// Says of every unit that was not started why it will not run.
    fn give_up_the_rest(&self) -> Result<(), RecordError> {
        for unit in self.plan.units() {
            let state = self.engine.ledger.recorder().state(|state| state.unit(&unit));
            if state == Some(UnitState::Planned) {
                let because = self.hindrance(&unit);
                self.record(What::WillNotRun { unit, because })?;
            }
        }
        Ok(())
    }

    fn hindrance(&self, unit: &Unit) -> Hindrance {
        match &self.failed {
            _ if !self.asked_for.contains(&unit.stage) => Hindrance::NotAsked,
            Some((failed, _)) => Hindrance::Failed { unit: failed.clone() },
            None => Hindrance::Interrupted,
        }
    }

    fn outcome(&self) -> RunOutcome {
        if let Some((unit, UnitOutcome::Failed { cause })) = &self.failed {
            return RunOutcome::Failed { unit: unit.clone(), cause: cause.clone() };
        }
        let recorder = self.engine.ledger.recorder();
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
        let recorder = self.engine.ledger.recorder();
        recorder.state(|state| {
            state.units().any(|(unit, is)| {
                is == UnitState::WillNotRun && self.asked_for.contains(&unit.stage)
            })
        })
    }

    fn record(&self, what: What) -> Result<(), RecordError> {
        self.engine.ledger.recorder().record(1, what).map(|_| ())
    }
}

/// Returns the stages that a run is to go through: all, or one and whatever it
/// comes after.
fn asked_for(plan: &Plan, until: &Until) -> BTreeSet<StageName> {
    let all = || plan.stages.iter().map(|stage| stage.name.clone());
    let Until::Stage(last) = until else { return all().collect() };
    let mut asked = BTreeSet::from([last.clone()]);
    // A stage only comes after stages before it in the table.
    for stage in plan.stages.iter().rev() {
        if asked.contains(&stage.name) {
            asked.extend(stage.after.iter().map(|after| after.stage.clone()));
        }
    }
    asked
}
