//! Time as it is passed in.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// The time of a run: a wall-clock time taken once, and tokio's monotonic time
/// from there on. Timestamps therefore never run backwards, and a test on a
/// paused runtime has a discrete clock for free.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: Timestamp,
    start: Instant,
}

impl Clock {
    /// A clock that starts now, by the machine's wall clock.
    #[expect(clippy::disallowed_methods, reason = "the one place where wall time enters")]
    pub fn real() -> Self {
        Self::starting_at(Timestamp::now())
    }

    /// A clock that starts now and calls it `epoch`.
    pub fn starting_at(epoch: Timestamp) -> Self {
        Self { epoch, start: Instant::now() }
    }

    /// Returns the time, to the millisecond: what stands in journals is read by people.
    pub fn now(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.elapsed()).unwrap_or(SignedDuration::MAX);
        let now = self.epoch.saturating_add(elapsed).unwrap_or(Timestamp::MAX);
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }

    /// Returns how long ago the clock started.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Waits. Only what may be dropped at any moment may wait here.
    #[expect(clippy::disallowed_methods, reason = "the one place where waits happen")]
    pub async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
