//! What was asked: the cluster file, its validation, and pure planning.
//!
//! ```text
//!  bytes ─► read (tree with places) ─► cluster (types) ─► rules ─► plan
//!                      │                    │                │
//!                      └──────── problems: all of them, in one go
//! ```
//!
//! [`read`] turns the bytes of a cluster file into a [`Reading`]: the
//! [`Cluster`] if there is no error, and every [`Problem`] either way.
//! [`Plan::of`] turns a cluster into names, addresses, firewall rules, labels
//! and deadlines. [`json_schema`] describes the file to editors, and [`init`]
//! writes a new one.
//!
//! This crate asks nobody: no network, no clock, no environment, no file. What
//! only the cloud knows (which types are sold out, what they cost, whether a
//! name is taken) belongs to the preflight stage.
//!
//! Invariants:
//! - One mistake gives one message. A value that could not be read is replaced
//!   by a stand-in that no later rule complains about.
//! - What the decoder reads, the schema describes, and nothing else: both come
//!   from the same description of keys.
//! - A key acts or is refused. Keys of later versions are known, so that they are
//!   refused with a reason, and are not in the schema, so that no editor offers them.
//! - A cluster without errors can be planned; planning cannot fail.
//! - Growing a pool or appending one moves no name and no address.

mod cluster;
pub mod init;
pub mod plan;
mod read;
mod reading;
mod rules;
mod scalar;
mod schema;
pub mod versions;

pub use cluster::*;
pub use plan::Plan;
pub use read::{
    Colour, Content, Entry, Node, Position, Problem, ProblemRecord, Related, ScalarKind,
    ScalarNode, Severity, Source, Span, Spanned, nearest,
};
pub use reading::{Reading, ReadingRecord, parse_yaml, read, read_with_unsupported};
pub use rules::Rule;
pub use scalar::{
    Architecture, Bytes, Cidr, ClusterName, DnsName, Duration, Egress, Euro, Extension, FilePath,
    GitUrl, HttpUrl, HttpsUrl, ImageName, LabelKey, LabelValue, LoadBalancerType, Location, Mac,
    NetworkZone, PoolName, RegistryHost, ResourceName, ServerType, ServiceUrl, SourceRange, Taint,
    TaintEffect, Text, Version, Within,
};
pub use schema::json_schema;
