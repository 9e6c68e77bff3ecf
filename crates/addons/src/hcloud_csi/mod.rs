//! Hetzner's storage driver: volumes for pods.

mod gate;
mod stand_in;

pub use gate::HcloudCsiGate;
pub use stand_in::{DRIVER, STORAGE_CLASS, Values, render};
