//! What Hetzner offers everywhere: places, types and prices.
//!
//! Figures are those of autumn 2026 as far as they are known, and stand-ins
//! otherwise; what counts is that lists, pricing and orders agree.

mod load_balancer_types;
mod locations;
mod price;
mod pricing;
mod server_types;

pub(crate) use load_balancer_types::{LOAD_BALANCER_TYPES, LoadBalancerType};
pub(crate) use locations::{LOCATIONS, Location};
pub(crate) use pricing::pricing;
pub(crate) use server_types::{SERVER_TYPES, ServerType};

use super::refusal::Refusal;

/// An entry of the catalogue, which orders name by id or by name.
pub(crate) trait Entry: Sized + 'static {
    /// The field of an order that names one.
    const FIELD: &'static str;

    fn all() -> &'static [Self];
    fn id(&self) -> i64;
    fn name(&self) -> &'static str;
}

/// Finds an entry by its id or its name.
pub(crate) fn find<T: Entry>(wanted: &str) -> Option<&'static T> {
    T::all().iter().find(|it| it.name() == wanted || it.id().to_string() == wanted)
}

/// Finds the entry that an order names.
pub(crate) fn order<T: Entry>(wanted: &str) -> Result<&'static T, Refusal> {
    find(wanted).ok_or_else(|| Refusal::invalid(T::FIELD, format!("`{wanted}` does not exist")))
}
