//! The simulated Kubernetes API, judged by clients that we did not write.
#![expect(clippy::unwrap_used, reason = "a test may")]

mod cluster;
mod compared;
mod kube_rs;
mod kubectl;
mod proxy;
mod settling;
mod wire;
