//! Talos: the secrets of a cluster, the configs of its machines, and a client
//! for the API of a node.
//!
//! ```text
//!  chance, time ─► secrets::Bundle ─┬─► config::MachineConfig ──┐ apply
//!                                   │                           ▼
//!                                   └─► credentials::Identity ─► client::Client ─► node :50000
//!                                                                                   ▲
//!                       no secret at all ──────────────────────── probe::probe ─────┘
//! ```
//!
//! It holds no plan and takes no decision: which node gets which config, when
//! etcd is bootstrapped and how long to wait belong to the stages.
//!
//! Invariants:
//! - Every file has the form of talosctl's own, and talosctl's files are read.
//! - No secret is in a `Debug`, a `Display` or an error. What holds one is an
//!   [`events::Secret`], and [`secrets::Bundle::secrets`] names them all.
//! - A call that changes something takes the [`events::Permit`] for just that
//!   call, is sent at most once, and never again by itself.
//! - Nothing is asked without a deadline, and a good reply that carries a
//!   node's failure is a failure.
//! - A connection counts once the node has spoken on it, and is never replaced
//!   behind its owner's back.

pub mod client;
pub mod config;
pub mod credentials;
pub mod pki;
pub mod probe;
pub mod secrets;
mod wire;
mod yaml;
