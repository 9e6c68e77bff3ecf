//! The side of a world that its clients cannot see: faults, counters, machines.
//!
//! **What it is for.** Whoever started a world may look into it and let things
//! go wrong and right again while it runs.
//!
//! **What it is not.** A part of the simulated wire: it listens on a socket in
//! the file system, which only its owner may open, and on no address.
//!
//! ```text
//!  ask() ── one line of JSON ──► socket beside world.json ──► serve() ──► World
//!        ◄─ one line of JSON ──
//! ```
//!
//! **Invariants.**
//! - Nobody but the owner of the socket is answered.
//! - Nothing of it is told to a client of the world: a fault's name ends here.

mod ask;
mod place;
mod serve;
mod words;

pub use ask::{AskError, ask};
pub use place::Place;
pub use serve::{Admin, serve};
pub use words::{Answer, FaultNow, MachineNow, Question};
