//! What people and this program identify themselves with: a certificate for
//! the Talos API and its talosconfig, and a kubeconfig that needs no node to
//! be asked for.

mod identity;
mod kubeconfig;
mod role;
mod talosconfig;

pub use identity::{Identity, IdentityError};
pub use kubeconfig::{Kubeconfig, KubeconfigError};
pub use role::Role;
pub use talosconfig::{Context, Talosconfig, TalosconfigError};
