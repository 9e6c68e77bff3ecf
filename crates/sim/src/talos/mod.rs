//! Simulated Talos nodes.
//!
//! A [`Node`] is one machine on one loopback address. It listens on port 50000
//! with real TLS and real gRPC, and lives as a Talos node does:
//!
//! ```text
//!  power on ─► maintenance ── ApplyConfiguration ──► race window ─► port closed
//!              (no client certificate,               (old server,        │
//!               everybody a reader)                   new certificate)   ▼
//!                                     control plane ◄──────────── mutual TLS with the
//!                                     worker: closed until a       authority of the
//!                                     control plane's trustd       configuration
//!                                     signs its certificate
//!                Bootstrap ─► etcd ─► static pods ─► the Kubernetes API may start
//! ```
//!
//! Trustd is real, too: gRPC over TLS on port 50001 of each control plane.
//!
//! What the nodes of a cluster share is a [`Cluster`]: where trustd is, etcd,
//! and knowing each other. Everything else around a node, Kubernetes above all, is behind
//! the trait [`Surroundings`]. What is wrong with a node is in its [`Knobs`].
//!
//! Written from recordings of Talos 1.14 and from its interface definitions; it
//! is not Talos, and what it does not simulate answers `Unimplemented`:
//! following a log, passing calls on to other nodes, the health check that a
//! node makes itself, and the TRY mode before there is a configuration.
//!
//! Invariants: an answer is on its way before its consequences begin; a change
//! is told to [`Effects`](crate::Effects) before its answer leaves; resources
//! are a function of the node's state; no node has a thread of its own.

mod api;
mod cluster;
mod etcd;
mod facts;
mod machine_config;
mod node;
mod pki;
mod resources;
mod role;
mod server;
mod services;
mod settings;
mod surroundings;
mod timestamp;
mod tls;
mod trustd;

pub use cluster::{Cluster, Clusters, Peer};
pub use etcd::{Etcd, EtcdMember};
pub use facts::{Dialect, Disk, NodeFacts};
pub use machine_config::{
    ClusterFacts, ConfigError, KubeletFacts, MachineConfig, MachineType, PemPair, Received,
};
pub use node::{Node, Stage};
pub use pki::PkiError;
pub use settings::{Delays, Knobs, Settings};
pub use surroundings::{KubernetesNode, Surroundings};
pub use trustd::TRUSTD_PORT;

/// The port of a node's API.
pub const API_PORT: u16 = 50_000;
