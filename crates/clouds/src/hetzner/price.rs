//! What things cost a month: net, as Hetzner states it before value added tax.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::{Hetzner, HetznerError};

/// An amount of money, exact to a millionth of the currency's unit.
///
/// What Hetzner states more finely is rounded up: a limit must not be kept by
/// rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount {
    millionths: u64,
}

/// A text that is no amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an amount such as 3.2900")]
pub struct InvalidAmount(String);

/// What things cost a month, without value added tax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceList {
    currency: String,
    servers: BTreeMap<(String, String), Amount>,
    load_balancers: BTreeMap<(String, String), Amount>,
    ipv4: BTreeMap<String, Amount>,
}

/// The digits after the point that are kept.
const DECIMALS: usize = 6;

// === impl Amount ===

impl Amount {
    /// Returns it in millionths.
    pub fn millionths(self) -> u64 {
        self.millionths
    }

    /// Returns it in hundredths, rounded up.
    pub fn cents(self) -> u64 {
        self.millionths.div_ceil(10_000)
    }
}

impl FromStr for Amount {
    type Err = InvalidAmount;

    fn from_str(text: &str) -> Result<Self, InvalidAmount> {
        let invalid = || InvalidAmount(text.to_owned());
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) {
            return Err(invalid());
        }
        let (kept, rest) = fraction.split_at(fraction.len().min(DECIMALS));
        let rounded_up = u64::from(rest.bytes().any(|digit| digit != b'0'));
        let number = format!("{whole}{kept:0<DECIMALS$}").parse::<u64>().ok();
        let millionths = number.and_then(|number| number.checked_add(rounded_up));
        Ok(Self { millionths: millionths.ok_or_else(invalid)? })
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

// === impl PriceList ===

impl PriceList {
    /// Returns the currency of all prices, such as `EUR`.
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// Returns what a server costs, without an IPv4 address.
    pub fn server(&self, server_type: &str, location: &str) -> Option<Amount> {
        self.servers.get(&(server_type.to_owned(), location.to_owned())).copied()
    }

    /// Returns what a load balancer costs.
    pub fn load_balancer(&self, balancer_type: &str, location: &str) -> Option<Amount> {
        self.load_balancers.get(&(balancer_type.to_owned(), location.to_owned())).copied()
    }

    /// Returns what a public IPv4 address of a server costs.
    pub fn ipv4(&self, location: &str) -> Option<Amount> {
        self.ipv4.get(location).copied()
    }
}

impl Hetzner {
    /// Reads what things cost.
    pub async fn prices(&self) -> Result<PriceList, HetznerError> {
        let answer: Answer = self.read("read prices", "/pricing").await?;
        Ok(answer.pricing.into())
    }
}

/// The form of the answer.
#[derive(Deserialize)]
struct Answer {
    pricing: Pricing,
}

#[derive(Deserialize)]
struct Pricing {
    currency: String,
    server_types: Vec<TypePrices>,
    load_balancer_types: Vec<TypePrices>,
    primary_ips: Vec<AddressPrices>,
}

#[derive(Deserialize)]
struct TypePrices {
    name: String,
    prices: Vec<Price>,
}

#[derive(Deserialize)]
struct AddressPrices {
    #[serde(rename = "type")]
    family: String,
    prices: Vec<Price>,
}

#[derive(Deserialize)]
struct Price {
    location: String,
    price_monthly: Net,
}

#[derive(Deserialize)]
struct Net {
    net: Amount,
}

impl From<Pricing> for PriceList {
    fn from(pricing: Pricing) -> Self {
        let ipv4 = pricing.primary_ips.into_iter().filter(|prices| prices.family == "ipv4");
        Self {
            currency: pricing.currency,
            servers: by_type_and_location(pricing.server_types),
            load_balancers: by_type_and_location(pricing.load_balancer_types),
            ipv4: ipv4
                .flat_map(|prices| prices.prices)
                .map(|price| (price.location, price.price_monthly.net))
                .collect(),
        }
    }
}

fn by_type_and_location(types: Vec<TypePrices>) -> BTreeMap<(String, String), Amount> {
    let prices = types.into_iter().flat_map(|TypePrices { name, prices }| {
        prices
            .into_iter()
            .map(move |price| ((name.clone(), price.location), price.price_monthly.net))
    });
    prices.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn amount(text: &str) -> u64 {
        text.parse::<Amount>().unwrap().millionths()
    }

    #[test]
    fn amounts_are_exact_and_rounded_up_beyond() {
        assert_eq!(amount("3.2900000000"), 3_290_000);
        assert_eq!(amount("0.0053"), 5_300);
        assert_eq!(amount("12"), 12_000_000);
        assert_eq!(amount("0.00000010"), 1);
        assert_eq!("3.2901".parse::<Amount>().unwrap().cents(), 330);
        assert_eq!("3.2900".parse::<Amount>().unwrap().cents(), 329);
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for wrong in ["", ".", ".5", "-1", "+1", "1e3", "1,5", "1.2.3", "99999999999999999999"] {
            assert!(wrong.parse::<Amount>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn six_decimals_survive(millionths in 0_u64..1_000_000_000_000) {
            let text = format!("{}.{:06}0000", millionths / 1_000_000, millionths % 1_000_000);
            prop_assert_eq!(amount(&text), millionths);
        }
    }
}
