//! The price list.

use serde_json::{Value, json};

use super::price::{Price, VAT_PERCENT};
use super::{Entry, LOAD_BALANCER_TYPES, LOCATIONS, SERVER_TYPES};

const IPV4: Price = Price::cents(50);
const FLOATING_IPV4: Price = Price::cents(300);
const VOLUME_GIGABYTE: Price = Price(440);
const IMAGE_GIGABYTE: Price = Price(110);

/// Returns what `GET /pricing` tells.
pub(crate) fn pricing(currency: &str) -> Value {
    let servers = SERVER_TYPES.iter().map(|it| named(it.id(), it.name, &it.prices()));
    let balancers = LOAD_BALANCER_TYPES.iter().map(|it| named(it.id(), it.name, &it.prices()));
    json!({
        "currency": currency,
        "vat_rate": format!("{VAT_PERCENT}.00"),
        "image": { "price_per_gb_month": IMAGE_GIGABYTE.view() },
        "volume": { "price_per_gb_month": VOLUME_GIGABYTE.view() },
        "server_backup": { "percentage": "20.00" },
        "floating_ip": { "price_monthly": FLOATING_IPV4.view() },
        "floating_ips": [
            { "type": "ipv4", "prices": addresses(FLOATING_IPV4) },
            { "type": "ipv6", "prices": addresses(Price(0)) },
        ],
        "primary_ips": [
            { "type": "ipv4", "prices": addresses(IPV4) },
            { "type": "ipv6", "prices": addresses(Price(0)) },
        ],
        "server_types": servers.collect::<Vec<_>>(),
        "load_balancer_types": balancers.collect::<Vec<_>>(),
    })
}

fn named(id: i64, name: &str, prices: &[Value]) -> Value {
    json!({ "id": id, "name": name, "prices": prices })
}

fn addresses(monthly: Price) -> Vec<Value> {
    let price = |location: &super::Location| {
        json!({
            "location": location.name,
            "price_hourly": monthly.hourly().view(),
            "price_monthly": monthly.view(),
        })
    };
    LOCATIONS.iter().map(price).collect()
}
