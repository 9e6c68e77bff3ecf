//! Durations: `90s`, `10m`, `1h30m`.

use std::fmt;

use serde::{Serialize, Serializer};

use super::{Complaint, Format, Json, Scalar};

/// A length of time in whole seconds, at most a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(u32);

const UNITS: [(char, u32); 3] = [('h', 3600), ('m', 60), ('s', 1)];
const DAY: u32 = 24 * 3600;

impl Duration {
    /// Returns a duration of whole seconds.
    pub const fn from_secs(seconds: u32) -> Self {
        Self(seconds)
    }

    /// Returns a duration of whole minutes.
    pub const fn from_mins(minutes: u32) -> Self {
        Self(minutes * 60)
    }

    /// The seconds.
    pub const fn as_secs(self) -> u32 {
        self.0
    }

    /// Reads a duration such as `1h30m`, for flags.
    pub fn parse(text: &str) -> Result<Self, String> {
        <Self as Scalar>::read(text).map_err(|complaint| complaint.label)
    }
}

impl From<Duration> for std::time::Duration {
    fn from(duration: Duration) -> Self {
        Self::from_secs(duration.0.into())
    }
}

impl Scalar for Duration {
    const FORMAT: Format = Format {
        name: "a duration",
        example: "`90s`, `10m` or `1h30m`",
        json: Json::Text { pattern: "^([0-9]+h)?([0-9]+m)?([0-9]+s)?$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        let mut seconds: u32 = 0;
        let mut rest = text;
        let mut units = UNITS.iter();
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, tail) = rest.split_at(digits);
            let unit = tail.chars().next().filter(|_| digits > 0);
            let unit = unit.ok_or_else(|| missing_part(text, number))?;
            let Some((_, factor)) = units.find(|(name, _)| *name == unit) else {
                return Err(wrong_unit(unit));
            };
            rest = &tail[unit.len_utf8()..];
            seconds = number
                .parse::<u32>()
                .ok()
                .and_then(|number| number.checked_mul(*factor))
                .and_then(|part| seconds.checked_add(part))
                .ok_or_else(too_long)?;
        }
        match seconds {
            0 => Err(Complaint::label("expected more than nothing, such as `90s` or `10m`")),
            seconds if seconds > DAY => Err(too_long()),
            seconds => Ok(Self(seconds)),
        }
    }

    fn stand_in() -> Self {
        Self(1)
    }
}

fn missing_part(text: &str, number: &str) -> Complaint {
    if number == text && !number.is_empty() {
        return Complaint::label(format!(
            "a unit is missing: `{number}s`, `{number}m` or `{number}h`?"
        ));
    }
    Complaint::label(Duration::FORMAT.expected())
}

fn wrong_unit(unit: char) -> Complaint {
    if UNITS.iter().any(|(name, _)| *name == unit) {
        return Complaint::label("expected hours, then minutes, then seconds, such as `1h30m`");
    }
    Complaint::label(format!("`{unit}` is not a unit; use `h`, `m` and `s`, such as `1h30m`"))
}

fn too_long() -> Complaint {
    Complaint::label("expected at most `24h`")
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        for (unit, factor) in UNITS {
            if rest >= factor {
                write!(f, "{}{unit}", rest / factor)?;
                rest %= factor;
            }
        }
        if self.0 == 0 { f.write_str("0s") } else { Ok(()) }
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        for (text, seconds) in [("90s", 90), ("10m", 600), ("1h30m", 5400), ("24h", 86400)] {
            assert_eq!(Duration::parse(text), Ok(Duration(seconds)), "{text}");
        }
        assert_eq!(Duration(5400).to_string(), "1h30m");
        assert_eq!(Duration(90).to_string(), "1m30s");
        assert_eq!(Duration(0).to_string(), "0s");
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, label) in [
            ("10", "a unit is missing: `10s`, `10m` or `10h`?"),
            ("10 minutes", "` ` is not a unit; use `h`, `m` and `s`, such as `1h30m`"),
            ("5d", "`d` is not a unit; use `h`, `m` and `s`, such as `1h30m`"),
            ("30m1h", "expected hours, then minutes, then seconds, such as `1h30m`"),
            ("25h", "expected at most `24h`"),
            ("99999999999s", "expected at most `24h`"),
            ("0s", "expected more than nothing, such as `90s` or `10m`"),
            ("soon", "expected a duration, such as `90s`, `10m` or `1h30m`"),
            ("", "expected more than nothing, such as `90s` or `10m`"),
        ] {
            assert_eq!(Duration::parse(text), Err(label.to_owned()), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_reads_back(seconds in 1_u32..=DAY) {
            let duration = Duration(seconds);
            proptest::prop_assert_eq!(Duration::parse(&duration.to_string()), Ok(duration));
        }
    }
}
