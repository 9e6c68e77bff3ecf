//! Applying many objects as one.
//!
//! ```text
//!  objects ─► place ─► claim ─► Order ─► look ──► extend ─► apply … ─► prune ─► shrink
//!             scope    label             list or   the       32 in      what    the
//!             of kinds of the            get once  inventory flight,    is no   inventory
//!                      inventory                             one PATCH  longer
//!                                           │                each       there
//!                                           ▼
//!                              problems that are known before
//!                              the first change stop everything
//! ```
//!
//! - What is there already is looked at before anything is changed: by one list
//!   of a kind, by one for each namespace, or by single looks, whatever needs
//!   fewer requests. So
//!   each request says which life of an object it means, nothing is adopted by
//!   accident, and what is as wished is not sent.
//! - The inventory is extended before the first object is sent. A crash at any
//!   moment loses nothing: the same command, run again, goes on.
//! - Every problem of the set is reported, not only the first. What waits for
//!   an object that failed is left; everything else goes on.
//! - [`Cluster::diff_set`](crate::Cluster::diff_set) and
//!   [`Cluster::drift_of_set`](crate::Cluster::drift_of_set) go the same way up to
//!   the look, and then ask by dry runs, page by page, only about what may differ.
//! - A request is repeated only where its class says so, within the patience
//!   that was given, and a pause that the API asks for holds up the whole set.

mod adopt;
mod apply;
mod board;
mod compare;
mod definition;
mod end;
mod finding;
mod gate;
mod inventory;
mod leaving;
mod look;
mod means;
mod memory;
mod one;
mod pace;
mod persistence;
mod place;
mod precondition;
mod prune;
mod question;
mod reach;
mod repair;
mod report;
mod run;
mod secret;
mod spared;
mod stranger;
mod survey;
mod taken;
mod untried;

pub use adopt::Adopt;
pub use apply::{Mode, Set, SetError, Settings, Walk};
pub use compare::SetDiff;
pub use finding::{Compared, Finding};
pub use inventory::{Inventory, InventoryError};
pub use means::{Hold, Holdup, Means};
pub use memory::Memory;
pub use persistence::Persistence;
pub use prune::{End, Prune, Pruned};
pub use report::{Outcome, Report, Step, StepError, There};
