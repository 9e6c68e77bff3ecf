//! Kubernetes objects: read from manifests, applied, watched, judged, explained
//! and deleted, on any cluster.
//!
//! **What it is for.** Everything of ours that talks to a Kubernetes API: the
//! addons, the gates, the commands on objects.
//!
//! **What it is not.** It decides nothing about a run. It neither retries nor
//! sleeps: an error has a [class](ApiError::class), and whoever waits knows how
//! long. It does not know what an addon is.
//!
//! ```text
//!  bytes ─► manifest ─► Object ─► layers ─┐
//!                                         ▼
//!  Access ─► Cluster ─► resource ─► apply · preview · delete   (a Permit each)
//!               │                   get · list · watch · why
//!               ▼                          │
//!            ApiError                      ▼
//!         tried, trouble,      Status · explain · Removal      (pure)
//!         class, next step     fields ─► compare · diff        (pure)
//! ```
//!
//! **Invariants.**
//! - A mutating method takes a [`Permit`](events::Permit) and makes one
//!   mutating request, or none. The client library's own retries are off.
//! - An apply or a delete meant for one life of an object (its uid) never
//!   touches another one.
//! - "Gone" is only said where the API said so; an error never is.
//! - A warning of the API stays with the call that caused it.
//! - What tells states apart ([`Status`], [`explain`], [`layers`],
//!   [`Removal`], [`compare`], [`diff`]) is pure over objects and times that are
//!   passed in.
//! - A field is named by a [typed path](fields::FieldPath), never by a text
//!   with dots. Values of Secrets are hidden before anybody can show them.

mod apply;
mod chain;
mod cluster;
pub mod compare;
mod connect;
mod delete;
pub mod diff;
mod discovery;
mod error;
pub mod fields;
mod layers;
mod list;
pub mod manifest;
mod object;
mod request;
mod status;
mod watch;

pub use apply::{Applied, Change, FIELD_MANAGER, Ownership};
pub use chain::{Chain, Link, Surroundings, explain};
pub use cluster::{Cluster, Health, ServerVersion};
pub use connect::{Access, AccessError, Timeouts};
pub use delete::{
    Deleted, Deletion, Doomed, Gone, Look, LookErrors, Propagation, Remains, Removal, RemovalState,
    Waiting,
};
pub use discovery::Resource;
pub use error::{ApiError, FieldConflict, FieldProblem, Trouble, Unreachable};
pub use layers::{Layer, Rank, SameObjectTwice, layers};
pub use list::{Listed, Scope};
pub use manifest::{ManifestError, ManifestErrors};
pub use object::{Kind, NotAnObject, Object, ObjectId, Version};
pub use status::Status;
pub use watch::{Sighting, Watch};
