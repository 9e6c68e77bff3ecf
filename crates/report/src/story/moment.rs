//! When something happened.

use events::{Event, Seq};

/// When something happened: by the run's clock, and in the order of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Milliseconds since the run started.
    pub at_ms: u64,
    /// The event's place in the journal.
    pub seq: Seq,
}

impl Moment {
    /// Returns when the event happened.
    pub(crate) fn of(event: &Event) -> Self {
        Self { at_ms: event.elapsed_ms, seq: event.seq }
    }

    /// Returns the milliseconds from this moment to a later one.
    pub fn until(self, later_ms: u64) -> u64 {
        later_ms.saturating_sub(self.at_ms)
    }
}
