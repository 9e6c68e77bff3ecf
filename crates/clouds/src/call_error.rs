//! A call that has no good answer.

use events::{Arrival, Failure};

/// Why a call has no good answer, in the form that the journal takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{failure}")]
pub struct CallError {
    /// What happened.
    pub failure: Failure,
    /// Whether the call may have had its effect all the same.
    pub arrival: Arrival,
}
