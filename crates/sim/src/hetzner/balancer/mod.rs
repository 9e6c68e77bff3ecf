//! Load balancers at work: real listeners, real health checks.
//!
//! ```text
//!  client ─► Front (address:listen port) ─► a healthy backend (address:port)
//!                 ▲                              ▲
//!                 └── Healths ◄── checks ────────┘
//! ```
//!
//! A front without a healthy backend accepts and closes: the client sees an end
//! of file, as it does at Hetzner.

mod check;
mod forward;
mod front;
mod health;

pub(crate) use front::Fronts;
pub(crate) use health::Healths;
use health::{Failure, Health};
