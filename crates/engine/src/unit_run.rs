//! One unit from its start to its end: act until it holds, then every check.

use std::sync::Arc;
use std::time::Duration;

use events::{
    Cause, CheckKind, Code, Digest, Failure, NextStep, PastProbe, PlannedCheck, PlannedStage,
    RecordError, Unit, UnitOutcome, UnitState, Verdict, What,
};
use tokio::time::Instant;

use crate::confirmation::Confirmation;
use crate::hands::panic_text;
use crate::{ActError, Backoff, Chance, Hands, Work, codes};

/// How long a unit without a check may try to act.
const PATIENCE: Duration = Duration::from_mins(10);

/// A unit that is running.
pub(crate) struct UnitRun<W> {
    pub(crate) unit: Unit,
    pub(crate) stage: PlannedStage,
    pub(crate) work: Arc<W>,
    pub(crate) hands: Hands,
    pub(crate) chance: Chance,
    pub(crate) backoff: Backoff,
    /// How the waits of this run grow sure of a cause.
    pub(crate) confirmation: Confirmation,
}

/// Why a unit ended before its last check was ready.
pub(crate) enum UnitEnd {
    /// It failed.
    Failed(Box<Cause>),
    /// A check could not read what it judges.
    Unknown(Box<Cause>),
    /// The run was asked to stop.
    Stopped,
    /// Nothing can be recorded any more.
    Journal(RecordError),
}

// === impl UnitEnd ===

impl UnitEnd {
    pub(crate) fn failed(cause: Cause) -> Self {
        Self::Failed(Box::new(cause))
    }
}

impl From<RecordError> for UnitEnd {
    fn from(error: RecordError) -> Self {
        Self::Journal(error)
    }
}

// === impl UnitRun ===

impl<W: Work> UnitRun<W> {
    /// Runs the unit and records how it ended. A bug in its work fails the unit
    /// and no other.
    pub(crate) async fn run(mut self) -> Result<(Unit, UnitOutcome), RecordError> {
        let (unit, hands, work) = (self.unit.clone(), self.hands.clone(), Arc::clone(&self.work));
        let end = tokio::spawn(async move { self.pass().await }).await.unwrap_or_else(|stopped| {
            let cause =
                Cause::new(codes::BUG, format!("a bug in seaworthy: {}", panic_text(stopped)));
            Err(UnitEnd::failed(cause.so("the journal and the report help to mend it")))
        });
        let outcome = match end {
            Ok(summary) => UnitOutcome::Passed { summary },
            Err(UnitEnd::Failed(cause)) => {
                UnitOutcome::Failed { cause: advised(&*work, &unit, *cause) }
            }
            Err(UnitEnd::Unknown(cause)) => {
                UnitOutcome::Unknown { cause: advised(&*work, &unit, *cause) }
            }
            Err(UnitEnd::Stopped) => UnitOutcome::Stopped,
            Err(UnitEnd::Journal(error)) => return Err(error),
        };
        hands.calls_are_over().await;
        let recorder = hands.ledger.recorder();
        let attempt = recorder.state(|state| match state.unit(&unit) {
            Some(UnitState::Running { attempt }) => attempt.max(1),
            _ => 1,
        });
        recorder
            .record(attempt, What::StageDone { unit: unit.clone(), outcome: outcome.clone() })?;
        Ok((unit, outcome))
    }

    async fn pass(&mut self) -> Result<String, UnitEnd> {
        self.record(What::StageStarted { unit: self.unit.clone() })?;
        self.act().await?;
        let mut summary = String::new();
        for check in self.stage.checks.clone() {
            match self.check(&check).await {
                Ok(seen) if seen.is_empty() => {}
                Ok(seen) => summary = seen,
                Err(UnitEnd::Failed(cause) | UnitEnd::Unknown(cause)) if !check.required => {
                    self.warn(&check, &cause)?;
                }
                Err(end) => return Err(end),
            }
        }
        Ok(summary)
    }

    /// Acts, and again while another try can help and the deadline has not passed.
    async fn act(&mut self) -> Result<(), UnitEnd> {
        let deadline = Instant::now() + self.patience();
        let (mut after, mut confirmation) = (None, self.confirmation);
        loop {
            self.hands.attempt += 1;
            self.record(What::AttemptStarted { unit: self.unit.clone(), after: after.take() })?;
            let (failure, in_the_end) = match self.work.act(&self.unit, &self.hands).await {
                Ok(()) => return Ok(()),
                Err(ActError::Failed(failure)) => (failure, None),
                Err(ActError::NotYet { failure, mut in_the_end }) => {
                    in_the_end.heals.get_or_insert(self.work.heals(in_the_end.code));
                    (failure, Some(in_the_end))
                }
                Err(ActError::Hopeless(cause)) => return Err(UnitEnd::Failed(cause)),
                Err(ActError::Stopped) => return Err(UnitEnd::Stopped),
                Err(ActError::Journal(error)) => return Err(UnitEnd::Journal(error)),
            };
            // An act that gave up may have left other calls under way.
            self.hands.calls_are_over().await;
            let is_sure = confirmation.take(in_the_end.as_deref(), None);
            let deadline = if is_sure { Instant::now() } else { deadline };
            self.pause_after(&failure, in_the_end, deadline).await?;
            after = Some(failure);
        }
    }

