//! What time it is in the simulated world: the real time, or a test's.

use std::fmt;
use std::sync::Arc;

use jiff::{Timestamp, Unit};

/// Says what time it is; clones agree.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The machine's own clock.
    #[expect(clippy::disallowed_methods, reason = "timestamps of the simulated world are real")]
    pub fn real() -> Self {
        Self(Arc::new(Timestamp::now))
    }

    /// A clock that a test sets.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }

    /// Returns the time as objects carry it, to the second.
    pub fn stamp(&self) -> String {
        stamp(self.now())
    }

    /// Returns the time as leases carry it, to the microsecond.
    pub(crate) fn micro_stamp(&self) -> String {
        format!("{:.6}", self.now())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

/// Writes a time as objects carry it.
pub(crate) fn stamp(time: Timestamp) -> String {
    let whole = jiff::TimestampRound::new().smallest(Unit::Second).mode(jiff::RoundMode::Trunc);
    time.round(whole).unwrap_or(time).to_string()
}
