//! What a plan costs a month.

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use super::node::{Hardware, Offer};
use super::whole::Plan;
use crate::scalar::{Euro, LoadBalancerType, Location};

/// Monthly prices, as the cloud's API tells them.
#[derive(Clone, Debug, Default)]
pub struct PriceTable {
    /// Of servers.
    pub servers: BTreeMap<Offer, Euro>,
    /// Of load balancers.
    pub load_balancers: BTreeMap<(LoadBalancerType, Location), Euro>,
    /// Of a public IPv4 address.
    pub ipv4: BTreeMap<Location, Euro>,
}

/// A month's bill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bill {
    /// What is paid for.
    pub lines: Vec<BillLine>,
    /// The sum.
    pub total: Euro,
}

/// One thing that is paid for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BillLine {
    /// What it is: a server, a load balancer.
    pub what: &'static str,
    /// Its name.
    pub name: String,
    /// Its price a month.
    pub price: Euro,
}

/// Why a plan has no price.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PriceError {
    /// The price table has no entry.
    #[error("no price is known for {what} in {location}")]
    UnknownPrice {
        /// What has no price.
        what: String,
        /// Where.
        location: Location,
    },
}

impl Bill {
    /// The bill of a plan if no fallback is needed.
    ///
    /// Proxmox and machines cost nothing that a table could know.
    pub fn of(plan: &Plan, prices: &PriceTable) -> Result<Self, PriceError> {
        let mut lines = Vec::new();
        if let Some(balancer) = &plan.load_balancer {
            let key = (balancer.balancer_type, balancer.location);
            let price =
                known(prices.load_balancers.get(&key), &balancer.balancer_type, balancer.location)?;
            lines.push(BillLine { what: "load balancer", name: balancer.name.clone(), price });
        }
        for node in &plan.nodes {
            let Hardware::Server { offers, .. } = &node.hardware else {
                continue;
            };
            let Some(offer) = offers.first() else {
                continue;
            };
            let mut price = known(prices.servers.get(offer), &offer.server_type, offer.location)?;
            if plan.public_ipv4 {
                price = price.plus(known(
                    prices.ipv4.get(&offer.location),
                    &"a public IPv4 address",
                    offer.location,
                )?);
            }
            lines.push(BillLine { what: "server", name: node.name.clone(), price });
        }
        let total = lines.iter().map(|line| line.price).sum();
        Ok(Self { lines, total })
    }

    /// Whether the bill is above the limit that the file sets.
    pub fn exceeds(&self, limit: Option<Euro>) -> bool {
        limit.is_some_and(|limit| self.total > limit)
    }
}

fn known(
    price: Option<&Euro>,
    what: &dyn std::fmt::Display,
    location: Location,
) -> Result<Euro, PriceError> {
    price.copied().ok_or_else(|| PriceError::UnknownPrice { what: what.to_string(), location })
}
