//! The stages of bringing a cluster up, bound to what they work with.
//!
//! The only place that knows both the engine and the crates that change the
//! world. So far it holds the table of [`up`] and the plan of a run over it;
//! what the stages do comes with the clients.

mod access;
mod addon;
pub mod codes;
mod delivery;
pub mod down;
mod explain;
mod hetzner;
mod kube;
mod machine_config;
mod node_trouble;
mod sealing_key;
mod site;
mod ssh_key;
pub mod up;

pub use access::{CredentialsError, Way, kubeconfig, talosconfig};
pub use explain::{Page, explain, pages};
pub use site::{Site, Source};
