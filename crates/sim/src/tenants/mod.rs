//! What runs inside the pods of a simulated cluster.
//!
//! **What it is for.** A pod of the simulated Kubernetes is an object and
//! nothing more. A tenant is what would run in it: it does from outside what
//! the real program is seen to do, through the cluster's API and the cloud.
//!
//! **What it is not.** The programs themselves: nothing here installs, starts
//! or heals anything, and what a real one does beyond the gates of a cluster's
//! way up is not here.
//!
//! ```text
//!  kubelet agents: a pod is Ready ──► its tenant works ──► objects of the API
//!                                          │  └──────────► Cloud: routes, volumes
//!  client ─► API's proxy ─► pod ─► Processes (what pods answer)
//! ```
//!
//! **Invariants.**
//! - A tenant works only while a pod of its workload is running and ready; one
//!   that has been restarted knows nothing of before.
//! - Everything is level-triggered: a tenant looks at what there is and takes
//!   the steps that are missing.
//! - Nothing that a tenant does is an [effect](crate::Effects): no client asked
//!   for it.

mod api_services;
mod cilium;
mod cloud;
mod cloud_controller;
mod digest;
mod flux;
mod inside;
mod insider;
mod knobs;
mod network;
mod object;
mod presence;
mod seal;
mod storage;
mod tenancy;

pub use cloud::{Cloud, CloudServer, CloudVolume, VolumeOrder};
pub use knobs::{Heads, Knobs};
pub use tenancy::Tenants;
