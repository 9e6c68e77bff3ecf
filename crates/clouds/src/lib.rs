//! Clouds: machines, networks and load balancers, and whose they are.
//!
//! ```text
//!  plan ─► lifecycle ── wishes, looks ────► hetzner (proxmox later) ──► the cloud's API
//!              │                               │
//!              └── Cloud: host of a node, ─────┴─► machines: what people have given
//!                         inventory
//! ```
//!
//! Machines that exist already have nobody who makes or removes them: see [`machines`].
//!
//! It knows neither the cluster file nor the engine: what is wanted comes as
//! plain types, and what came of a call goes back as [`events::Made`] or as an
//! error with a class. It decides nothing, waits for nothing and repeats nothing.
//!
//! Invariants:
//! - Nothing is changed without an [`events::Permit`], which must be for just
//!   that call; one permit is one request.
//! - An error says whether its call may have arrived ([`Arrival`](events::Arrival)). In doubt
//!   the next thing is a look, never the same call.
//! - What was made carries the cluster's id; what does not carry it is not
//!   touched, whatever its name ([`Ownership`]). Only a look that has proof makes
//!   an [`Item`], and only items can be removed.
//! - A list is whole or an error: a lost page is never an empty one.
//! - The token is in no error and in no `Debug`.

mod cloud;
pub mod hetzner;
mod item;
pub mod machines;
mod ownership;

pub use cloud::{Cloud, Host};
pub use item::{Item, Step};
pub use ownership::{CLUSTER_ID, Labels, Ownership};
