//! How many calls a project may make.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::Tempo;

/// A bucket of calls that fills steadily: full again after an hour.
#[derive(Debug)]
pub(crate) struct RateLimit {
    limit: u32,
    /// What has been used up, and when that was reckoned.
    used: f64,
    reckoned: Instant,
    tempo: Tempo,
}

/// What the headers of an answer say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    pub(crate) reset: Timestamp,
}

impl RateLimit {
    pub(crate) fn per_hour(limit: u32, tempo: Tempo) -> Self {
        Self { limit: limit.max(1), used: 0.0, reckoned: Instant::now(), tempo }
    }

    /// Takes one call out of the bucket, if there is one. Where simulated time
    /// takes no time at all, the bucket never empties.
    pub(crate) fn take(&mut self, now: Timestamp) -> Result<Allowance, Allowance> {
        let refill = self.tempo.real(Duration::from_hours(1)) / self.limit;
        let instant = Instant::now();
        let passed = instant.duration_since(self.reckoned);
        self.reckoned = instant;
        if refill.is_zero() {
            self.used = 0.0;
        } else {
            self.used = (self.used - passed.div_duration_f64(refill)).max(0.0);
        }
        if self.used + 1.0 > f64::from(self.limit) {
            return Err(self.allowance(now, refill));
        }
        self.used += 1.0;
        Ok(self.allowance(now, refill))
    }

    /// Says that nothing is left until a moment.
    pub(crate) fn exhausted(&self, now: Timestamp, reset: Duration) -> Allowance {
        Allowance { limit: self.limit, remaining: 0, reset: after(now, self.tempo.real(reset)) }
    }

    fn allowance(&self, now: Timestamp, refill: Duration) -> Allowance {
        let left = (f64::from(self.limit) - self.used).max(0.0).floor();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between zero and the limit"
        )]
        let remaining = left as u32;
        let reset = after(now, refill.mul_f64(self.used));
        Allowance { limit: self.limit, remaining, reset }
    }
}

/// Whole seconds, rounded up: the header has no fractions.
fn after(now: Timestamp, wait: Duration) -> Timestamp {
    let seconds = i64::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(i64::MAX);
    now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_bucket_empties_and_fills_again() {
        let now = Timestamp::UNIX_EPOCH;
        let mut limit = RateLimit::per_hour(3600, Tempo::times(1));
        for left in (0..3600).rev() {
            assert_eq!(limit.take(now).unwrap().remaining, left);
        }
        let refused = limit.take(now).unwrap_err();
        assert_eq!((refused.remaining, refused.reset.as_second()), (0, 3600));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(limit.take(now).unwrap().remaining, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn without_time_there_is_no_limit() {
        let mut limit = RateLimit::per_hour(2, Tempo::INSTANT);
        for _ in 0..10 {
            assert!(limit.take(Timestamp::UNIX_EPOCH).is_ok());
        }
    }
}
