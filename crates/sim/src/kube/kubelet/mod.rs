//! A kubelet: the agent of one node, which joins the cluster and moves the
//! pods that it is given through their phases.
//!
//! It runs nothing. What a node is like, and what goes wrong on it, is in its
//! [`NodeSettings`] and [`Trouble`].

mod agent;
mod mirror;
mod node;
mod pod;
mod settings;
mod volumes;

pub use settings::{NodeSettings, Trouble};
