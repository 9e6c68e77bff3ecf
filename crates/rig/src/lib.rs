//! Real Kubernetes for tests, without Docker.
//!
//! **What it is for.** A test says what it [needs](need) and gets the real
//! thing: a namespace on a shared control plane, a control plane of its own, a
//! node that runs pods, a [proxy](FaultyProxy) that misbehaves on request, an
//! image [registry](Registry), a [webhook](Webhook), [manifests] that people
//! really install, or the path of a tool such as helm.
//!
//! **What it is not.** A cluster for work: etcd does not sync to disk, there is
//! no kube-proxy and no DNS, and everything listens on loopback or on a bridge
//! of its own.
//!
//! ```text
//!  versions.json ─► recipe ─► builder ─► cache ──► binaries
//!                                                     │
//!   test ─► need ─► Namespace · ControlPlane · Node ◄─┘
//!                              │  daemons
//!                              ▼
//!                  run folder + run.json ◄── lock ── owner lives
//!                              ▲
//!                 warden (owner died) · janitor (next run) ─► sweep
//! ```
//!
//! **Invariants.**
//! - A cache entry is whole or absent, and was run once before it got there.
//! - Nothing starts before its run has a folder, a lock and a
//!   [warden]; what a run has outside its folder is recorded before it
//!   is made.
//! - Only processes that are provably a run's are ended (see [janitor]).
//! - A test that could not get what it needs says so, and is counted.
#![expect(
    clippy::disallowed_methods,
    reason = "a tool for developers: it reads its settings, measures and waits"
)]

pub mod access;
pub mod builder;
pub mod cache;
mod cargo;
pub mod component;
pub mod control_plane;
pub mod daemon;
mod hex;
pub mod image;
pub mod janitor;
pub mod kubeconfig;
pub mod kubectl;
pub mod manifests;
pub mod namespace;
pub mod need;
pub mod node;
pub mod packages;
mod patched;
pub mod pki;
pub mod process;
pub mod proxy;
pub mod recipe;
pub mod registry;
pub mod run;
pub mod say;
mod serving;
pub mod settings;
pub mod tail;
pub mod talos;
pub mod traces;
pub mod warden;
pub mod webhook;

pub use access::Access;
pub use cargo::cargo;
pub use control_plane::ControlPlane;
pub use image::Image;
pub use kubectl::Kubectl;
pub use namespace::Namespace;
pub use node::Node;
pub use proxy::FaultyProxy;
pub use registry::Registry;
pub use webhook::Webhook;
