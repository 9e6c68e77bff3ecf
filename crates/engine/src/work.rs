//! What a list of stages has to bring along, so that the engine can run it.

use std::future::Future;

use events::{
    Cause, CheckName, Class, Code, Digest, Failure, Heals, LedgerError, NextStep, RecordError,
    Unit, Verdict,
};

use crate::{AfterFailure, Eyes, Hands};

/// The doing behind the announced units.
///
/// Every method is level-triggered: it looks at the world as it is, not at
/// what an earlier run believed, and may be called any number of times.
pub trait Work: Send + Sync + 'static {
    /// Changes the world towards what the unit wants. Every mutating call goes
    /// through [`Hands`].
    fn act(&self, unit: &Unit, hands: &Hands) -> impl Future<Output = Result<(), ActError>> + Send;

    /// Looks whether a gate of the unit is ready. Only reads, and may be
    /// dropped at any moment.
    fn look(
        &self,
        unit: &Unit,
        gate: &CheckName,
        eyes: &Eyes,
    ) -> impl Future<Output = Verdict> + Send;

    /// Runs a probe of the unit: writes, looks, and cleans up what it wrote.
    fn probe(
        &self,
        unit: &Unit,
        probe: &CheckName,
        hands: &Hands,
    ) -> impl Future<Output = Result<Verdict, ActError>> + Send;

    /// Returns the digest of all that a probe's result depends on.
    fn inputs(
        &self,
        unit: &Unit,
        probe: &CheckName,
        eyes: &Eyes,
    ) -> impl Future<Output = Result<Digest, Failure>> + Send;

    /// Returns what to do next about a unit that failed: the steps of its cause as
    /// commands that can be pasted, or others where it has none. The page of the
    /// cause's code comes after them anyway.
    fn next_steps(&self, unit: &Unit, cause: &Cause) -> Vec<NextStep> {
        let _ = unit;
        cause.next.clone()
    }

    /// Returns whether a cause of this code goes away by waiting, where the cause
    /// does not say: what does not ends a wait before its deadline.
    fn heals(&self, code: Code) -> Heals {
        let _ = code;
        Heals::ByItself
    }

    /// Returns why a unit, or one check of it, is left out.
    fn skip(&self, unit: &Unit, check: Option<&CheckName>) -> Option<Skip> {
        let _ = (unit, check);
        None
    }

    /// Returns what a failure of one unit means for the others.
    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Halt
    }
}

/// Why something is left out. Whether the run can be proven without it, the
/// plan has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Why.
    pub reason: String,
}

/// Why a unit could not act.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// A call or a look failed; its class decides about another try.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// It did not work yet. Another try may help as with [`ActError::Failed`];
    /// where none has by the deadline, the cause says what it is called.
    #[error("{failure}")]
    NotYet {
        /// What happened; its class decides about another try.
        failure: Failure,
        /// What it is called where it stays so.
        in_the_end: Box<Cause>,
    },
    /// It will not work, for a reason that has a name.
    #[error("{0}")]
    Hopeless(Box<Cause>),
    /// The run was asked to stop before the next call.
    #[error("the run was asked to stop")]
    Stopped,
    /// The journal does not take anything more.
    #[error(transparent)]
    Journal(#[from] RecordError),
}

impl ActError {
    /// Says that something did not work yet, and what it is called if it is
    /// still so when the deadline passes.
    pub fn not_yet(failure: Failure, in_the_end: Cause) -> Self {
        Self::NotYet { failure, in_the_end: Box::new(in_the_end) }
    }
}

impl From<Cause> for ActError {
    fn from(cause: Cause) -> Self {
        Self::Hopeless(Box::new(cause))
    }
}

impl From<LedgerError> for ActError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Record(error) => Self::Journal(error),
            LedgerError::NotAgain { .. } | LedgerError::SecretInName | LedgerError::Illegal(_) => {
                Self::Failed(Failure::of(Class::Permanent, &error))
            }
        }
    }
}
