//! Why the law refuses an event: that of one run, and that over all runs.

use crate::{CheckName, IntentRef, InvalidPlan, RunId, Seq, Unit, UnitState};

/// An event that may not stand where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalEvent {
    /// The run has not started.
    #[error("the run has not started")]
    NotStarted,
    /// The run has already started.
    #[error("the run starts a second time")]
    StartedTwice,
    /// The run is over.
    #[error("the run is over, nothing may follow")]
    AfterTheEnd,
    /// The event belongs to another run.
    #[error("the event belongs to run {0}")]
    OtherRun(RunId),
    /// The sequence has a hole or a repetition.
    #[error("sequence number {found} where {expected} was due")]
    OutOfSequence {
        /// The number it has.
        found: Seq,
        /// The number that was due.
        expected: Seq,
    },
    /// Time ran backwards.
    #[error("elapsed time ran backwards, from {before} ms to {after} ms")]
    BackInTime {
        /// The elapsed time of the event before.
        before: u64,
        /// The elapsed time of this event.
        after: u64,
    },
    /// The plan cannot be run.
    #[error("the plan cannot be run")]
    BadPlan(#[source] InvalidPlan),
    /// The unit was never announced.
    #[error("{0} is not part of the plan")]
    Unplanned(Unit),
    /// The check was never announced.
    #[error("{unit} has no check named `{check}`")]
    UnplannedCheck {
        /// The unit.
        unit: Unit,
        /// The check.
        check: CheckName,
    },
    /// A unit passes without the proof that was announced.
    #[error("{unit} passes although its check `{check}` is not ready")]
    Unproven {
        /// The unit.
        unit: Unit,
        /// The check.
        check: CheckName,
    },
    /// The plan and the event differ about whether the proof needs it.
    #[error("{unit} is skipped as if the plan said `required: {required}`, which it does not")]
    WrongImportance {
        /// The unit.
        unit: Unit,
        /// What the event says.
        required: bool,
    },
    /// A choice is pinned a second time, to something else.
    #[error("`{0}` is pinned already, to something else")]
    PinnedTwice(String),
    /// A unit is hindered by one that has not failed.
    #[error("{0} is said to have failed, and has not")]
    HasNotFailed(Unit),
    /// The unit is not in a state that allows this.
    #[error("{unit} is {state:?}")]
    WrongState {
        /// The unit.
        unit: Unit,
        /// Its state.
        state: UnitState,
    },
    /// A prerequisite has not passed.
    #[error("{unit} starts before {before} has passed")]
    TooEarly {
        /// The unit.
        unit: Unit,
        /// Its prerequisite.
        before: Unit,
    },
    /// The number of the try is not the next, or not the present one.
    #[error("{unit} is in try {expected}, not {found}")]
    WrongAttempt {
        /// The unit.
        unit: Unit,
        /// The number the event has.
        found: u32,
        /// The number that was due.
        expected: u32,
    },
    /// The result has no open intent.
    #[error("no intent is open at {0}")]
    NoSuchIntent(Seq),
    /// A unit ends while a call of it is under way.
    #[error("{unit} ends while its intent {intent} is open")]
    IntentOpen {
        /// The unit.
        unit: Unit,
        /// The intent.
        intent: Seq,
    },
    /// The run ends while a unit is not over.
    #[error("the run ends while {0} is not over")]
    UnitOpen(Unit),
    /// The run's outcome does not follow from its units.
    #[error("the outcome does not follow from what happened: {0}")]
    WrongOutcome(&'static str),
}

/// A run that does not fit the runs before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} of run {run} does not fit the runs before it")]
pub struct IllegalRun {
    /// The run.
    pub run: RunId,
    /// Its event; 0 where the run as a whole stands in the wrong place.
    pub seq: Seq,
    /// What is wrong.
    #[source]
    pub breach: RunBreach,
}

/// What a run says of earlier ones, and they do not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunBreach {
    /// The run started before the one that it is to follow.
    #[error("it started before run {last}, which it is to follow")]
    OutOfOrder {
        /// The run before it.
        last: RunId,
    },
    /// It goes on from a run that is not there.
    #[error("it goes on from run {0}, whose journal is missing")]
    UnknownRun(RunId),
    /// It settles a call that no journal holds.
    #[error("it settles the call {0}, which no journal holds: a run's folder is missing")]
    UnknownIntent(IntentRef),
    /// It settles a call of which everything was known.
    #[error("it settles the call {0}, which was not in doubt")]
    NotInDoubt(IntentRef),
    /// It pins a choice that was made otherwise.
    #[error("it pins `{0}`, which an earlier run has pinned to something else")]
    PinnedOtherwise(String),
    /// It reuses a probe's result that no journal holds.
    #[error("it reuses the result of {check} in {unit} from run {run}, which does not hold it")]
    UnknownProbe {
        /// The unit.
        unit: Unit,
        /// The probe.
        check: CheckName,
        /// The run that should hold it.
        run: RunId,
    },
}
