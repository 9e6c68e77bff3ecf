//! The law of a run: one total function that says which event may follow which.
//!
//! The writer asks it before an event reaches the disk, and the reader asks it
//! again when a journal is replayed; there is no second opinion.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Call, CallOutcome, CheckName, Event, Hindrance, IllegalEvent, IntentRef, Interruption, Plan,
    PlannedCheck, RunId, RunOutcome, Seq, Unit, UnitOutcome, Verdict, What,
};

/// Where a run stands, as its events so far tell.
#[derive(Clone, Debug, Default)]
pub struct RunState {
    run: Option<RunId>,
    last: Seq,
    elapsed_ms: u64,
    plan: Option<Plan>,
    units: BTreeMap<Unit, UnitState>,
    proven: BTreeMap<Unit, BTreeSet<CheckName>>,
    open: BTreeMap<Seq, (Unit, Call)>,
    doubts: BTreeMap<Seq, Call>,
    pins: BTreeMap<String, String>,
    missing: Vec<String>,
    first_failed: Option<Unit>,
    ended: Option<RunOutcome>,
}

/// Where a unit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitState {
    /// Announced.
    Planned,
    /// Started, in its n-th try; 0 before the first.
    Running {
        /// The number of the try.
        attempt: u32,
    },
    /// Every check was ready.
    Passed,
    /// It failed.
    Failed,
    /// What it judges could not be read.
    Unknown,
    /// It was stopped between two calls.
    Stopped,
    /// It was left out.
    Skipped,
    /// It will not run.
    WillNotRun,
}

// === impl UnitState ===

impl UnitState {
    /// Returns whether it was judged, or tried to be, and did not pass.
    fn is_in_vain(self) -> bool {
        matches!(self, Self::Failed | Self::Unknown)
    }
}

// === impl RunState ===

impl RunState {
    /// Takes the next event, or refuses it and stays as it is.
    pub fn apply(&mut self, event: &Event) -> Result<(), IllegalEvent> {
        self.check_envelope(event)?;
        self.apply_what(event)?;
        self.run = Some(event.run);
        self.last = event.seq;
        self.elapsed_ms = event.elapsed_ms;
        Ok(())
    }

    /// Returns the announced plan.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Returns how the run ended.
    pub fn ended(&self) -> Option<&RunOutcome> {
        self.ended.as_ref()
    }

    /// Returns the place of the last event.
    pub fn last(&self) -> Seq {
        self.last
    }

    /// Returns the elapsed time of the last event.
    pub fn elapsed_ms(&self) -> u64 {
        self.elapsed_ms
    }

    /// Returns where a unit stands.
    pub fn unit(&self, unit: &Unit) -> Option<UnitState> {
        self.units.get(unit).copied()
    }

    /// Returns all units and where they stand, by name.
    pub fn units(&self) -> impl Iterator<Item = (&Unit, UnitState)> {
        self.units.iter().map(|(unit, state)| (unit, *state))
    }

    /// Returns the intents of which nobody knows what came: those that are in
    /// doubt, and those without a result.
    pub fn doubts(&self) -> impl Iterator<Item = (Seq, &Call)> {
        let open = self.open.iter().map(|(seq, (_, call))| (*seq, call));
        self.doubts.iter().map(|(seq, call)| (*seq, call)).chain(open)
    }

    /// Returns what was left out although the run needs it to be proven.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Returns the first unit that failed; where none did, the first that could not be judged.
    pub fn first_failed(&self) -> Option<&Unit> {
        self.first_failed.as_ref()
    }

