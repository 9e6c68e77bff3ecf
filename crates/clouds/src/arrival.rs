//! How a call failed, as far as its effect goes.

use events::Failure;

/// Whether a call may have had its effect although its answer was no good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It has not: the cloud said no, or the call never left.
    No,
    /// It may have: look before anything else.
    Maybe,
}

/// Why a call has no good answer, in the form that the journal takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{failure}")]
pub struct CallError {
    /// What happened.
    pub failure: Failure,
    /// Whether the call may have had its effect all the same.
    pub arrival: Arrival,
}
