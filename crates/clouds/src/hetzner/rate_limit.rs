//! How many calls are left.

use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;

/// What an answer said about the project's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// How many there are in an hour.
    pub limit: u32,
    /// How many are left.
    pub remaining: u32,
    /// When all of them are there again.
    pub reset: Timestamp,
}

/// Calls come back one by one, and the reset is when the last of them is back:
/// after a minute of the hour there is room for dozens.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

impl RateLimit {
    /// Reads the headers of an answer; none unless all of them make sense.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
        let reset = text("ratelimit-reset")?.parse().ok()?;
        Some(Self {
            limit: text("ratelimit-limit")?.parse().ok()?,
            remaining: text("ratelimit-remaining")?.parse().ok()?,
            reset: Timestamp::from_second(reset).ok()?,
        })
    }

    /// Returns how long to pause after a call was refused at `now`.
    pub fn pause(&self, now: Timestamp) -> Duration {
        let until = Duration::try_from(self.reset.duration_since(now)).unwrap_or_default();
        until.min(LONGEST_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(limit: &'static str, remaining: &'static str, reset: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("RateLimit-Limit", limit.parse().unwrap());
        headers.insert("RateLimit-Remaining", remaining.parse().unwrap());
        headers.insert("RateLimit-Reset", reset.parse().unwrap());
        headers
    }

    #[test]
    fn a_pause_ends_at_the_reset_and_after_a_minute_at_the_latest() {
        let limit = RateLimit::of(&headers("3600", "0", "1000")).unwrap();
        let pause = |second| limit.pause(Timestamp::from_second(second).unwrap());
        assert_eq!(pause(997), Duration::from_secs(3));
        assert_eq!(pause(0), Duration::from_mins(1));
        assert_eq!(pause(1001), Duration::ZERO, "the clocks need not agree");
    }

    #[test]
    fn nonsense_is_no_limit() {
        assert_eq!(RateLimit::of(&headers("many", "0", "1000")), None);
        assert_eq!(RateLimit::of(&headers("3600", "-1", "1000")), None);
        assert_eq!(RateLimit::of(&headers("3600", "0", "soon")), None);
        assert_eq!(RateLimit::of(&HeaderMap::new()), None);
    }
}
