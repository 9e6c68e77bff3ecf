//! Simulated clouds, Talos nodes and Kubernetes, on real sockets.
//!
//! Written from the wire contracts and from nothing else: this crate knows
//! neither our clients nor our engine, so that it cannot agree with them by
//! accident. Whatever is not simulated answers that it is not implemented.
//!
//! What all the parts share is small: [`Tempo`] lets simulated time pass,
//! [`Clock`] tells the time of day, [`Effects`] sees every change of the
//! simulated world before its answer leaves, which is where a test may cut the
//! answer off, and [`wire`] serves HTTP on TLS and does the cutting. [`tenants`]
//! are what runs in the pods. [`world`] binds the parts together, and [`admin`]
//! is for whoever started it, out of its clients' sight.

pub mod admin;
mod clock;
mod effects;
pub mod hetzner;
pub mod kube;
pub mod talos;
mod tempo;
pub mod tenants;
pub mod wire;
pub mod world;

pub use clock::Clock;
pub use effects::{Answer, Counters, Effect, Effects};
pub use tempo::Tempo;
