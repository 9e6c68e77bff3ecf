//! metrics-server: what `kubectl top` and autoscaling read.

mod gate;
mod stand_in;

pub use gate::MetricsServerGate;
pub use stand_in::{KubeletCertificates, Values, render};
