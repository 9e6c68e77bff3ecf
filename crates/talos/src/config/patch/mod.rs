//! Patches of machine configs, as talosctl applies them.
//!
//! ```text
//!  text ─► Node (scalars as written, with lines) ─► Patch ─┐
//!                                                          ▼
//!                             MachineConfig ─► documents ─► merge | delete | operations
//! ```
//!
//! A patch is either a machine config in part, which is merged, or a list of
//! RFC 6902 operations on the main document. Talos merges Go structs, so what
//! happens to a list depends on the field that it is in: `rules` is the table
//! of those fields. The real talosctl judges all of it in the tests, which also
//! hold the few places where we differ on purpose:
//!
//! - A list of operations works on the main document, whatever documents stand
//!   beside it. talosctl refuses it as soon as there is a second document, which
//!   is always since Talos 1.12.
//! - The operations `replace` and `copy` fail where there is nothing, and so
//!   does `test` for null, as RFC 6902 says. talosctl adds, copies nothing, or
//!   is content. Nor is there an element -1, which to talosctl is the last one.
//! - A URL is replaced as a whole. talosctl keeps the old path and query where
//!   the new URL has none.
//! - A size or an expression of a volume that the patch does not name stays.
//!   talosctl erases it.
//! - A duration of zero is taken. talosctl keeps the old one.
//! - A date without quotes is a text. talosctl refuses it.
//!
//! And two because only Talos knows all of its fields:
//!
//! - A field that there is not can be deleted. talosctl refuses that.
//! - `TRUE` without quotes is a boolean, unless it comes in a table of texts or
//!   in the place of a text; and a number is written in digits only. talosctl
//!   knows of each field whether it is for a text.
//!
//! Keys that Talos does not know are refused by the node, not here.

mod apply;
mod delete;
mod error;
mod merge;
mod node;
mod read;
mod rules;
mod steps;

pub(in crate::config) use apply::apply;
pub use error::{PatchError, Reason};
pub use rules::ruled_places;
pub use steps::Patch;
