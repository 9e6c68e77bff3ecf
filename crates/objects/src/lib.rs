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
//!         class, next step
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
//!   [`Removal`]) is pure over objects and times that are passed in.

mod apply;
mod chain;
mod cluster;
mod connect;
mod delete;
mod discovery;
mod error;
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
pub use manifest::ManifestError;
pub use object::{Kind, NotAnObject, Object, ObjectId, Version};
pub use status::Status;
pub use watch::{Sighting, Watch};
