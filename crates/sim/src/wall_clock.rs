//! Where the simulated world reads the time of day.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// The time of day, as its owner tells it; clones share it.
///
/// Timestamps on the wire are real even where delays are not, so whoever
/// builds a world hands in a real clock, or a fixed one for a test.
#[derive(Clone)]
pub struct WallClock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl WallClock {
    /// Reads the time from a function.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the time, to the second: the APIs that we simulate tell no more.
    pub fn now(&self) -> Timestamp {
        let second = (self.0)().as_second();
        Timestamp::from_second(second).expect("a second of a timestamp is one")
    }
}

impl fmt::Debug for WallClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("WallClock").field(&(self.0)()).finish()
    }
}
