//! Where the simulated world reads the time of day.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};

/// The time of day, as the owner of a world tells it; clones agree.
///
/// Timestamps, leases and certificates on the wire are real even where delays
/// are not, so whoever builds a world hands in a real clock, or a fixed one for
/// a test. All parts of a world have the same.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The machine's own clock.
    #[expect(clippy::disallowed_methods, reason = "timestamps of the simulated world are real")]
    pub fn real() -> Self {
        Self::new(Timestamp::now)
    }

    /// Reads the time from a function.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }

    /// Returns the time to the second, which is all that clouds tell.
    pub(crate) fn second(&self) -> Timestamp {
        whole_second(self.now())
    }

    /// Returns the time as Kubernetes objects carry it, to the second.
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

/// Writes a time as Kubernetes objects carry it.
pub(crate) fn stamp(time: Timestamp) -> String {
    whole_second(time).to_string()
}

/// Returns how long after the epoch a time is.
pub(crate) fn since_epoch(time: Timestamp) -> Duration {
    Duration::try_from(time.as_duration()).unwrap_or_default()
}

fn whole_second(time: Timestamp) -> Timestamp {
    let whole = TimestampRound::new().smallest(Unit::Second).mode(RoundMode::Trunc);
    time.round(whole).unwrap_or(time)
}
