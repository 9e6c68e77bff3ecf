//! The one vocabulary of what happens in a run.
//!
//! Every report is a fold over these events and nothing else. Polls are not
//! events: a gate is recorded when its verdict changes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Call, CallOutcome, Cause, CheckName, Digest, Evidence, Failure, IntentRef, Made, Plan, RunId,
    SecretsLedger, Seq, Unit, Verdict,
};

/// One thing that happened, as it stands in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The run it belongs to.
    pub run: RunId,
    /// Its place in the journal.
    pub seq: Seq,
    /// When it happened.
    pub at: Timestamp,
    /// How long after the start of the run, in milliseconds.
    pub elapsed_ms: u64,
    /// Which try of its unit this was part of, from 1; 1 for events of the whole run.
    pub attempt: u32,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum What {
    /// The run begins; the whole plan is announced. Always first, exactly once.
    RunStarted {
        /// All that will be done.
        plan: Box<Plan>,
        /// The run that was not finished and that this one goes on from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resumes: Option<RunId>,
    },
    /// A unit begins. All its prerequisites have passed.
    StageStarted {
        /// The unit.
        unit: Unit,
    },
    /// A unit tries to act. The first try is announced too.
    AttemptStarted {
        /// The unit.
        unit: Unit,
        /// What ended the try before this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Failure>,
    },
    /// A mutating call is about to be made.
    Intent {
        /// The unit that makes it.
        unit: Unit,
        /// The call.
        call: Call,
    },
    /// What came of an intent of this run.
    Result {
        /// The intent's place in this journal.
        intent: Seq,
        /// What came of it.
        outcome: CallOutcome,
    },
    /// An intent in doubt, of this run or an earlier one, was settled by looking.
    Settled {
        /// The intent.
        intent: IntentRef,
        /// The call, in words: its intent may stand in the journal of an earlier run.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        call: String,
        /// What was found; nothing where the call never arrived.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<Made>,
    },
    /// A choice that later runs must keep, such as the bootstrap target.
    Pinned {
        /// What was chosen.
        key: String,
        /// The choice.
        value: String,
    },
    /// A gate or probe said something else than before.
    Checked {
        /// The unit it proves.
        unit: Unit,
        /// The gate or probe.
        check: CheckName,
        /// What it said.
        verdict: Verdict,
    },
    /// A probe starts to write, or an earlier result of it is taken.
    Probe {
        /// The unit it proves.
        unit: Unit,
        /// The probe.
        check: CheckName,
        /// The digest of all that its result depends on.
        inputs: Digest,
        /// The run whose fresh result is taken instead of a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reused: Option<RunId>,
    },
    /// How often secrets were kept from the disk, before the end of the run.
    Redacted {
        /// How often, by the names they are known by.
        removed: SecretsLedger,
    },
    /// Something that people should know and that stops nothing.
    Warning {
        /// The unit it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<Unit>,
        /// What they should know.
        message: String,
    },
    /// A unit, or one check of a running unit, is left out.
    Skipped {
        /// The unit.
        unit: Unit,
        /// The check; none: the whole unit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        check: Option<CheckName>,
        /// Whether the run cannot be proven without it.
        required: bool,
        /// Why.
        reason: String,
    },
    /// A unit will not run, because of something else. Ends the unit.
    WillNotRun {
        /// The unit.
        unit: Unit,
        /// Because of what.
        because: Hindrance,
    },
    /// A unit is over. Ends the unit.
    StageDone {
        /// The unit.
        unit: Unit,
        /// How it ended.
        outcome: UnitOutcome,
    },
    /// The run is over. Always last.
    RunEnded {
        /// How it ended.
        outcome: RunOutcome,
    },
    /// Something that a newer version of the tool wrote.
    #[serde(other)]
    Unknown,
}

/// What keeps a unit from running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by")]
pub enum Hindrance {
    /// Another unit failed.
    Failed {
        /// The unit.
        unit: Unit,
    },
    /// The run was asked to stop.
    Interrupted,
    /// The run was to go only so far (`--until`).
    NotAsked,
}

/// How a unit ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum UnitOutcome {
    /// Every check of it was ready.
    Passed {
        /// The line that people see.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        summary: String,
    },
    /// It failed.
    Failed {
        /// Why.
        cause: Cause,
    },
    /// A check of it could not read what it judges: nothing speaks for it or against it.
    Unknown {
        /// Why it could not be read.
        cause: Cause,
    },
    /// It was stopped between two calls, because the run was asked to stop.
    Stopped,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum RunOutcome {
    /// Every required check was ready.
    Proven,
    /// Nothing failed, but something required was left out.
    NotProven {
        /// What was left out.
        missing: Vec<String>,
    },
    /// A unit failed.
    Failed {
        /// The first unit that failed.
        unit: Unit,
        /// Why.
        cause: Cause,
    },
    /// It was asked to stop, or its process died; it can be resumed.
    Interrupted {
        /// What happened.
        how: Interruption,
    },
}

/// What interrupted a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interruption {
    /// Somebody asked for it; calls under way were finished.
    Asked,
    /// The process died; a later run noticed it and closed the journal.
    Died,
}

// === impl UnitOutcome ===

impl UnitOutcome {
    /// Returns why it did not pass.
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            Self::Failed { cause } | Self::Unknown { cause } => Some(cause),
            Self::Passed { .. } | Self::Stopped => None,
        }
    }
}

// === impl What ===

impl What {
    /// Returns the evidence that the event carries.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Self::Checked { verdict, .. } => verdict.evidence(),
            Self::StageDone { outcome, .. } => outcome.cause()?.evidence.as_deref(),
            Self::RunEnded { outcome: RunOutcome::Failed { cause, .. } } => {
                cause.evidence.as_deref()
            }
            _ => None,
        }
    }

    /// Returns the evidence that the event carries, to be changed.
    pub(crate) fn evidence_mut(&mut self) -> Option<&mut Evidence> {
        match self {
            Self::Checked { verdict, .. } => verdict.evidence_mut(),
            Self::StageDone {
                outcome: UnitOutcome::Failed { cause } | UnitOutcome::Unknown { cause },
                ..
            }
            | Self::RunEnded { outcome: RunOutcome::Failed { cause, .. } } => {
                cause.evidence.as_deref_mut()
            }
            _ => None,
        }
    }

    /// Returns the unit that the event is about.
    pub fn unit(&self) -> Option<&Unit> {
        match self {
            Self::StageStarted { unit }
            | Self::AttemptStarted { unit, .. }
            | Self::Intent { unit, .. }
            | Self::Checked { unit, .. }
            | Self::Probe { unit, .. }
            | Self::Skipped { unit, .. }
            | Self::WillNotRun { unit, .. }
            | Self::StageDone { unit, .. } => Some(unit),
            Self::Warning { unit, .. } => unit.as_ref(),
            Self::RunStarted { .. }
            | Self::Result { .. }
            | Self::Settled { .. }
            | Self::Pinned { .. }
            | Self::Redacted { .. }
            | Self::RunEnded { .. }
            | Self::Unknown => None,
        }
    }
}
