//! The other end of a connection: how much of what it sends is read, and how it
//! is reached.
//!
//! Every client of ours (Kubernetes, Hetzner, Talos, git) takes its bounds from
//! [`bounds`], and those that speak HTTP connect with [`Dialer`]: directly, or
//! through the proxy that the environment or a kubeconfig names.
//!
//! This crate reads no environment and sends no request of its own.

pub mod bounds;
mod dial;
mod dial_error;
mod echoes;
mod proxy;
mod user_info;

pub use dial::Dialer;
pub use dial_error::{DialError, ProxyProblem};
pub use echoes::Echoes;
pub use proxy::{NotAProxy, Proxies, Proxy, ProxyVariables, Route};
pub use user_info::without_user_info;
