//! Everything that talks, on a real API server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod apply;
mod chain;
mod connect;
mod delete;
mod diff;
mod discovery;
mod errors;
mod harbour;
mod manifests;
mod noop;
mod watch;