    fn check_envelope(&self, event: &Event) -> Result<(), IllegalEvent> {
        if self.run.is_some_and(|run| run != event.run) {
            return Err(IllegalEvent::OtherRun(event.run));
        }
        let expected = self.last.next();
        if event.seq != expected {
            return Err(IllegalEvent::OutOfSequence { found: event.seq, expected });
        }
        if event.elapsed_ms < self.elapsed_ms {
            let (before, after) = (self.elapsed_ms, event.elapsed_ms);
            return Err(IllegalEvent::BackInTime { before, after });
        }
        if self.ended.is_some() {
            return Err(IllegalEvent::AfterTheEnd);
        }
        match (&self.plan, &event.what) {
            (None, What::RunStarted { .. }) => Ok(()),
            (None, _) => Err(IllegalEvent::NotStarted),
            (Some(_), What::RunStarted { .. }) => Err(IllegalEvent::StartedTwice),
            (Some(_), _) => Ok(()),
        }
    }

    fn apply_what(&mut self, event: &Event) -> Result<(), IllegalEvent> {
        match &event.what {
            What::RunStarted { plan, .. } => self.start(plan),
            What::StageStarted { unit } => self.start_unit(unit),
            What::AttemptStarted { unit, .. } => self.start_attempt(unit, event.attempt),
            What::Intent { unit, call } => {
                self.expect_attempt(unit, event.attempt)?;
                self.open.insert(event.seq, (unit.clone(), call.clone()));
                Ok(())
            }
            What::Result { intent, outcome } => self.close_intent(*intent, outcome),
            What::Settled { intent, .. } => self.settle(event.run, *intent),
            What::Probe { unit, check, .. } => self.expect_check(unit, check),
            What::Checked { unit, check, verdict } => {
                self.expect_check(unit, check)?;
                self.note_proof(unit, check, matches!(verdict, Verdict::Ready { .. }));
                Ok(())
            }
            What::Skipped { unit, check: Some(check), required, reason } => {
                self.expect_check(unit, check)?;
                self.expect_importance(unit, Some(check), *required)?;
                self.note_proof(unit, check, true);
                self.note_missing(*required, format!("{unit}, {check}: {reason}"));
                Ok(())
            }
            What::Skipped { unit, check: None, required, reason } => {
                self.expect_importance(unit, None, *required)?;
                self.end_planned(unit, UnitState::Skipped)?;
                self.note_missing(*required, format!("{unit}: {reason}"));
                Ok(())
            }
            What::WillNotRun { unit, because } => self.hinder(unit, because),
            What::Pinned { key, value } => self.pin(key, value),
            What::StageDone { unit, outcome } => self.end_unit(unit, outcome),
            What::RunEnded { outcome } => self.end(outcome),
            What::Warning { unit: Some(unit), .. } => self.planned(unit).map(|_| ()),
            What::Warning { unit: None, .. } | What::Redacted { .. } | What::Unknown => Ok(()),
        }
    }

    fn start(&mut self, plan: &Plan) -> Result<(), IllegalEvent> {
        plan.check().map_err(IllegalEvent::BadPlan)?;
        self.units = plan.units().map(|unit| (unit, UnitState::Planned)).collect();
        self.plan = Some(plan.clone());
        Ok(())
    }

    fn start_unit(&mut self, unit: &Unit) -> Result<(), IllegalEvent> {
        self.expect_planned(unit)?;
        let plan = self.plan.as_ref().ok_or(IllegalEvent::NotStarted)?;
        let done = |unit: &Unit| {
            matches!(self.units.get(unit), Some(UnitState::Passed | UnitState::Skipped))
        };
        if let Some(before) = plan.prerequisites(unit).into_iter().find(|unit| !done(unit)) {
            return Err(IllegalEvent::TooEarly { unit: unit.clone(), before });
        }
        self.units.insert(unit.clone(), UnitState::Running { attempt: 0 });
        Ok(())
    }

    fn start_attempt(&mut self, unit: &Unit, attempt: u32) -> Result<(), IllegalEvent> {
        let expected = self.expect_running(unit)? + 1;
        if attempt != expected {
            return Err(IllegalEvent::WrongAttempt {
                unit: unit.clone(),
                found: attempt,
                expected,
            });
        }
        self.units.insert(unit.clone(), UnitState::Running { attempt });
        Ok(())
    }

