//! `verify`: whether a cluster is healthy, whoever made it. Only reads.
//!
//! ```text
//!  kubeconfig ─► objects::Cluster ─► Verify ── looks ──► api · etcd · machines · nodes · cni · workloads · dns
//!                                      ▲
//!                           rights: what each of them has to be allowed
//! ```
//!
//! The gates do not wait for each other, and a failure of one ends no other:
//! whoever asks wants to know all that is wrong. What a gate may not read is
//! unknown: neither passed nor failed, and never healthy.

mod acquaintance;
mod api;
mod cni;
mod dns;
mod etcd;
mod listed;
mod machines;
mod nodeless;
mod nodes;
mod rights;
mod roll_call;
mod selection;
mod table;
mod work;
mod workloads;

pub use acquaintance::Acquaintance;
pub use etcd::ControlPlanes;
pub use rights::{Grantee, rbac};
pub use roll_call::Roll;
pub use selection::Selection;
pub use table::{Circumstances, MACHINES, TABLE, gates, plan};
pub use work::Verify;
