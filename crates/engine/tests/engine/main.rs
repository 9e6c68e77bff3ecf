//! The engine against a small simulated world.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "the laws say how many points they crossed")]

mod behaviour;
mod laws;
mod storms;
