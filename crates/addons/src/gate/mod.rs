//! What gates are made of: what they look at, what was seen, and the verdict.
//!
//! ```text
//!  gate.needs() ─► Look ── asked by somebody with a client ──► Seen ─► gate.judge() ─► Verdict
//! ```
//!
//! A gate is pure: it says what it needs to see, and judges what was seen.
//! - What could not be looked at makes the verdict Blind, never Ready.
//! - What is absent, empty or without the field in question is Not yet.
//! - Failed is said only where waiting cannot help.

mod field;
mod finding;
mod look;
mod node;
mod per_node;
mod pod;
mod replicated;
mod seen;

pub(crate) use field::{condition, has_condition, is_observed, items, name, text};
pub(crate) use finding::{Finding, Inquiry};
pub use look::{Kind, Look, Need, Purpose};
pub(crate) use look::{kinds, pods_of};
pub use node::Nodes;
pub(crate) use node::{Roll, has_taint};
pub(crate) use per_node::PerNode;
pub use pod::is_refusal;
pub(crate) use replicated::Replicated;
pub use seen::{Answer, Route, Seen};

use events::{Failure, Verdict};

/// A check that only reads.
pub trait Gate: Send + Sync {
    /// Returns what it needs to see.
    fn needs(&self) -> Vec<Need>;

    /// Judges what was seen.
    fn judge(&self, seen: &Seen) -> Verdict;
}

/// Turns what could not be looked at into a verdict.
pub(crate) fn verdict(judged: Result<Verdict, Failure>) -> Verdict {
    judged.unwrap_or_else(Verdict::blind)
}
