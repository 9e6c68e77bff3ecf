//! The catalogue of addons: what is delivered for each, and how it is proven.
//!
//! ```text
//!  Values ─► render ─► Rendered ─► delivered by somebody with a client
//!                          └─ Secrets apart, in no digest and no debug output
//!
//!  gate.needs() ─► looks ── somebody with a client ──► Seen ─► gate.judge() ─► Verdict
//! ```
//!
//! It is not a client: it asks nobody, waits for nothing and changes nothing.
//! It does not know charts yet: what it renders stands in for them, and says
//! so in an annotation ([`STAND_IN`]) and by [`Rendered::is_stand_in`].
//!
//! Invariants:
//! - The same values give the same objects and the same digest.
//! - A gate that could not look, saw nothing, or saw something without the
//!   field in question never says Ready.
//! - A gate says Failed only where waiting cannot help, and with a [code](codes).
//! - Randomness and time are passed in.

mod catalogue;
pub mod cilium;
pub mod codes;
pub mod flux;
pub mod gate;
pub mod hcloud_ccm;
pub mod hcloud_csi;
mod manifest;
pub mod metrics_server;
pub mod pod_network;
pub mod probe;
mod rendered;
pub mod seal;
pub mod sealed_secrets;

pub use catalogue::Addon;
pub use gate::Gate;
pub use rendered::{Origin, Rendered, STAND_IN, SecretObject};
