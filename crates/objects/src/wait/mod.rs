//! Waiting until objects are what they should be.
//!
//! ```text
//!  Wait ── goal, subjects, terms
//!    │
//!    ▼                 one watch per kind and namespace
//!  Cluster::wait ─► Lookout ─► Glimpse ─► Awaited (pure) ─► Met · Waiting · Missed
//!    │                  └─ pods, events of what is not ready ─► ailments
//!    ├─► WaitEvent … (changes only)
//!    └─► Met, or Unmet with the chain of causes
//! ```
//!
//! The clock of an [`Awaited`] is passed in, so everything that depends on
//! time is told by tables: the window in which a goal has to stay met, how
//! long an object may be missing, for how long a cause that does not heal is
//! put up with. What cannot be looked at is never met, and of what says nothing
//! nobody can tell.

mod around;
mod awaited;
mod goal;
mod group;
mod judge;
mod lazy;
mod near;
mod outcome;
mod run;
mod silence;
mod terms;
mod value_test;

pub use goal::{Goal, GoalError, NoRollout};
pub(crate) use near::nearest;
pub use outcome::{Met, Miss, Missed, Unmet, WaitError, WaitEvent};
pub use terms::{Subject, Terms, Wait};
pub use value_test::{NumberOrder, ValueTest, ValueTestError};

use awaited::{Awaited, State};
use judge::Judgement;
