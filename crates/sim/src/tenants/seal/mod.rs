//! The controller of Sealed Secrets: what is sealed for its key becomes a
//! Secret, by the real cryptography.
//!
//! It reads its keys when it starts and never again, and makes one if it finds
//! none.

mod controller;
mod keys;
mod randomness;
mod unseal;

pub(super) use controller::{FOLLOWED, PODS, REACTION, STARTED_BY, Seals};
