//! The laws that every list of stages has to keep, as tests that run it against
//! a simulated world: crashed at every point, resumed.
//!
//! 1. A run ends proven, and a second run changes nothing.
//! 2. A run that is crashed after any record of its journal, with or without a
//!    torn line behind it, is resumed and ends proven.
//! 3. A run that is crashed after it took down that it means to send a call, and
//!    before it sends it, is resumed and ends proven; so it is after the call's
//!    effect, before its answer. Nothing but the world tells one from the other.
//! 4. A run that is asked to stop after any record ends interrupted or, where
//!    it was too late to stop, proven; resumed, it ends proven.
//! 5. A unit that fails for good fails the run and is named by it; once it is
//!    mended, a resume ends proven.
//!
//! After each of them there is exactly one of everything in the world, and
//! every journal reads back whole.
//!
//! A [`World`] is anything that stages can be run against. [`Harbour`] is a
//! small one on a discrete clock, for plans of any shape; the real stages with
//! the real clients have a world behind sockets, which lives in real time and
//! on threads of its own, so that it outlives the process that is crashed.
//! There the number of records differs a little from run to run: a point that
//! a run does not reach is counted as missed, not as crossed. Where a world is
//! too slow for every point, [`Breadth`] says which ones are tried, and
//! [`Kept`] how many were left out.

mod breadth;
mod check;
mod harbour;
mod kept;
mod point;
mod sabotage;
mod sail;
mod time;
mod weather;

pub use breadth::Breadth;
pub use check::{keep, keep_all};
pub use harbour::{Crew, Fault, Harbour};
pub use kept::{Breaches, Broken, Kept};
pub use sabotage::{Sabotaged, Saboteur};
pub use sail::{Voyage, sail};
pub use time::Time;
pub use weather::{Effects, Weather};

use std::sync::Arc;

use events::{ClusterId, Plan};

use crate::{Backoff, Work};

/// A simulated world that a list of stages is run against.
pub trait World: Send + Sync {
    /// The stages' doing in this world.
    type Work: Work;

    /// Returns the plan for this world.
    fn plan(&self, cluster: ClusterId) -> Plan;

    /// Returns new clients of the world, as a new process would make them; it
    /// is called within that process's runtime. Between the effect of every
    /// mutating call and its answer the world waits on [`Effects::happened`],
    /// or it follows its own count and loses the answer of
    /// [`Effects::fatal`].
    fn work(&self, effects: Effects) -> Arc<Self::Work>;

    /// Returns in what time the world lives.
    fn time(&self) -> Time {
        Time::Discrete
    }

    /// Returns the pauses between tries that suit the world's speed.
    fn backoff(&self) -> Backoff {
        Backoff::default()
    }

    /// Returns how many mutating calls have arrived, those of probes included.
    fn mutations(&self) -> u64;

    /// Returns what is wrong where there is not exactly one of everything.
    fn check(&self) -> Result<(), String>;
}
