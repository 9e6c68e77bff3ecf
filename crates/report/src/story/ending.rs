//! How a run ended, in words and numbers.

use events::{Cause, Claim, Interruption, RunOutcome, Unit};

use serde::{Deserialize, Serialize};

use super::{CheckState, Moment, State, Story, UnitStory};

/// How the run ended.
#[derive(Clone, Debug)]
pub struct Ending {
    /// When.
    pub moment: Moment,
    /// How.
    pub outcome: RunOutcome,
}

/// How a run stands, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It goes on, or its end is not known.
    Open,
    /// Every required check was ready, and stayed so.
    Proven,
    /// Every required check was ready when it was looked at.
    Healthy,
    /// Nothing of the cluster is left.
    Removed,
    /// Nothing failed, but something required was left out.
    NotProven,
    /// A unit failed.
    Failed,
    /// No unit failed, and what one judges could not be read.
    Unknown,
    /// It was asked to stop.
    Stopped,
    /// Its process died.
    CutOff,
}

/// How many of each there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Stages that passed.
    pub stages_passed: usize,
    /// Stages that failed.
    pub stages_failed: usize,
    /// Stages that could not be judged.
    pub stages_unknown: usize,
    /// Stages that were stopped.
    pub stages_stopped: usize,
    /// Stages that were left out.
    pub stages_skipped: usize,
    /// Stages that did not run, or not on every node.
    pub stages_not_run: usize,
    /// Checks that were ready.
    pub checks_ready: usize,
    /// Checks that failed.
    pub checks_failed: usize,
    /// Checks that never said anything final.
    pub checks_unseen: usize,
    /// Tries that failed and were followed by another.
    pub retries: usize,
    /// Mutating calls.
    pub calls: usize,
    /// Warnings.
    pub warnings: usize,
}

// === impl Ending ===

impl Ending {
    /// Returns the unit that failed first, and why.
    pub fn failure(&self) -> Option<(&Unit, &Cause)> {
        match &self.outcome {
            RunOutcome::Failed { unit, cause } => Some((unit, cause)),
            _ => None,
        }
    }
}

// === impl Outcome ===

impl Outcome {
    pub(crate) fn of(story: &Story) -> Self {
        match story.ending().map(|ending| &ending.outcome) {
            None => Self::Open,
            Some(RunOutcome::Proven) => match story.run().map(|run| run.claim) {
                Some(Claim::Healthy) => Self::Healthy,
                Some(Claim::Removed) => Self::Removed,
                Some(Claim::Proven) | None => Self::Proven,
            },
            Some(RunOutcome::NotProven { .. }) => Self::NotProven,
            Some(RunOutcome::Failed { unit, .. }) => match story.unit(unit).map(UnitStory::state) {
                Some(State::Unknown) => Self::Unknown,
                _ => Self::Failed,
            },
            Some(RunOutcome::Interrupted { how }) => match how {
                Interruption::Asked => Self::Stopped,
                Interruption::Died => Self::CutOff,
            },
        }
    }

    /// Returns the word that people read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "not finished",
            Self::Proven => "proven",
            Self::Healthy => "healthy",
            Self::Removed => "removed",
            Self::NotProven => "not proven",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Stopped => "stopped",
            Self::CutOff => "cut off",
        }
    }
}

// === impl Tally ===

impl Tally {
    pub(crate) fn of(story: &Story) -> Self {
        let mut tally = Self { warnings: story.warnings().len(), ..Self::default() };
        for stage in story.stages() {
            tally.count_stage(stage.state());
            for unit in &stage.units {
                tally.count_unit(unit);
            }
        }
        tally
    }

    fn count_stage(&mut self, state: State) {
        match state {
            State::Passed => self.stages_passed += 1,
            State::Failed => self.stages_failed += 1,
            State::Unknown => self.stages_unknown += 1,
            State::Stopped => self.stages_stopped += 1,
            State::Skipped => self.stages_skipped += 1,
            State::NotRun => self.stages_not_run += 1,
            State::Planned | State::Running => {}
        }
    }

    fn count_unit(&mut self, unit: &UnitStory) {
        self.retries += unit.failed_attempts().count();
        self.calls += unit.calls.len();
        for check in &unit.checks {
            match check.state() {
                CheckState::Ready => self.checks_ready += 1,
                CheckState::Failed => self.checks_failed += 1,
                _ => self.checks_unseen += 1,
            }
        }
    }
}
