//! One piece of work: a stage as a whole, or a stage on one node.

use events::{Call, CallOutcome, Cause, CheckName, Failure, NodeName, PlannedStage, Unit};
use serde::{Deserialize, Serialize};

use super::{Check, CheckState, Moment};
use crate::text::line;

/// A unit, what it tried and called, and what its checks said.
#[derive(Clone, Debug)]
pub struct UnitStory {
    /// The unit.
    pub unit: Unit,
    /// Where it stands.
    pub standing: Standing,
    /// When it started.
    pub started: Option<Moment>,
    /// When it was over.
    pub ended: Option<Moment>,
    /// Its tries, oldest first.
    pub attempts: Vec<Attempt>,
    /// Its gates and probes, in the order of the plan.
    pub checks: Vec<Check>,
    /// The mutating calls it made, oldest first.
    pub calls: Vec<CallMade>,
}

/// Where a unit stands, and why.
#[derive(Clone, Debug)]
pub enum Standing {
    /// Announced.
    Planned,
    /// Started.
    Running,
    /// Every check of it was ready.
    Passed {
        /// The line that people see.
        summary: String,
    },
    /// It failed.
    Failed {
        /// Why.
        cause: Cause,
    },
    /// What it judges could not be read.
    Unknown {
        /// Why not.
        cause: Cause,
    },
    /// It was stopped between two calls, or its process died.
    Stopped,
    /// It was left out.
    Skipped {
        /// Whether the run cannot be proven without it.
        required: bool,
        /// Why.
        reason: String,
    },
    /// It will not run.
    NotRun {
        /// Because of what.
        because: String,
    },
}

/// Where a unit, or a whole stage, stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Announced.
    Planned,
    /// Started and not over.
    Running,
    /// Every check was ready.
    Passed,
    /// It failed.
    Failed,
    /// What it judges could not be read.
    Unknown,
    /// It was stopped.
    Stopped,
    /// It was left out.
    Skipped,
    /// It did not run, or not on every node.
    NotRun,
}

/// One try of a unit to act.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// When it began.
    pub moment: Moment,
    /// What ended the try before it.
    pub after: Option<Failure>,
}

/// A mutating call and what came of it.
#[derive(Clone, Debug)]
pub struct CallMade {
    /// When it was intended.
    pub moment: Moment,
    /// In which try of the unit.
    pub attempt: u32,
    /// The call.
    pub call: Call,
    /// When the answer came, and what it was; none while it is open.
    pub result: Option<(Moment, CallOutcome)>,
    /// What a later look found, where the answer was in doubt.
    pub settled: Option<String>,
}

// === impl UnitStory ===

impl UnitStory {
    pub(crate) fn new(stage: &PlannedStage, unit: &Unit) -> Self {
        let node = unit.node.as_ref();
        Self {
            unit: Unit {
                stage: line(unit.stage.as_str()).into(),
                node: node.map(|node| NodeName::from(line(node.as_str()))),
            },
            standing: Standing::Planned,
            started: None,
            ended: None,
            attempts: Vec::new(),
            checks: stage.checks.iter().map(Check::new).collect(),
            calls: Vec::new(),
        }
    }

    /// Returns where it stands.
    pub fn state(&self) -> State {
        match self.standing {
            Standing::Planned => State::Planned,
            Standing::Running => State::Running,
            Standing::Passed { .. } => State::Passed,
            Standing::Failed { .. } => State::Failed,
            Standing::Unknown { .. } => State::Unknown,
            Standing::Stopped => State::Stopped,
            Standing::Skipped { .. } => State::Skipped,
            Standing::NotRun { .. } => State::NotRun,
        }
    }

    /// Returns the milliseconds it took, up to `now_ms` while it runs.
    pub fn took_ms(&self, now_ms: u64) -> Option<u64> {
        let end = self.ended.map_or(now_ms, |moment| moment.at_ms);
        self.started.map(|started| started.until(end))
    }

    /// Returns why it failed, or could not be judged.
    pub fn cause(&self) -> Option<&Cause> {
        match &self.standing {
            Standing::Failed { cause } | Standing::Unknown { cause } => Some(cause),
            _ => None,
        }
    }

    /// Returns the deadline that it failed before, where waiting for it cannot help.
    pub fn spared_ms(&self) -> Option<u64> {
        let cause = self.cause().filter(|cause| !cause.heals_by_waiting())?;
        let by = cause.shown_by.as_ref().map(|shown| line(shown.check.as_str()));
        // Acting may take as long as the first check.
        let mut checks = self.checks.iter();
        let check = match by {
            Some(name) => checks.find(|check| check.name.as_str() == name),
            None => checks.next(),
        };
        let waited = cause.shown_by.as_ref().map(|shown| shown.waited_ms);
        let waited = waited.or_else(|| self.took_ms(self.ended?.at_ms)).unwrap_or(0);
        check.map(|check| check.deadline_ms).filter(|deadline| waited < *deadline)
    }

    /// Returns the line that tells how it ended.
    pub fn summary(&self) -> &str {
        match &self.standing {
            Standing::Passed { summary } if !summary.is_empty() => summary,
            Standing::Passed { .. } => self.evidence_summary(),
            Standing::Failed { cause } | Standing::Unknown { cause } => &cause.message,
            Standing::Skipped { reason, .. } => reason,
            Standing::NotRun { because } => because,
            Standing::Planned | Standing::Running | Standing::Stopped => "",
        }
    }

    /// Returns the check that it failed at, or that could not be judged.
    pub fn failed_check(&self) -> Option<&Check> {
        let ended = match self.standing {
            Standing::Unknown { .. } => CheckState::Unknown,
            _ => CheckState::Failed,
        };
        self.checks.iter().find(|check| check.state() == ended)
    }

    /// Returns the tries that failed and were followed by another.
    pub fn failed_attempts(&self) -> impl Iterator<Item = (u32, &Failure)> {
        self.attempts
            .iter()
            .filter_map(|attempt| Some((attempt.number - 1, attempt.after.as_ref()?)))
    }

    /// Returns the check that its wait is for now, and what that check said last.
    pub fn waiting_for(&self) -> Option<(&Check, String)> {
        self.checks
            .iter()
            .find(|check| matches!(check.state(), CheckState::Waiting | CheckState::Unknown))
            .and_then(|check| Some((check, check.last()?.to_string())))
    }

    /// Returns the call that is under way.
    pub fn open_call(&self) -> Option<&CallMade> {
        self.calls.iter().rev().find(|call| call.result.is_none())
    }

    pub(crate) fn check_mut(&mut self, name: &CheckName) -> Option<&mut Check> {
        let told = line(name.as_str());
        self.checks.iter_mut().find(|check| check.name.as_str() == told)
    }

    fn evidence_summary(&self) -> &str {
        self.checks.iter().rev().find_map(Check::evidence).map_or("", |evidence| &evidence.summary)
    }
}

// === impl State ===

impl State {
    /// Returns the word that people read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Running => "running",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Stopped => "stopped",
            Self::Skipped => "skipped",
            Self::NotRun => "not run",
        }
    }

    /// Returns whether nothing more will happen.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Planned | Self::Running)
    }
}
