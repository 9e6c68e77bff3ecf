//! The client against bodies and accidents on a real socket with real TLS.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod api;
mod hostile;
mod lists;
mod ownership;
mod permits;
mod refusals;
mod transport;
mod wire;
mod wishes;
