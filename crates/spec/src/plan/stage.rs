//! The stages of bringing a cluster up, by name.

use std::fmt;

use serde::Serialize;

use crate::scalar::{Duration, Scalar, Word};

/// A stage of `up`; its gate has the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Nothing is made yet; everything that can be known is checked.
    Preflight,
    /// The cluster's certificates and keys.
    Secrets,
    /// The image that nodes boot from.
    Image,
    /// Network, firewall, load balancer.
    Network,
    /// Servers or VMs.
    Nodes,
    /// Each node is the one that is meant.
    Identity,
    /// Each node has its config.
    Config,
    /// The control planes agree.
    Etcd,
    /// The Kubernetes API answers.
    Api,
    /// Pods have a network.
    Cni,
    /// Nodes know their cloud.
    Cloud,
    /// Nodes are ready.
    Ready,
    /// Volumes work.
    Storage,
    /// Sealed secrets open.
    Seal,
    /// The repository is applied.
    Gitops,
    /// Everything works together, and stays so.
    Proof,
}

impl Stage {
    /// How long the gate may wait, if nothing else is said.
    ///
    /// Several times what is usual on Hetzner: a deadline is for what is broken,
    /// not for what is slow today.
    pub const fn default_timeout(self) -> Duration {
        match self {
            Self::Secrets => Duration::from_secs(30),
            Self::Preflight | Self::Identity => Duration::from_mins(2),
            // Usual: 30 s of CSRs, untainting within 30 s of a running controller,
            // Flux' own waits of 5 min per object.
            Self::Network | Self::Cloud | Self::Storage | Self::Seal | Self::Gitops => {
                Duration::from_mins(5)
            }
            // Usual: servers 60 s, apply to mTLS 5 to 30 s (ISO installs 4 min),
            // API server 40 to 120 s behind image pulls, Cilium 60 to 180 s.
            Self::Nodes
            | Self::Config
            | Self::Etcd
            | Self::Api
            | Self::Cni
            | Self::Ready
            | Self::Proof => Duration::from_mins(10),
            // Usual: 5 to 7 min where the snapshot has to be built.
            Self::Image => Duration::from_mins(20),
        }
    }

    /// All stages, in order.
    pub fn all() -> &'static [Self] {
        Self::ALL
    }

    /// The name as it is written.
    pub fn as_str(self) -> &'static str {
        self.word()
    }

    /// Reads the name of a stage, for flags; the error names the nearest.
    pub fn parse(text: &str) -> Result<Self, String> {
        <Self as Scalar>::read(text).map_err(|complaint| complaint.label)
    }
}

impl Word for Stage {
    const WHAT: &'static str = "gate";
    const ALL: &'static [Self] = &[
        Self::Preflight,
        Self::Secrets,
        Self::Image,
        Self::Network,
        Self::Nodes,
        Self::Identity,
        Self::Config,
        Self::Etcd,
        Self::Api,
        Self::Cni,
        Self::Cloud,
        Self::Ready,
        Self::Storage,
        Self::Seal,
        Self::Gitops,
        Self::Proof,
    ];
    const WORDS: &'static [&'static str] = &[
        "preflight",
        "secrets",
        "image",
        "network",
        "nodes",
        "identity",
        "config",
        "etcd",
        "api",
        "cni",
        "cloud",
        "ready",
        "storage",
        "seal",
        "gitops",
        "proof",
    ];
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
