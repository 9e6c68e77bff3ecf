//! Fields of objects: which one is meant, who owns it, what stands there.
//!
//! A [`FieldPath`] is made of typed [`Step`]s, as the API's `FieldsV1` has them:
//! the name of a field, the keys of a list's item, an item that is its own
//! value, a position. A key with a dot in it is one step, so
//! `data["nginx.conf"]` is never taken for `data.nginx.conf`.
//!
//! ```text
//!  managedFields ─► Owners ─► Share { owner, time, fields } ─► FieldSet
//!                     │                                          │
//!                     ▼                                          ▼
//!          who owns a path, Handover            union, difference, leaves, pick
//! ```
//!
//! **Invariants.**
//! - A path reads back from its text, and a set from its `FieldsV1`.
//! - Sets that have the same members are equal, however they were made.

mod atom;
mod handover;
mod members;
mod owners;
mod path;
mod pick;
mod remove;
mod set;
mod step;
mod text;
mod told;
mod wire;

#[cfg(test)]
mod laws;

pub use atom::Atom;
pub use handover::{Handover, Passed};
pub use owners::{Operation, Owner, Owners, OwnersError, Share};
pub use path::{FieldPath, NotAPath};
pub use set::FieldSet;
pub(crate) use set::Node;
pub use step::{Key, Step};
pub use wire::NotFields;
