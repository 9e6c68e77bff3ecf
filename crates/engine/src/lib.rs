//! How it runs: a plan of stages, their units on nodes, gates and probes with
//! deadlines, retries by class, cancel, lock and resume.
//!
//! ```text
//!  Plan ──► Schedule ──► UnitRun per unit:  act ──► gate ──► gate … ──► done
//!            (pure)        │                 │        │
//!                          │            Hands::ensure  wait_for: look, note, pause
//!                          ▼                 ▼        ▼
//!                      Ledger / Recorder ─► journal ─► observers
//! ```
//!
//! It does not know what a stage does (that is a [`Work`]), nor how a run looks.
//!
//! Invariants:
//! - A resume is a new run over the same plan, from the first stage. The journal
//!   never skips a stage: it pins choices and settles calls in doubt.
//! - A mutating call is made in a task of its own, after its intent is on disk,
//!   and its result is journaled whatever happens to the unit. Cancel takes
//!   effect between calls.
//! - Units on different nodes share no barrier unless the plan says so.
//! - After a failure nothing new starts, unless the work only looks, and
//!   nothing is undone.
//! - Only [`Clock`](events::Clock) and [`Chance`] bring time and luck.

mod backoff;
mod cancel;
mod chance;
mod claim;
pub mod codes;
mod confirmation;
mod hands;
pub mod laws;
mod lock;
mod repair;
mod run;
mod schedule;
mod session;
mod state_folder;
mod table;
mod unit_run;
mod wait;
mod work;

pub use backoff::Backoff;
pub use cancel::Cancel;
pub use chance::Chance;
pub use claim::{Claim, Claimant};
pub use hands::{Ensured, Eyes, Hands, SendError, Sight};
pub use lock::{Holder, LockError, RunLock};
pub use repair::{RepairError, SetAside, set_aside};
pub use run::{AfterFailure, Engine, EngineError, Finished, Until};
pub use session::{Opening, Session, SessionError, past};
pub use state_folder::{StateError, StateFolder};
pub use table::{Check, Pace, Scope, Stage, UnknownCheck, planned};
pub use work::{ActError, Skip, Work};
