//! How fast simulated time passes.

use std::time::Duration;

/// Scales the delays of the simulated world, and nothing else: timestamps,
/// leases and certificates stay real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tempo {
    /// How many simulated seconds pass in a real one; nothing takes any time
    /// where it is absent.
    speed: Option<u32>,
}

impl Tempo {
    /// No delay takes any time.
    pub const INSTANT: Self = Self { speed: None };

    /// Lets `speed` simulated seconds pass in a real one; at least one.
    pub const fn times(speed: u32) -> Self {
        Self { speed: Some(if speed == 0 { 1 } else { speed }) }
    }

    /// Returns how long a simulated delay really takes.
    pub fn real(self, simulated: Duration) -> Duration {
        self.speed.map_or(Duration::ZERO, |speed| simulated / speed)
    }

    /// Returns how much simulated time passes in a real delay.
    pub fn simulated(self, real: Duration) -> Duration {
        real * self.speed.unwrap_or(1)
    }

    /// Lets a simulated delay pass.
    #[expect(clippy::disallowed_methods, reason = "the simulated world's delays are its own")]
    pub async fn pass(self, simulated: Duration) {
        tokio::time::sleep(self.real(simulated)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_divides_delays() {
        assert_eq!(Tempo::times(30).real(Duration::from_mins(1)), Duration::from_secs(2));
        assert_eq!(Tempo::times(0).real(Duration::from_secs(3)), Duration::from_secs(3));
        assert_eq!(Tempo::INSTANT.real(Duration::from_hours(1)), Duration::ZERO);
    }
}
