//! Amounts: counts within bounds, sizes, money.

use std::fmt;

use serde::{Serialize, Serializer};

use super::{Complaint, Format, Json, Scalar};

/// A whole number between two bounds, both allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Within<const MIN: u32, const MAX: u32>(u32);

/// A size in bytes, written with a binary unit: `512Mi`, `8Gi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(u64);

/// An amount of money in euros, exact to a millionth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Euro {
    millionths: u64,
}

const UNITS: [(&str, u64); 3] = [("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20)];

impl<const MIN: u32, const MAX: u32> Within<MIN, MAX> {
    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl<const MIN: u32, const MAX: u32> Scalar for Within<MIN, MAX> {
    const FORMAT: Format =
        Format { name: "a whole number", example: "", json: Json::Integer { min: MIN, max: MAX } };

    fn read(text: &str) -> Result<Self, Complaint> {
        let bounds = format!("expected a whole number from {MIN} to {MAX}");
        refuse_leading_zero(text)?;
        match text.parse() {
            Ok(number) if (MIN..=MAX).contains(&number) => Ok(Self(number)),
            _ if text.parse::<i128>().is_ok() => {
                Err(Complaint::new(format!("`{text}` is out of range"), bounds))
            }
            _ => Err(Complaint::label(bounds)),
        }
    }

    fn stand_in() -> Self {
        Self(MIN)
    }
}

/// `010` is 8 to one reader of YAML and 10 to the next, and `+1` no number in JSON.
fn refuse_leading_zero(text: &str) -> Result<(), Complaint> {
    let starts_with_zero =
        text.starts_with('0') && text[1..].starts_with(|c: char| c.is_ascii_digit());
    if starts_with_zero || text.starts_with('+') {
        let plain = text.trim_start_matches(['0', '+']);
        return Err(Complaint::label(format!("write `{plain}`")));
    }
    Ok(())
}

impl Bytes {
    /// Returns a size of whole mebibytes.
    pub const fn from_mib(mebibytes: u64) -> Self {
        Self(mebibytes << 20)
    }

    /// Returns a size of whole gibibytes.
    pub const fn from_gib(gibibytes: u64) -> Self {
        Self(gibibytes << 30)
    }

    /// The bytes.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl Scalar for Bytes {
    const FORMAT: Format = Format {
        name: "a size",
        example: "`512Mi` or `8Gi`",
        json: Json::Text { pattern: "^[0-9]+(Mi|Gi|Ti)$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let Ok(number) = number.parse::<u64>() else {
            return Err(Complaint::label(Self::FORMAT.expected()));
        };
        let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(unknown_unit(number, unit));
        };
        match number.checked_mul(*factor) {
            Some(0) | None => Err(Complaint::label(Self::FORMAT.expected())),
            Some(bytes) => Ok(Self(bytes)),
        }
    }

    fn stand_in() -> Self {
        Self::from_gib(1)
    }
}

fn unknown_unit(number: u64, unit: &str) -> Complaint {
    match unit {
        "" => Complaint::label(format!("a unit is missing: `{number}Mi` or `{number}Gi`?")),
        "G" | "GB" | "GiB" | "g" => Complaint::label(format!("write `{number}Gi`")),
        "M" | "MB" | "MiB" | "m" => Complaint::label(format!("write `{number}Mi`")),
        _ => Complaint::label("the units are `Mi`, `Gi` and `Ti`"),
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, factor)| self.0.is_multiple_of(*factor)) {
            Some((unit, factor)) => write!(f, "{}{unit}", self.0 / factor),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Euro {
    const UNIT: u64 = 1_000_000;

    /// Returns an amount of whole cents.
    pub const fn from_cents(cents: u64) -> Self {
        Self { millionths: cents * (Self::UNIT / 100) }
    }

    /// Returns an amount of millionths, as exact as price lists are.
    pub const fn from_millionths(millionths: u64) -> Self {
        Self { millionths }
    }

    /// Returns the amount in cents; what is left over counts as one more.
    pub fn cents(self) -> u64 {
        self.millionths.div_ceil(Self::UNIT / 100)
    }

    /// Reads a decimal such as `3.2900000000`, as price lists have it; further digits are cut off.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let all_digits = |part: &str| part.bytes().all(|digit| digit.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let fraction: String = fraction.chars().chain("000000".chars()).take(6).collect();
        let whole = whole.parse::<u64>().ok()?.checked_mul(Self::UNIT)?;
        Some(Self { millionths: whole.checked_add(fraction.parse().ok()?)? })
    }

    /// The sum of two amounts; at the limit it stays there.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { millionths: self.millionths.saturating_add(other.millionths) }
    }

    /// The amount so many times; at the limit it stays there.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self { millionths: self.millionths.saturating_mul(count.into()) }
    }
}

impl std::iter::Sum for Euro {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Self::plus)
    }
}

impl Scalar for Euro {
    const FORMAT: Format =
        Format { name: "an amount in euros", example: "`60` or `59.90`", json: Json::Number };

    fn read(text: &str) -> Result<Self, Complaint> {
        refuse_leading_zero(text)?;
        match Self::parse(text) {
            Some(amount) if amount > Self::default() => Ok(amount),
            _ => Err(Complaint::label(Self::FORMAT.expected())),
        }
    }

    fn stand_in() -> Self {
        Self::default()
    }
}

impl fmt::Display for Euro {
    /// Rounds to cents, half up.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.millionths.saturating_add(5_000) / 10_000;
        write!(f, "€{}.{:02}", cents / 100, cents % 100)
    }
}

impl Serialize for Euro {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (whole, rest) = (self.millionths / Self::UNIT, self.millionths % Self::UNIT);
        serializer.collect_str(&format_args!("{whole}.{rest:06}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(Bytes::read("8Gi").expect("a size"), Bytes::from_gib(8));
        assert_eq!(Bytes::from_mib(1536).to_string(), "1536Mi");
        for (text, label) in [
            ("8", "a unit is missing: `8Mi` or `8Gi`?"),
            ("8GB", "write `8Gi`"),
            ("8Pi", "the units are `Mi`, `Gi` and `Ti`"),
            ("0Gi", "expected a size, such as `512Mi` or `8Gi`"),
            ("99999999999999Ti", "expected a size, such as `512Mi` or `8Gi`"),
            ("big", "expected a size, such as `512Mi` or `8Gi`"),
        ] {
            assert_eq!(Bytes::read(text).expect_err("refused").label, label);
        }
    }

    #[test]
    fn money() {
        let price = Euro::parse("3.2900000000").expect("a price");
        assert_eq!(price.times(3).to_string(), "€9.87");
        assert_eq!(Euro::parse("0.005").expect("a price").to_string(), "€0.01");
        assert_eq!(serde_json::to_string(&price).expect("JSON"), r#""3.290000""#);
        assert_eq!(Euro::parse("-1"), None);
        assert_eq!(Euro::parse("1e3"), None);
        assert_eq!(Euro::parse("99999999999999999999"), None);
    }

    #[test]
    fn bounds() {
        assert_eq!(Within::<1, 4094>::read("20").expect("a VLAN").get(), 20);
        let complaint = Within::<1, 4094>::read("4095").expect_err("refused");
        assert_eq!(complaint.message.as_deref(), Some("`4095` is out of range"));
        assert_eq!(complaint.label, "expected a whole number from 1 to 4094");
        assert!(Within::<1, 4094>::read("-1").expect_err("refused").message.is_some());
        assert_eq!(Within::<1, 4094>::read("010").expect_err("refused").label, "write `10`");
        assert_eq!(Within::<0, 9>::read("0").expect("a number").get(), 0);
    }
}
