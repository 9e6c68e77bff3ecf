//! Hetzner's cloud controller: who the nodes are, and the way to their pods.

mod gate;
mod stand_in;

pub use gate::{HcloudCcmGate, Routes, Server};
pub use stand_in::{Values, render, token};
