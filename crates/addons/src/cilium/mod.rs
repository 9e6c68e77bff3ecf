//! Cilium: the pod network, without kube-proxy.

mod gate;
mod stand_in;

pub use gate::CiliumGate;
pub(crate) use gate::unavailable;
pub use stand_in::{Encryption, Routing, Values, render};
