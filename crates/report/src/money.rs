//! What a run cost.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount in millionths of a euro.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MicroEuros(pub u64);

/// Clouds bill a month as 730 hours.
const MONTH_MS: u128 = 730 * 3_600 * 1_000;
const MICROS_PER_CENT: u128 = 10_000;

impl MicroEuros {
    /// Returns an amount of whole cents.
    pub fn cents(cents: u64) -> Self {
        Self(cents.saturating_mul(10_000))
    }

    /// Returns what something of that monthly price costs in a part of a month.
    pub fn part_of_month(monthly_cents: u64, ms: u64) -> Self {
        let monthly = u128::from(monthly_cents) * MICROS_PER_CENT;
        let micros = monthly.saturating_mul(u128::from(ms)) / MONTH_MS;
        Self(u64::try_from(micros).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for MicroEuros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.0.saturating_add(5_000) / 10_000;
        match cents {
            0 if self.0 > 0 => f.write_str("less than €0.01"),
            _ => write!(f, "€{}.{:02}", cents / 100, cents % 100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_costs_its_part_of_a_month() {
        let hour = MicroEuros::part_of_month(3_847, 3_600_000);
        assert_eq!(hour, MicroEuros(52_698));
        assert_eq!(hour.to_string(), "€0.05");
        assert_eq!(MicroEuros::part_of_month(3_847, 11_800).to_string(), "less than €0.01");
        assert_eq!(MicroEuros::part_of_month(0, 11_800).to_string(), "€0.00");
        assert_eq!(MicroEuros::cents(3_847).to_string(), "€38.47");
        let month = u64::try_from(MONTH_MS).unwrap();
        assert_eq!(MicroEuros::part_of_month(3_847, month), MicroEuros::cents(3_847));
        assert_eq!(MicroEuros::part_of_month(u64::MAX, u64::MAX), MicroEuros(u64::MAX));
    }
}
