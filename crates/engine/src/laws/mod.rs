//! The laws that every list of stages has to keep, as tests that run it against
//! a simulated world: on a discrete clock, crashed at every point, resumed.
//!
//! 1. A run ends proven, and a second run changes nothing.
//! 2. A run that is crashed after any record of its journal, with or without a
//!    torn line behind it, is resumed and ends proven.
//! 3. A run that is crashed after any effect, before its answer, is resumed and
//!    ends proven.
//! 4. A run that is asked to stop after any record ends interrupted or, where
//!    it was too late to stop, proven; resumed, it ends proven.
//! 5. A unit that fails for good fails the run and is named by it; once the
//!    world is mended, a resume ends proven.
//!
//! After each of them there is exactly one of everything in the world, and
//! every journal reads back whole.

mod check;
mod harbour;
mod sail;
mod weather;

pub use check::{Broken, Kept, keep_all};
pub use harbour::{Crew, Fault, Harbour};
pub use sail::{Voyage, sail};
pub use weather::{Effects, Weather};

use std::sync::Arc;

use events::{ClusterId, Plan, Unit};

use crate::Work;

/// A simulated world that a list of stages is run against.
pub trait World: Send + Sync + 'static {
    /// The stages' doing in this world.
    type Work: Work;

    /// Returns the plan for this world.
    fn plan(&self, cluster: ClusterId) -> Plan;

    /// Returns new clients of the world, as a new process would make them.
    /// Every mutating call waits on [`Effects::happened`] between its effect
    /// and its answer.
    fn work(&self, effects: Effects) -> Arc<Self::Work>;

    /// Returns how many mutating calls have arrived, those of probes included.
    fn mutations(&self) -> u64;

    /// Makes one unit fail for good, or mends the world.
    fn break_unit(&self, unit: Option<&Unit>);

    /// Returns what is wrong where there is not exactly one of everything.
    fn check(&self) -> Result<(), String>;
}