    fn close_intent(&mut self, intent: Seq, outcome: &CallOutcome) -> Result<(), IllegalEvent> {
        let (_, call) = self.open.remove(&intent).ok_or(IllegalEvent::NoSuchIntent(intent))?;
        if matches!(outcome, CallOutcome::InDoubt { .. }) {
            self.doubts.insert(intent, call);
        }
        Ok(())
    }

    /// An intent of an earlier run cannot be looked up here; the history over
    /// all runs keeps those.
    fn settle(&mut self, run: RunId, intent: IntentRef) -> Result<(), IllegalEvent> {
        if intent.run == run && self.doubts.remove(&intent.seq).is_none() {
            return Err(IllegalEvent::NoSuchIntent(intent.seq));
        }
        Ok(())
    }

    fn pin(&mut self, key: &str, value: &str) -> Result<(), IllegalEvent> {
        match self.pins.get(key) {
            Some(pinned) if pinned != value => Err(IllegalEvent::PinnedTwice(key.to_owned())),
            _ => {
                self.pins.insert(key.to_owned(), value.to_owned());
                Ok(())
            }
        }
    }

    fn hinder(&mut self, unit: &Unit, because: &Hindrance) -> Result<(), IllegalEvent> {
        match because {
            Hindrance::Failed { unit } if !self.unit(unit).is_some_and(UnitState::is_in_vain) => {
                Err(IllegalEvent::HasNotFailed(unit.clone()))
            }
            _ => self.end_planned(unit, UnitState::WillNotRun),
        }
    }

    fn end_planned(&mut self, unit: &Unit, state: UnitState) -> Result<(), IllegalEvent> {
        self.expect_planned(unit)?;
        self.units.insert(unit.clone(), state);
        Ok(())
    }

    fn end_unit(&mut self, unit: &Unit, outcome: &UnitOutcome) -> Result<(), IllegalEvent> {
        self.expect_running(unit)?;
        if let Some((intent, _)) = self.open.iter().find(|(_, (owner, _))| owner == unit) {
            return Err(IllegalEvent::IntentOpen { unit: unit.clone(), intent: *intent });
        }
        let state = match outcome {
            UnitOutcome::Passed { .. } => {
                self.expect_proof(unit)?;
                UnitState::Passed
            }
            UnitOutcome::Failed { .. } => UnitState::Failed,
            UnitOutcome::Unknown { .. } => UnitState::Unknown,
            UnitOutcome::Stopped => UnitState::Stopped,
        };
        if state.is_in_vain() && self.is_worse(state) {
            self.first_failed = Some(unit.clone());
        }
        self.units.insert(unit.clone(), state);
        self.proven.remove(unit);
        Ok(())
    }

    /// What is known to be wrong tells more than what is not known.
    fn is_worse(&self, state: UnitState) -> bool {
        match self.first_failed.as_ref().and_then(|unit| self.unit(unit)) {
            None => true,
            Some(first) => first == UnitState::Unknown && state == UnitState::Failed,
        }
    }

    fn end(&mut self, outcome: &RunOutcome) -> Result<(), IllegalEvent> {
        // A dead process leaves its units where they were.
        if *outcome != (RunOutcome::Interrupted { how: Interruption::Died }) {
            self.check_outcome(outcome)?;
        }
        self.ended = Some(outcome.clone());
        Ok(())
    }

