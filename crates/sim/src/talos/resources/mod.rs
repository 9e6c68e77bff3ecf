//! The resources that a node's controllers keep.
//!
//! They are a description of the node's state and nothing else: `describe`
//! makes them from it, and `Resources` compares that with what was there
//! before, which gives versions, times and events.

mod definition;
mod describe;
mod hardware;
mod kubernetes;
mod store;

pub(super) use definition::{Definition, definition};
pub(super) use describe::{Known, Wanted, describe};
pub(super) use kubernetes::static_pod_names;
pub(super) use store::{Change, Described, Description, Resources};
