//! When a request of a set may be sent again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use events::Class;

use super::Means;
use crate::{ApiError, Trouble};

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The API asked for a pause and did not say how long.
const UNSAID_PAUSE: Duration = Duration::from_secs(1);

/// Repeats the requests of a set, all within one patience.
#[derive(Debug)]
pub(super) struct Pace {
    means: Means,
    /// When the patience ends, on the clock.
    end: Duration,
    /// Until when the API wants to be left alone, on the clock.
    hold: Mutex<Duration>,
}

/// What may be tried again besides what the class of an error says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hope {
    /// Nothing.
    Usual,
    /// What the set itself has just made may not have arrived everywhere: the
    /// kind in discovery, the service account in a namespace.
    Fresh,
}

/// One request of a set, as often as it may be sent.
#[derive(Debug)]
pub(super) struct Tries<'a> {
    pace: &'a Pace,
    hope: Hope,
    count: u32,
}

impl Tries<'_> {
    /// Waits until the request may be sent.
    pub(super) async fn turn(&self) {
        self.pace.wait_for_the_others().await;
    }

    /// Waits until the request may be sent again, or returns the error where
    /// sending it again would not help or has taken too long.
    pub(super) async fn again(&mut self, error: ApiError) -> Result<(), ApiError> {
        let Some(pause) = self.pace.after(&error, self.hope, self.count) else {
            return Err(error);
        };
        self.count += 1;
        if self.pace.means.pause_after(&error, pause).await { Ok(()) } else { Err(error) }
    }
}

impl Pace {
    pub(super) fn new(means: Means, patience: Duration) -> Self {
        let end = means.clock.elapsed() + patience;
        Self { means, end, hold: Mutex::new(Duration::ZERO) }
    }

    /// Begins a request that may be repeated.
    pub(super) fn tries(&self, hope: Hope) -> Tries<'_> {
        Tries { pace: self, hope, count: 0 }
    }

    /// Makes a request as often as it may be sent, until it has an answer.
    pub(super) async fn repeat<T, R: Future<Output = Result<T, ApiError>>>(
        &self,
        mut request: impl FnMut() -> R,
    ) -> Result<T, ApiError> {
        let mut tries = self.tries(Hope::Usual);
        loop {
            tries.turn().await;
            match request().await {
                Ok(answer) => return Ok(answer),
                Err(error) => tries.again(error).await?,
            }
        }
    }

    /// Returns how long is left.
    pub(super) fn left(&self) -> Duration {
        self.end.saturating_sub(self.means.clock.elapsed())
    }

    /// Returns the pause before another try, if there is to be one.
    pub(super) fn after(&self, error: &ApiError, hope: Hope, tries: u32) -> Option<Duration> {
        let grown = FIRST_PAUSE.saturating_mul(1 << tries.min(10)).min(LONGEST_PAUSE);
        let pause = match error.class() {
            Class::RateLimited { after_ms } => {
                let asked = after_ms.map_or(UNSAID_PAUSE, Duration::from_millis);
                self.hold(asked);
                asked
            }
            Class::Transient => grown,
            Class::Conflict | Class::Permanent if hope == Hope::Fresh && is_fresh(error) => grown,
            Class::Conflict | Class::Permanent => return None,
        };
        (pause <= self.left()).then_some(pause)
    }

    fn hold(&self, pause: Duration) {
        let until = self.means.clock.elapsed() + pause;
        let mut hold = self.hold.lock().unwrap_or_else(PoisonError::into_inner);
        *hold = until.max(*hold);
    }

    async fn wait_for_the_others(&self) {
        let until = *self.hold.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = until.saturating_sub(self.means.clock.elapsed());
        if !pause.is_zero() {
            self.means.pause(pause).await;
        }
    }
}

fn is_fresh(error: &ApiError) -> bool {
    match error.trouble() {
        Trouble::KindMissing { .. } => true,
        // The controller makes the default account a moment after a namespace.
        Trouble::Denied(message) => message.contains("error looking up service account"),
        _ => false,
    }
}
