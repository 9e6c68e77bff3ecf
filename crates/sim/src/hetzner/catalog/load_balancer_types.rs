//! The kinds of load balancers.

use serde_json::{Value, json};

use super::price::{self, Price};
use super::{Entry, LOCATIONS};

/// A load balancer type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LoadBalancerType {
    id: i64,
    pub(crate) name: &'static str,
    max_connections: u32,
    pub(crate) max_services: usize,
    pub(crate) max_targets: usize,
    max_certificates: u32,
    monthly: Price,
}

pub(crate) static LOAD_BALANCER_TYPES: [LoadBalancerType; 3] = [
    kind(1, "lb11", 10_000, (5, 25, 10), 539),
    kind(2, "lb21", 20_000, (15, 75, 25), 1640),
    kind(3, "lb31", 40_000, (30, 150, 50), 3290),
];

const fn kind(
    id: i64,
    name: &'static str,
    max_connections: u32,
    (max_services, max_targets, max_certificates): (usize, usize, u32),
    cents: u64,
) -> LoadBalancerType {
    let monthly = Price::cents(cents);
    LoadBalancerType {
        id,
        name,
        max_connections,
        max_services,
        max_targets,
        max_certificates,
        monthly,
    }
}

impl LoadBalancerType {
    pub(crate) fn prices(&self) -> Vec<Value> {
        LOCATIONS.iter().map(|place| price::in_location(place.name, self.monthly, 20)).collect()
    }

    pub(crate) fn view(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "description": self.name.to_uppercase(),
            "max_connections": self.max_connections,
            "max_services": self.max_services,
            "max_targets": self.max_targets,
            "max_assigned_certificates": self.max_certificates,
            "prices": self.prices(),
            "deprecated": null,
            "deprecation": null,
        })
    }
}

impl Entry for LoadBalancerType {
    const FIELD: &'static str = "load_balancer_type";

    fn all() -> &'static [Self] {
        &LOAD_BALANCER_TYPES
    }

    fn id(&self) -> i64 {
        self.id
    }

    fn name(&self) -> &'static str {
        self.name
    }
}
