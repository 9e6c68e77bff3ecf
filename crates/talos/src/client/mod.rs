//! The API of a node: one connection, deadlines on every call, no retries.
//!
//! ```text
//!  Node ── maintenance(pin) ──► Client ── version, machine_status, disks, …
//!       └─ authenticated(id) ─►        ├─ happenings, watch_… for some time
//!                                      └─ apply_configuration(permit, …) …
//! ```
//!
//! A [`Client`] is one connection and never makes another: whoever wants to
//! know whether a node answers *now* connects anew. A node restarts its API
//! when it takes its config, and for a moment the old server, which asks
//! nobody for a certificate, already shows the new certificate. A reply alone
//! therefore proves nothing; [`Node::prove_admin`] does.
//!
//! Calls that change something take an [`events::Permit`] for just that call;
//! see [`Apply::call`] and its siblings. Errors say [why](Reason), what may be
//! done about it, and whether the call may have [arrived](events::Arrival).

mod bounded;
mod catalogue;
mod change;
mod connection;
mod error;
mod etcd;
mod feed;
mod happenings;
mod in_time;
mod logs;
mod meaning;
mod of_connection;
mod of_status;
mod reason;
mod refusal;
mod reply;
mod resources;
mod services;
mod upkeep;

pub use change::{Afterwards, Applied, Apply, Bootstrap, Reset};
pub use connection::{AdminProof, Client, Node};
pub use error::ClientError;
pub use etcd::{EtcdMember, EtcdStatus};
pub use happenings::{Happened, Happening, Happenings, Since};
pub use in_time::Deadlines;
pub use meaning::Meaning;
pub use reason::Reason;
pub use resources::{
    Diagnostic, Disk, Link, MachineStatus, Member, NodeStatus, PlatformMetadata, Seen, Stage,
    StaticPod, UnmetCondition, Watch,
};
pub use services::{Health, Service, Version};
pub use upkeep::{Keeper, Pull, Reboot, Upgrade};
