//! Addons of the catalogue, bound to a site: what is delivered, and how its
//! gate gets to see what it needs.

mod catalogue;
mod seen;

pub use catalogue::addon_objects;
pub(crate) use catalogue::{Part, gate, rendered};
pub(crate) use seen::{judge, judge_in};