    fn check_outcome(&self, outcome: &RunOutcome) -> Result<(), IllegalEvent> {
        let over =
            |state: &UnitState| !matches!(state, UnitState::Planned | UnitState::Running { .. });
        if let Some((unit, _)) = self.units.iter().find(|(_, state)| !over(state)) {
            return Err(IllegalEvent::UnitOpen(unit.clone()));
        }
        let whole = self.missing.is_empty() && !self.any(UnitState::WillNotRun);
        let wrong = |text| Err(IllegalEvent::WrongOutcome(text));
        match outcome {
            RunOutcome::Failed { unit, .. } if self.first_failed.as_ref() == Some(unit) => Ok(()),
            RunOutcome::Failed { .. } => wrong("another unit failed first, or none did"),
            _ if self.first_failed.is_some() => wrong("a unit failed"),
            RunOutcome::Interrupted { .. } if !self.any(UnitState::Stopped) && whole => {
                wrong("nothing was left to do")
            }
            RunOutcome::Interrupted { .. } => Ok(()),
            _ if self.any(UnitState::Stopped) => wrong("a unit was stopped"),
            RunOutcome::Proven if !whole => wrong("something required was left out"),
            RunOutcome::NotProven { .. } if whole => wrong("nothing required was left out"),
            RunOutcome::Proven | RunOutcome::NotProven { .. } => Ok(()),
        }
    }

    fn any(&self, wanted: UnitState) -> bool {
        self.units.values().any(|state| *state == wanted)
    }

    /// Takes down whether a check stands as ready or left out.
    fn note_proof(&mut self, unit: &Unit, check: &CheckName, stands: bool) {
        let proven = self.proven.entry(unit.clone()).or_default();
        if stands {
            proven.insert(check.clone());
        } else {
            proven.remove(check);
        }
    }

    fn note_missing(&mut self, required: bool, what: String) {
        if required {
            self.missing.push(what);
        }
    }

    fn planned(&self, unit: &Unit) -> Result<UnitState, IllegalEvent> {
        self.unit(unit).ok_or_else(|| IllegalEvent::Unplanned(unit.clone()))
    }

    fn expect_planned(&self, unit: &Unit) -> Result<(), IllegalEvent> {
        match self.planned(unit)? {
            UnitState::Planned => Ok(()),
            state => Err(IllegalEvent::WrongState { unit: unit.clone(), state }),
        }
    }

    fn expect_running(&self, unit: &Unit) -> Result<u32, IllegalEvent> {
        match self.planned(unit)? {
            UnitState::Running { attempt } => Ok(attempt),
            state => Err(IllegalEvent::WrongState { unit: unit.clone(), state }),
        }
    }

    fn expect_attempt(&self, unit: &Unit, found: u32) -> Result<(), IllegalEvent> {
        let expected = self.expect_running(unit)?;
        if found == expected {
            return Ok(());
        }
        Err(IllegalEvent::WrongAttempt { unit: unit.clone(), found, expected })
    }

    fn expect_proof(&self, unit: &Unit) -> Result<(), IllegalEvent> {
        let stage = self.plan.as_ref().and_then(|plan| plan.stage(&unit.stage));
        let proven = self.proven.get(unit);
        let lacks = |check: &&PlannedCheck| {
            check.required && !proven.is_some_and(|proven| proven.contains(&check.name))
        };
        match stage.and_then(|stage| stage.checks.iter().find(lacks)) {
            Some(PlannedCheck { name, .. }) => {
                Err(IllegalEvent::Unproven { unit: unit.clone(), check: name.clone() })
            }
            None => Ok(()),
        }
    }

    /// What the proof needs was announced, and is not decided by whoever skips it.
    fn expect_importance(
        &self,
        unit: &Unit,
        check: Option<&CheckName>,
        required: bool,
    ) -> Result<(), IllegalEvent> {
        let stage = self.plan.as_ref().and_then(|plan| plan.stage(&unit.stage));
        let planned = stage.is_some_and(|stage| stage.is_required(check));
        if planned == required {
            return Ok(());
        }
        Err(IllegalEvent::WrongImportance { unit: unit.clone(), required })
    }

    fn expect_check(&self, unit: &Unit, check: &CheckName) -> Result<(), IllegalEvent> {
        self.expect_running(unit)?;
        let stage = self.plan.as_ref().and_then(|plan| plan.stage(&unit.stage));
        if stage.is_some_and(|stage| stage.check_named(check).is_some()) {
            return Ok(());
        }
        Err(IllegalEvent::UnplannedCheck { unit: unit.clone(), check: check.clone() })
    }
}
