//! The kinds of servers.

use serde_json::{Value, json};

use super::price::{self, Price};
use super::{Entry, Location, find};
use crate::hetzner::knobs::Knobs;

/// A server type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerType {
    id: i64,
    pub(crate) name: &'static str,
    category: &'static str,
    cores: u32,
    memory: u32,
    pub(crate) disk: u32,
    /// `shared` or `dedicated`.
    cpu: &'static str,
    /// `x86` or `arm`.
    pub(crate) architecture: &'static str,
    monthly: Price,
    locations: &'static [&'static str],
    /// When it was announced that it goes, and when it has gone.
    deprecation: Option<(&'static str, &'static str)>,
}

const EUROPE: &[&str] = &["fsn1", "nbg1", "hel1"];
const EVERYWHERE: &[&str] = &["fsn1", "nbg1", "hel1", "ash", "hil", "sin"];
const AMERICA: &[&str] = &["ash", "hil"];
const EUROPE_AND_SINGAPORE: &[&str] = &["fsn1", "nbg1", "hel1", "sin"];

const COST: &str = "cost_optimized";
const REGULAR: &str = "regular_purpose";
const GENERAL: &str = "general_purpose";

pub(crate) static SERVER_TYPES: [ServerType; 21] = [
    gone(kind(104, "cx22", COST, (2, 4, 40), "x86", 379, EUROPE)),
    kind(114, "cx23", COST, (2, 4, 40), "x86", 349, EUROPE),
    kind(115, "cx33", COST, (4, 8, 80), "x86", 549, EUROPE),
    kind(116, "cx43", COST, (8, 16, 160), "x86", 949, EUROPE),
    kind(117, "cx53", COST, (16, 32, 320), "x86", 1749, EUROPE),
    kind(45, "cax11", COST, (2, 4, 40), "arm", 379, EUROPE),
    kind(93, "cax21", COST, (4, 8, 80), "arm", 649, EUROPE),
    kind(94, "cax31", COST, (8, 16, 160), "arm", 1249, EUROPE),
    kind(95, "cax41", COST, (16, 32, 320), "arm", 2449, EUROPE),
    kind(22, "cpx11", REGULAR, (2, 2, 40), "x86", 449, AMERICA),
    kind(23, "cpx21", REGULAR, (3, 4, 80), "x86", 899, AMERICA),
    kind(24, "cpx31", REGULAR, (4, 8, 160), "x86", 1599, AMERICA),
    kind(25, "cpx41", REGULAR, (8, 16, 240), "x86", 2999, AMERICA),
    kind(108, "cpx12", REGULAR, (1, 2, 40), "x86", 499, EUROPE_AND_SINGAPORE),
    kind(109, "cpx22", REGULAR, (2, 4, 80), "x86", 649, EUROPE_AND_SINGAPORE),
    kind(110, "cpx32", REGULAR, (4, 8, 160), "x86", 1099, EUROPE_AND_SINGAPORE),
    kind(111, "cpx42", REGULAR, (8, 16, 320), "x86", 1999, EUROPE_AND_SINGAPORE),
    dedicated(kind(96, "ccx13", GENERAL, (2, 8, 80), "x86", 1249, EVERYWHERE)),
    dedicated(kind(97, "ccx23", GENERAL, (4, 16, 160), "x86", 2449, EVERYWHERE)),
    dedicated(kind(98, "ccx33", GENERAL, (8, 32, 240), "x86", 4849, EVERYWHERE)),
    dedicated(kind(99, "ccx43", GENERAL, (16, 64, 360), "x86", 9649, EVERYWHERE)),
];

const fn kind(
    id: i64,
    name: &'static str,
    category: &'static str,
    (cores, memory, disk): (u32, u32, u32),
    architecture: &'static str,
    cents: u64,
    locations: &'static [&'static str],
) -> ServerType {
    ServerType {
        id,
        name,
        category,
        cores,
        memory,
        disk,
        cpu: "shared",
        architecture,
        monthly: Price::cents(cents),
        locations,
        deprecation: None,
    }
}

const fn dedicated(server_type: ServerType) -> ServerType {
    ServerType { cpu: "dedicated", ..server_type }
}

/// When the end of a type was announced, and when it came.
const ENDED: (&str, &str) = ("2025-10-16T00:00:00Z", "2026-01-01T00:00:00Z");

const fn gone(server_type: ServerType) -> ServerType {
    ServerType { deprecation: Some(ENDED), ..server_type }
}

impl ServerType {
    pub(crate) fn is_offered_in(&self, location: &Location) -> bool {
        self.locations.contains(&location.name)
    }

    pub(crate) fn is_deprecated(&self) -> bool {
        self.deprecation.is_some()
    }

    pub(crate) fn prices(&self) -> Vec<Value> {
        let price = |location: &&str| price::in_location(location, self.monthly, 20);
        self.locations.iter().map(price).collect()
    }

    pub(crate) fn view(&self, knobs: &Knobs) -> Value {
        let locations = self.locations.iter().map(|name| self.in_location(name, knobs));
        json!({
            "id": self.id,
            "name": self.name,
            "description": self.name.to_uppercase(),
            "category": self.category,
            "cores": self.cores,
            "memory": self.memory,
            "disk": self.disk,
            "storage_type": "local",
            "cpu_type": self.cpu,
            "architecture": self.architecture,
            "prices": self.prices(),
            "deprecated": self.is_deprecated(),
            "deprecation": self.deprecation.map(end),
            "locations": locations.collect::<Vec<_>>(),
        })
    }

    fn in_location(&self, name: &str, knobs: &Knobs) -> Value {
        let ended = self.deprecation.or(knobs.has_ended(self.name, name).then_some(ENDED));
        let available = !self.is_deprecated() && knobs.lists(self.name, name);
        json!({
            "id": find::<Location>(name).map(Entry::id),
            "name": name,
            "available": available,
            "recommended": available,
            "deprecation": ended.map(end),
        })
    }
}

fn end((announced, gone): (&str, &str)) -> Value {
    json!({ "announced": announced, "unavailable_after": gone })
}

impl Entry for ServerType {
    const FIELD: &'static str = "server_type";

    fn all() -> &'static [Self] {
        &SERVER_TYPES
    }

    fn id(&self) -> i64 {
        self.id
    }

    fn name(&self) -> &'static str {
        self.name
    }
}
