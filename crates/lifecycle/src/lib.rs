//! The stages of bringing a cluster up, looking at it and taking it down, bound
//! to what they work with.
//!
//! **What it is for.** The only place that knows both the engine and the crates
//! that change the world. A stage is a file: what it does (`act`), and what it
//! reads to prove it (`look`).
//!
//! ```text
//!  engine ── unit ──► Up · Verify · Down ──► stage ──► Site: plan, clients, what was learned
//!                                              │
//!                                              └──► hetzner::Clerk · delivery  (every change
//!                                                   through Hands: intent, call, result)
//! ```
//!
//! **What it is not.** It keeps no state of its own: what a run learns is a
//! shortcut, and a resumed run learns it again from the world.
//!
//! **Invariants.**
//! - A look changes nothing; an act makes every change through
//!   [`Hands::ensure`](engine::Hands::ensure).
//! - Every cause has a [code](codes) with a [page](explain()).

mod access;
mod addon;
mod berth;
mod bundle;
pub mod codes;
mod credential_files;
mod delivery;
pub mod down;
mod endpoint;
mod etcd_opinion;
mod etcd_verdict;
mod explain;
mod healing;
mod hetzner;
mod invocation;
mod kube;
mod lease;
mod machine;
mod machine_config;
mod machine_sight;
mod manifests;
mod mishap;
mod next_step;
mod node_trouble;
mod numbered;
mod offline;
mod sealing_key;
mod site;
mod ssh_key;
pub mod status;
pub mod up;
pub mod verify;

pub use access::{CredentialsError, Way, api_server, control_planes, kubeconfig};
pub use addon::addon_objects;
pub use addons::seal::{KeyError, SealingKey};
pub use explain::{Page, explain, pages};
pub use invocation::{Invocation, quoted};
pub use machine_config::{ConfigError, MachinePatch};
pub use manifests::Manifest;
pub use mishap::{MISHAPS, Mishap};
pub use offline::{KnownAddresses, OfflineError, machine_configs};
pub use site::{GitAccess, Ground, Site, Source};
