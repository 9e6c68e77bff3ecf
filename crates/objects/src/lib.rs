//! Kubernetes objects: read from manifests, applied, watched, judged, explained
//! and deleted, on any cluster.
//!
//! **What it is for.** Everything of ours that talks to a Kubernetes API: the
//! addons, the gates, the commands on objects.
//!
//! **What it is not.** It decides nothing about a run, and does not know what
//! an addon is. A single call is neither repeated nor paused for: an error has a
//! [class](ApiError::class). Only work on many objects ([sets](set),
//! [`Cluster::wait`], [`Cluster::remove`]) looks again and repeats what its class
//! allows, on the clock and within the patience that it is given.
//!
//! ```text
//!  bytes ─► manifest ─► Object ─► Order ──┐
//!                                         ▼
//!  Access ─► Cluster ─► resource ─► apply · preview · delete · force   (a Permit each)
//!               │                   get · list · watch · why
//!               ▼                          │    │
//!            ApiError                      │    └─► lookout ─► wait · remove  (many at once)
//!         tried, trouble,                  ▼                     │
//!         class, next step     Status · Ailment · explain · Goal · Removal    (pure)
//!                              fields ─► compare · diff                       (pure)
//! ```
//!
//! **Invariants.**
//! - A mutating method takes a [`Permit`](events::Permit) and makes one
//!   mutating request, or none. The client library's own retries are off.
//! - An apply or a delete meant for one life of an object (its uid) never
//!   touches another one.
//! - "Gone" is only said where the API said so; an error never is.
//! - A warning of the API stays with the call that caused it.
//! - What tells states apart ([`Status`], [`Ailment`], [`explain`], [`Order`],
//!   [`Goal`], [`Removal`], [`compare`], [`diff`]) is pure over objects and times
//!   that are passed in.
//! - A field is named by a [typed path](fields::FieldPath), never by a text
//!   with dots. Values of Secrets are hidden before anybody can show them.
//! - However many objects are waited for, there is one watch per kind and
//!   namespace.

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
mod jsonpath;
mod labels;
mod line;
mod list;
mod lookout;
pub mod manifest;
mod near_field;
mod object;
mod order;
mod request;
pub mod set;
mod status;
mod wait;
mod watch;

pub(crate) use apply::Meant;
pub use apply::{Applied, Change, FIELD_MANAGER, Ownership};
pub use chain::{Chain, Link, LogTail, ReadIn, Surroundings, explain, happened_at};
pub use cluster::{Cluster, Health, ServerVersion};
pub use connect::{Access, AccessError, SyntaxProblem, Timeouts};
pub use delete::{
    Deleted, Deletion, Doomed, Finalizer, Force, ForceHolders, Gone, Impatience, Leftover, Look,
    Milestone, NotForced, NotRemoved, Patience, Propagation, Remains, Removal, RemovalEvent,
    RemovalState, RemovalTerms, Removed, Waiting,
};
pub use discovery::{KindNameError, Resource, Slip, UnknownKind};
pub(crate) use error::differing;
pub use error::{
    ApiError, FieldConflict, FieldProblem, Immutable, NoCredential, Right, RightTo, TlsProblem,
    Trouble, Unreachable,
};
pub use jsonpath::{JsonPath, PathError, PathProblem};
pub use labels::{SelectorError, check_selector};
pub use list::{Listed, Scope};
pub use lookout::LookErrors;
pub use manifest::{ManifestError, ManifestErrors};
pub use object::{Kind, NotAnObject, Object, ObjectId, Version};
pub use order::{DEPENDS_ON, Disorder, Need, Order, OrderProblem, Prerequisite, Strength};
pub use status::{Ailment, AilmentKind, Claims, Status};
pub use wait::{
    Goal, GoalError, Met, Miss, Missed, NoRollout, NumberOrder, Subject, Terms, Unmet, ValueTest,
    ValueTestError, Wait, WaitError, WaitEvent,
};
pub use watch::{Sighting, Watch};
