//! The datapath of the cluster: names, addresses, and what arrives.
//!
//! Nothing is sent. Who would answer is found from pods, services and names as
//! the API knows them, and the [knobs](super::Knobs) say what gets lost.

mod dial;
mod names;
mod netexec;

pub(super) use names::{NameError, resolve};
pub(super) use netexec::{answer, listens};
