//! The laws of the engine, over the stages of `up` and `down`: their tables
//! against a small world of units, and the real stages with the real clients
//! against the simulated world, over real sockets and real TLS.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "the laws say how many points they crossed")]

mod down;
mod likeness;
mod machines;
mod sea;
mod table;
mod up;
mod yard;
