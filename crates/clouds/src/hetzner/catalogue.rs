//! What Hetzner sells where.

use jiff::Timestamp;
use serde::Deserialize;

use super::query::Query;
use super::{Architecture, Hetzner, HetznerError, Listed};

/// A place with servers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Location {
    /// Its name, such as `fsn1`.
    pub name: String,
    /// The locations that one network can reach have the same zone.
    pub network_zone: String,
}

/// A type of servers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ServerType {
    /// Its name, such as `cax11`.
    pub name: String,
    /// What it runs.
    pub architecture: Architecture,
    /// Its disk, in gigabytes.
    pub disk: u32,
    /// Where it is sold.
    #[serde(default)]
    pub locations: Vec<Offer>,
}

/// A type in a location.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Offer {
    /// The location.
    pub name: String,
    /// Whether there is room now.
    #[serde(default)]
    pub available: bool,
    /// When it will not be sold any more.
    #[serde(default)]
    pub deprecation: Option<Deprecation>,
}

/// The end of something.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Deprecation {
    /// From then on it cannot be ordered.
    pub unavailable_after: Timestamp,
}

/// Whether a type can be had in a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sale {
    /// It can.
    Available {
        /// But not after this time.
        until: Option<Timestamp>,
    },
    /// It is sold out there, for now.
    SoldOut,
    /// It has ended there, for good.
    Ended {
        /// When.
        since: Timestamp,
    },
    /// It is not sold there.
    NotSold {
        /// Where it is.
        sold_in: Vec<String>,
    },
}

/// A type of load balancers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LoadBalancerType {
    /// Its name, such as `lb11`.
    pub name: String,
    /// How many targets it takes.
    pub max_targets: u32,
}

impl Listed for Location {
    const SINGULAR: &'static str = "location";
    const PLURAL: &'static str = "locations";
}

impl Listed for ServerType {
    const SINGULAR: &'static str = "server_type";
    const PLURAL: &'static str = "server_types";
}

impl Listed for LoadBalancerType {
    const SINGULAR: &'static str = "load_balancer_type";
    const PLURAL: &'static str = "load_balancer_types";
}

impl ServerType {
    /// Returns whether it can be had in a location now. Hetzner goes on listing a
    /// type that has ended, and may call it available.
    pub fn sale(&self, location: &str, now: Timestamp) -> Sale {
        let Some(offer) = self.locations.iter().find(|offer| offer.name == location) else {
            let current = self.locations.iter().filter(|offer| !offer.has_ended(now));
            return Sale::NotSold { sold_in: current.map(|offer| offer.name.clone()).collect() };
        };
        match offer.deprecation.as_ref().map(|end| end.unavailable_after) {
            Some(since) if since <= now => Sale::Ended { since },
            _ if !offer.available => Sale::SoldOut,
            until => Sale::Available { until },
        }
    }
}

impl Offer {
    fn has_ended(&self, now: Timestamp) -> bool {
        self.deprecation.as_ref().is_some_and(|end| end.unavailable_after <= now)
    }
}

impl Hetzner {
    /// Lists the places with servers.
    pub async fn locations(&self) -> Result<Vec<Location>, HetznerError> {
        self.list("list locations", Query::default()).await
    }

    /// Lists the types of servers.
    pub async fn server_types(&self) -> Result<Vec<ServerType>, HetznerError> {
        self.list("list server types", Query::default()).await
    }

    /// Lists the types of load balancers.
    pub async fn load_balancer_types(&self) -> Result<Vec<LoadBalancerType>, HetznerError> {
        self.list("list load balancer types", Query::default()).await
    }
}
