//! Flux: the cluster follows a git repository.

mod gate;
mod stand_in;

pub use gate::FluxGate;
pub use stand_in::{Access, Values, access, render};
