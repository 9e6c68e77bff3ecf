//! The node that talosctl talks to.

use std::net::Ipv4Addr;
use std::sync::Arc;

use rig::talos::{Talos, kubelet_settings};
use serde_json::{Value, json};
use sim::talos::{
    Cluster, Clusters, KubernetesNode, MachineConfig, Node, NodeFacts, Settings, Stage,
    Surroundings,
};
use sim::{Clock, Effects, Tempo};

/// How much faster than real time simulated nodes live.
const SPEED: u32 = 10;

/// A bare machine.
pub(crate) enum Ground {
    Simulated(Simulated),
    Real(Box<Real>),
}

pub(crate) struct Simulated {
    node: Node,
}

pub(crate) struct Real {
    talos: Talos,
}

#[derive(Default)]
struct Around(Clusters);

impl Surroundings for Around {
    fn cluster(&self, config: &MachineConfig) -> Cluster {
        self.0.of(config)
    }

    fn control_plane_up(&self, _: &NodeFacts, _: &Arc<MachineConfig>) {}

    fn kubelet_up(&self, _: &NodeFacts, _: &str, _: &Arc<MachineConfig>) {}

    fn kubernetes_down(&self, _: &NodeFacts) {}
}

impl Simulated {
    pub(crate) fn new() -> Self {
        let mut facts = NodeFacts::cloud_server("cp-1", Ipv4Addr::new(127, 94, 1, 1));
        "amd64".clone_into(&mut facts.arch);
        let settings = Settings::new(Tempo::times(SPEED), Clock::real(), Effects::default());
        Self { node: Node::start(facts, settings, Arc::new(Around::default())) }
    }
}

impl Real {
    pub(crate) fn new(mut talos: Talos) -> Self {
        talos.add("cp-1").unwrap();
        Self { talos }
    }
}

impl Ground {
    pub(crate) fn address(&self) -> Ipv4Addr {
        match self {
            Self::Simulated(it) => it.node.facts().address,
            Self::Real(it) => it.talos.nodes()[0].address(),
        }
    }

    /// Returns what the config has to say on this ground, as a patch.
    pub(crate) fn patch(&self) -> Value {
        let Self::Real(it) = self else { return json!({ "machine": {} }) };
        let endpoint = format!("http://{}", it.talos.registry().host());
        let mirror = json!({ "endpoints": [endpoint], "skipFallback": true });
        json!({ "machine": {
            "kubelet": { "extraConfig": kubelet_settings() },
            "registries": { "mirrors": { "registry.k8s.io": mirror, "ghcr.io": mirror } },
        } })
    }

    /// Kubernetes has noticed the node, and nobody gives its pods a network.
    pub(crate) fn kubernetes_notices(&self) {
        if let Self::Simulated(it) = self {
            it.node.kubernetes_says(Some(KubernetesNode::default()));
        }
    }

    pub(crate) fn is_off(&self) -> bool {
        match self {
            Self::Simulated(it) => it.node.stage() == Stage::Off,
            Self::Real(it) => !it.talos.nodes()[0].is_running(),
        }
    }
}
