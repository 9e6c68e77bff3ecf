//! Whether a call that has no good answer may have had its effect.

/// Whether a call may have had its effect although its answer was no good.
///
/// Every client says it of its errors. It decides between
/// [`Refused`](crate::CallOutcome::Refused) and
/// [`InDoubt`](crate::CallOutcome::InDoubt).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It has not: the other side said no, or the call never left.
    No,
    /// It may have: the answer was lost. Look before anything else.
    Maybe,
}
