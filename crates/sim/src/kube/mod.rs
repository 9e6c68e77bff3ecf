//! A simulated Kubernetes API, its controllers and its kubelets.
//!
//! **What it is for.** kubectl, kube-rs and our own clients talk to it over
//! TLS as they would to a real cluster, on every control plane of the
//! simulated world, and see nodes join, pods start and rollouts end.
//!
//! **What it is not.** A place to run anything: pods are objects that a
//! [kubelet agent](kubelet) moves through their phases. Values are not checked
//! against the schemas of built-in kinds, and what is missing answers 501.
//!
//! ```text
//!   TLS ─► serve ─► path, identity ─► verbs (api) ─► store ─► log ─► watches
//!                                        ▲                             │
//!              controllers, kubelets ────┴──── the same verbs ◄────────┘
//!                    proxy ─► pods: whatever is hosted in them
//! ```
//!
//! **Invariants.**
//! - One counter of versions for all objects; a watch tells every change of
//!   its kind once, in order, or ends with `410 Gone`.
//! - A write that changes nothing has no version of its own.
//! - Only what a client on the wire changed is an [effect](crate::Effects).

pub(crate) mod api;
mod builtin;
pub(crate) mod controllers;
mod defaults;
mod event_kind;
mod handle;
pub mod kubelet;
mod merge;
pub(crate) mod object;
mod processes;
mod proxy;
mod refusal;
mod registry;
mod resource;
mod schema;
mod selector;
mod status;
mod store;
mod validation;
mod wire;

pub use api::{
    DeleteOptions, Deleted, ListOptions, Listed, Patch, Place, Preconditions, Propagation,
    Strictness, Watch, WatchEvent, WatchOptions, Write,
};
pub use handle::Kube;
pub use processes::{PodAnswer, PodRequest, Processes};
pub use refusal::Refusal;
pub use resource::{Key, Resource, Scope, Version};
pub use selector::LabelSelector;
pub use wire::{Identity, Server, TlsError, server_config};
