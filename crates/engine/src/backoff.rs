//! How long to pause before another try, by the class of what went wrong.

use std::time::Duration;

use events::Class;

use crate::Chance;

/// The pauses between tries. Full jitter: many units that fail together do not
/// come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The longest first pause.
    pub first: Duration,
    /// The longest pause of all.
    pub longest: Duration,
}

impl Default for Backoff {
    /// What the clients of the clouds use themselves.
    fn default() -> Self {
        Self { first: Duration::from_secs(1), longest: Duration::from_mins(1) }
    }
}

impl Backoff {
    /// The same in a world that runs so many times as fast: its deadlines are
    /// as much shorter, and longer pauses would outlast them.
    #[must_use]
    pub fn at_speed(self, speed: Option<u32>) -> Self {
        let speed = speed.unwrap_or(1).max(1);
        Self { first: self.first / speed, longest: self.longest / speed }
    }

    /// Returns the pause after the `tries`-th try, or none where another try
    /// cannot help.
    pub fn pause(&self, class: Class, tries: u32, chance: &Chance) -> Option<Duration> {
        match class {
            Class::Permanent => None,
            Class::Transient => Some(self.grown(tries, chance)),
            // Whoever won the race is done by now; there is no load to spread.
            Class::Conflict => Some(chance.up_to(self.first)),
            Class::RateLimited { .. } => {
                let asked = class.pause().unwrap_or_default();
                Some(asked + self.grown(tries, chance).min(self.first))
            }
        }
    }

    fn grown(&self, tries: u32, chance: &Chance) -> Duration {
        let doublings = tries.saturating_sub(1).min(16);
        chance.up_to(self.first.saturating_mul(1 << doublings).min(self.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_longest_and_not_beyond() {
        let (backoff, chance) = (Backoff::default(), Chance::seeded(1));
        for tries in 1..40 {
            let most = Duration::from_secs(1 << (tries - 1).min(6)).min(backoff.longest);
            let pause = backoff.pause(Class::Transient, tries, &chance).unwrap();
            assert!(pause <= most, "try {tries}: {pause:?}");
        }
    }

    #[test]
    fn a_rate_limit_is_never_cut_short() {
        let chance = Chance::seeded(1);
        let class = Class::RateLimited { after_ms: Some(90_000) };
        for tries in 1..20 {
            let pause = Backoff::default().pause(class, tries, &chance).unwrap();
            assert!(pause >= Duration::from_secs(90), "{pause:?}");
            assert!(pause <= Duration::from_secs(91), "{pause:?}");
        }
    }

    #[test]
    fn what_is_permanent_is_not_tried_again() {
        assert_eq!(Backoff::default().pause(Class::Permanent, 1, &Chance::seeded(1)), None);
    }

    #[test]
    fn a_world_that_runs_faster_has_shorter_pauses() {
        let usual = Backoff::default();
        assert_eq!(usual.at_speed(None), usual);
        let fast =
            Backoff { first: Duration::from_millis(10), longest: Duration::from_millis(600) };
        assert_eq!(usual.at_speed(Some(100)), fast);
    }
}
