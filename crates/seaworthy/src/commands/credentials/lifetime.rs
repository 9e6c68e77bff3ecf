//! How long credentials are valid.

use std::str::FromStr;
use std::time::Duration;

use events::Clock;
use talos::pki::Lifetime;

/// How long credentials are valid: `45m`, `12h` or `30d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ttl(Duration);

const UNITS: [(char, u64); 3] = [('m', 60), ('h', 3600), ('d', 24 * 3600)];

/// An authority of Talos lives for ten years, and nothing that it signs outlives it.
const LONGEST: u64 = 3650 * 24 * 3600;

impl Ttl {
    /// Returns the time from now on.
    pub(super) fn lifetime(self) -> Lifetime {
        Lifetime { from: Clock::real().now(), lasts: self.0 }
    }
}

impl FromStr for Ttl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = UNITS.iter().find_map(|(unit, seconds)| {
            let number: u64 = text.strip_suffix(*unit)?.parse().ok()?;
            number.checked_mul(*seconds)
        });
        match seconds {
            Some(seconds @ 1..=LONGEST) => Ok(Self(Duration::from_secs(seconds))),
            Some(_) => Err("it has to be between a minute and 3650d".to_owned()),
            None if text.strip_suffix('s').is_some_and(|it| it.parse::<u64>().is_ok()) => {
                Err("seconds are too short: give minutes, hours or days, such as `45m`".to_owned())
            }
            None => Err("expected a number with a unit, such as `45m`, `12h` or `30d`".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_one_unit_and_an_end() {
        let seconds = |text: &str| text.parse::<Ttl>().map(|ttl| ttl.0.as_secs());
        assert_eq!(seconds("45m"), Ok(2700));
        assert_eq!(seconds("12h"), Ok(43_200));
        assert_eq!(seconds("3650d"), Ok(LONGEST));
        for text in ["3651d", "0h", "99999999999999h"] {
            assert!(seconds(text).unwrap_err().contains("between"), "{text}");
        }
        assert!(seconds("1s").unwrap_err().starts_with("seconds are too short"));
        for text in ["", "h", "12", "-1h", "1h30m", "99999999999999999999h"] {
            assert!(seconds(text).unwrap_err().starts_with("expected a number"), "{text}");
        }
    }
}
