//! The Hetzner Cloud API with one simulated project behind it.
//!
//! ```text
//!  client ─TLS─► gate ─► call ─► Project ─► answer (Effects may lose it)
//!                 token, limits    │  └─ jobs: actions that take simulated time
//!                                  ├──► Machines: a server runs, stops, is gone
//!                                  └──► load balancers: real ports, real checks
//! ```
//!
//! Written from the wire contract as it is after July 2026: locations without
//! data centres, availability per location. Paths that are not simulated answer
//! 501. A server's public address is a loopback address on which its machine
//! listens; private addresses exist only in the data. Firewalls filter nothing.
//!
//! Invariants:
//! - All state is in `Project`, behind one lock; a call either changes it and is
//!   recorded as one effect, or is refused and changes nothing.
//! - What takes time is an action. A resource with a running action refuses
//!   others, networks and load balancers with `conflict`, everything else with `locked`.
//! - Faults are [`Knobs`]; their names never travel on the wire.

mod action;
mod addresses;
mod api;
mod balancer;
mod catalog;
mod cloud;
mod delays;
mod desk;
mod holding;
mod insider;
mod knobs;
mod machines;
mod project;
mod rate_limit;
mod refusal;
mod resources;
mod seed;
mod selector;
mod shelf;

pub use cloud::{Hetzner, Settings, StartError};
pub use delays::Delays;
pub use holding::Holding;
pub use insider::Insider;
pub use knobs::{Access, Busy, HealthChecks, Knobs, Known, Shortage, Throttle};
pub use machines::{Machine, MachineImage, Machines, Metadata, PrivateAddress};
pub use resources::ImageStatus;
pub use seed::{Architecture, ForeignCluster, Snapshot};
pub use selector::Labels;
