//! What the ladder stands on.

use std::net::{Ipv4Addr, SocketAddr};

use rig::need::remark;
use serde_json::Value;
use talos::client::Node;
use talos::config::Mirror;
use talos::credentials::Kubeconfig;
use tokio::time::Instant;

use crate::real::Real;
use crate::release::Release;
use crate::simulated::Simulated;

/// Machines without a config: simulated ones, or real ones.
pub(crate) enum Ground {
    Simulated(Simulated),
    Real(Box<Real>),
}

impl Ground {
    pub(crate) fn simulated() -> Self {
        Self::simulated_of(Release::V1_14)
    }

    /// Simulated machines that run a version.
    pub(crate) fn simulated_of(release: Release) -> Self {
        Self::Simulated(Simulated::of(release))
    }

    /// Real nodes, where this machine can run them and was asked to.
    #[track_caller]
    pub(crate) fn real() -> Option<Self> {
        Real::start().map(|real| Self::Real(Box::new(real)))
    }

    pub(crate) fn is_real(&self) -> bool {
        matches!(self, Self::Real(_))
    }

    /// Returns what the machines run.
    pub(crate) fn release(&self) -> Release {
        match self {
            Self::Simulated(simulated) => simulated.release,
            Self::Real(_) => Release::V1_14,
        }
    }

    /// Tells how long real machines took for something, for who reads it in the
    /// documentation: simulated ones take as long as they are told to.
    pub(crate) fn took(&self, what: &str, since: Instant) {
        if self.is_real() {
            remark(&format!("real Talos, {what}: {:.1} s", since.elapsed().as_secs_f64()));
        }
    }

    /// Switches a machine on and returns its address.
    pub(crate) fn machine(&mut self, name: &str) -> Ipv4Addr {
        match self {
            Self::Simulated(simulated) => simulated.machine(name),
            Self::Real(real) => real.machine(name),
        }
    }

    /// Returns where images come from.
    pub(crate) fn mirrors(&self) -> Vec<(String, Mirror)> {
        match self {
            Self::Simulated(_) => Vec::new(),
            Self::Real(real) => real.mirrors(),
        }
    }

    /// Changes what a config has to say differently on this ground.
    pub(crate) fn adapt(&self, document: &mut Value) {
        if self.is_real() {
            Real::adapt(document);
        }
    }

    /// Says whether the Kubernetes API is ready, asked with the kubeconfig.
    pub(crate) fn kubernetes_answers(&self, kubeconfig: &Kubeconfig) -> Result<(), String> {
        match self {
            Self::Simulated(simulated) => simulated.kubernetes_answers(),
            Self::Real(real) => real.kubernetes_answers(kubeconfig),
        }
    }

    /// Says whether the machine has ended.
    pub(crate) fn is_off(&self, address: Ipv4Addr) -> bool {
        match self {
            Self::Simulated(simulated) => simulated.is_off(address),
            Self::Real(real) => real.is_off(address),
        }
    }
}

/// Returns the API of a machine.
pub(crate) fn api(address: Ipv4Addr) -> Node {
    Node::at(SocketAddr::from((address, Node::PORT)))
}
