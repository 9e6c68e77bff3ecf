//! The journal and its laws, on disk.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod history;
mod journal;
mod law;
mod recorder;
mod sample;
