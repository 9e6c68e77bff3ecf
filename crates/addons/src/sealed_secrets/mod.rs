//! Sealed Secrets: secrets that can lie in a repository.

mod gate;
mod stand_in;

pub use gate::SealedSecretsGate;
pub use stand_in::{Values, render};
