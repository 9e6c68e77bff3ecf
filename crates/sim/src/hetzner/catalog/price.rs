//! Prices as the API writes them.

use serde_json::{Value, json};

/// A net price in ten-thousandths of a euro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Price(pub(crate) u64);

/// The rate that turns net into gross, in percent.
pub(crate) const VAT_PERCENT: u64 = 19;

/// How many hours a month has where a monthly price becomes an hourly one.
const HOURS_A_MONTH: u64 = 624;

impl Price {
    pub(crate) const fn cents(cents: u64) -> Self {
        Self(cents * 100)
    }

    /// Writes net and gross as decimal texts, as the API does.
    pub(crate) fn view(self) -> Value {
        let gross = self.0 * (100 + VAT_PERCENT);
        json!({
            "net": format!("{}.{:04}", self.0 / 10_000, self.0 % 10_000),
            "gross": format!("{}.{:06}0000000000", gross / 1_000_000, gross % 1_000_000),
        })
    }

    pub(crate) fn hourly(self) -> Self {
        Self(self.0.div_ceil(HOURS_A_MONTH))
    }
}

/// Writes the price of something that runs in a location.
pub(crate) fn in_location(location: &str, monthly: Price, terabytes: u64) -> Value {
    json!({
        "location": location,
        "price_hourly": monthly.hourly().view(),
        "price_monthly": monthly.view(),
        "included_traffic": terabytes << 40,
        "price_per_tb_traffic": Price::cents(100).view(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_decimal_texts() {
        let price = Price::cents(379).view();
        assert_eq!(price["net"], "3.7900");
        assert_eq!(price["gross"], "4.5101000000000000");
        assert_eq!(Price::cents(379).hourly().view()["net"], "0.0061");
    }
}
