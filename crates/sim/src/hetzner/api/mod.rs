//! The HTTP side: routes, the gate that every call passes, and the calls.

mod actions;
mod call;
mod catalog;
mod firewalls;
mod gate;
mod generic;
mod images;
mod list;
mod load_balancers;
mod networks;
mod placement_groups;
mod routes;
mod servers;
mod ssh_keys;
mod targets;
mod volumes;

pub(crate) use call::{Call, Changed, IdOrName, Reply};
pub(crate) use routes::router;