    async fn pause_after(
        &self,
        failure: &Failure,
        in_the_end: Option<Box<Cause>>,
        deadline: Instant,
    ) -> Result<(), UnitEnd> {
        let tries = self.hands.attempt;
        let end =
            |code| UnitEnd::Failed(in_the_end.unwrap_or_else(|| Box::new(cause_of(code, failure))));
        let Some(pause) = self.backoff.pause(failure.class, tries, &self.chance) else {
            return Err(end(codes::REFUSED));
        };
        if Instant::now() + pause >= deadline {
            return Err(end(codes::NO_SUCCESS_IN_TIME));
        }
        let clock = self.hands.eyes.clock();
        // Only the wait is dropped here, no call.
        tokio::select! {
            biased;
            () = self.hands.cancel.asked() => Err(UnitEnd::Stopped),
            () = clock.sleep(pause) => Ok(()),
        }
    }

    async fn check(&mut self, check: &PlannedCheck) -> Result<String, UnitEnd> {
        if self.hands.cancel.is_asked() {
            return Err(UnitEnd::Stopped);
        }
        if let Some(skip) = self.work.skip(&self.unit, Some(&check.name)) {
            let (unit, required, reason) = (self.unit.clone(), check.required, skip.reason);
            let check = Some(check.name.clone());
            self.record(What::Skipped { unit, check, required, reason })?;
            return Ok(String::new());
        }
        match check.kind {
            CheckKind::Gate => self.wait_for(check).await,
            CheckKind::Probe => self.probe_or_reuse(check).await,
        }
    }

    /// Takes a fresh result with the same inputs instead of writing again.
    async fn probe_or_reuse(&mut self, check: &PlannedCheck) -> Result<String, UnitEnd> {
        let inputs = self.work.inputs(&self.unit, &check.name, &self.hands.eyes).await;
        let fresh = inputs.as_ref().ok().and_then(|inputs| self.fresh(check, *inputs));
        let (unit, name) = (self.unit.clone(), check.name.clone());
        let reused = fresh.as_ref().map(|past| past.run);
        // Inputs that cannot be read are like no others: the probe runs.
        let inputs = inputs.unwrap_or(Digest::ZERO);
        self.record(What::Probe { unit: unit.clone(), check: name.clone(), inputs, reused })?;
        let Some(past) = fresh else { return self.wait_for(check).await };
        let summary = past.evidence.summary.clone();
        self.record(What::Checked { unit, check: name, verdict: Verdict::ready(past.evidence) })?;
        Ok(summary)
    }

    /// Returns a result that may be taken again, with its files brought here.
    fn fresh(&self, check: &PlannedCheck, inputs: Digest) -> Option<PastProbe> {
        let ledger = &self.hands.ledger;
        let past = ledger.history(|history| history.probe(&self.unit, &check.name).cloned())?;
        let age = self.hands.eyes.clock().now().duration_since(past.at).as_millis();
        let is_fresh = past.inputs == inputs && (0..i128::from(check.fresh_ms)).contains(&age);
        let adopt = |file| ledger.recorder().adopt(past.run, file).is_ok();
        (is_fresh && past.evidence.files.iter().all(adopt)).then_some(past)
    }

    /// What is not required for the proof does not fail the unit.
    fn warn(&self, check: &PlannedCheck, cause: &Cause) -> Result<(), UnitEnd> {
        let message = format!("{} is not ready, and not required: {cause}", check.name);
        self.record(What::Warning { unit: Some(self.unit.clone()), message })
    }

    pub(crate) fn record(&self, what: What) -> Result<(), UnitEnd> {
        self.hands.ledger.recorder().record(self.hands.attempt.max(1), what)?;
        Ok(())
    }

    /// Acting may take as long as the first check may be waited for.
    fn patience(&self) -> Duration {
        let first = self.stage.checks.first();
        first.map_or(PATIENCE, |check| Duration::from_millis(check.deadline_ms))
    }
}

/// Every failure says whether waiting can help, and what to do next. The last step is
/// always the page of its code.
fn advised(work: &impl Work, unit: &Unit, mut cause: Cause) -> Cause {
    cause.heals.get_or_insert(work.heals(cause.code));
    let page = format!("seaworthy explain {}", cause.code);
    let explains = cause.next.iter().position(|step| step.command == page);
    let explains = explains.map(|index| cause.next.remove(index));
    cause.next = work.next_steps(unit, &cause);
    cause.next.push(explains.unwrap_or(NextStep { command: page, tells: "tells more".to_owned() }));
    cause
}

fn cause_of(code: Code, failure: &Failure) -> Cause {
    Cause::new(code, &failure.message).because(failure.sources.iter().cloned())
}
