//! How long to pause.

use std::time::Duration;

use events::Class;

/// No pause that the API asks for keeps us away for longer.
const LONGEST_ASKED: Duration = Duration::from_mins(1);

/// Returns the pause after an error, the `nth` in a row from 1.
pub(crate) fn pause_after(class: Class, nth: u32) -> Duration {
    let growing = Duration::from_millis(100) * 2u32.saturating_pow(nth.saturating_sub(1).min(6));
    match class {
        Class::RateLimited { after_ms: Some(after) } => {
            Duration::from_millis(after).min(LONGEST_ASKED)
        }
        Class::RateLimited { after_ms: None } => growing.max(Duration::from_secs(1)),
        // A right may be given a second later; whoever still asks then has time.
        Class::Permanent if nth <= 3 => Duration::from_secs(1),
        Class::Permanent => Duration::from_secs(10),
        _ => growing.min(Duration::from_secs(5)),
    }
}

/// How often to look where nothing tells us of changes: often while something
/// happens, rarely while nothing does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    pause: Duration,
}

impl Pace {
    const SHORTEST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(10);

    pub(crate) fn new() -> Self {
        Self { pause: Self::SHORTEST }
    }

    /// Takes in whether the last look saw something new, and returns the pause
    /// before the next.
    pub(crate) fn after(&mut self, moved: bool) -> Duration {
        let pause = if moved { Self::SHORTEST } else { self.pause };
        self.pause = (pause * 2).min(Self::LONGEST);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_slow_down_and_speed_up_again() {
        let mut pace = Pace::new();
        let mut seconds = |moved| pace.after(moved).as_secs();
        assert_eq!([false; 6].map(&mut seconds), [1, 2, 4, 8, 10, 10]);
        assert_eq!([true, false, false].map(seconds), [1, 2, 4]);
    }

    #[test]
    fn pauses_follow_the_class() {
        let asked = |after_ms| pause_after(Class::RateLimited { after_ms }, 1).as_millis();
        assert_eq!((asked(Some(7000)), asked(Some(3_600_000)), asked(None)), (7000, 60_000, 1000));
        let transient: Vec<u128> =
            (1..9).map(|nth| pause_after(Class::Transient, nth).as_millis()).collect();
        assert_eq!(transient, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        let permanent: Vec<u64> =
            (1..6).map(|nth| pause_after(Class::Permanent, nth).as_secs()).collect();
        assert_eq!(permanent, [1, 1, 1, 10, 10]);
    }
}
