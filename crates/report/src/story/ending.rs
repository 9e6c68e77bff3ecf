//! How a run ended, in words and numbers.

use events::{Cause, Interruption, RunOutcome, Unit};

use super::{CheckState, Moment, State, Story, UnitStory};

/// How the run ended.
#[derive(Clone, Debug)]
pub struct Ending {
    /// When.
    pub moment: Moment,
    /// How.
    pub outcome: RunOutcome,
}

/// How many of each there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Stages that passed.
    pub stages_passed: usize,
    /// Stages that failed.
    pub stages_failed: usize,
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
    /// Returns the word that people read.
    pub fn word(&self) -> &'static str {
        match &self.outcome {
            RunOutcome::Proven => "proven",
            RunOutcome::NotProven { .. } => "not proven",
            RunOutcome::Failed { .. } => "failed",
            RunOutcome::Interrupted { how: Interruption::Asked } => "stopped",
            RunOutcome::Interrupted { how: Interruption::Died } => "cut off",
        }
    }

    /// Returns the unit that failed first, and why.
    pub fn failure(&self) -> Option<(&Unit, &Cause)> {
        match &self.outcome {
            RunOutcome::Failed { unit, cause } => Some((unit, cause)),
            _ => None,
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
