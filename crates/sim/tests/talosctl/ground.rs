//! The node that talosctl talks to.

use std::net::Ipv4Addr;
use std::sync::Arc;

use rig::talos::{Talos, TalosNode, kubelet_settings};
use serde_json::{Value, json};
use sim::talos::{Node, NodeFacts, Settings, Stage};
use sim::{Clock, Effects, Tempo};

use crate::kubernetes::Kubernetes;

/// How much faster than real time simulated nodes live.
const SPEED: u32 = 10;

/// A bare machine.
pub(crate) enum Ground {
    Simulated(Simulated),
    Real(Box<Real>),
    /// A simulated control plane, and a real worker.
    Mixed(Simulated, Box<Real>),
}

pub(crate) struct Simulated {
    node: Node,
    worker: Option<Node>,
    kubernetes: Arc<Kubernetes>,
}

pub(crate) struct Real {
    talos: Talos,
}

impl Simulated {
    pub(crate) fn new(place: u8) -> Self {
        Self::of_version("v1.14.1", place)
    }

    pub(crate) fn of_version(version: &str, place: u8) -> Self {
        Self::at(Ipv4Addr::new(127, 94, 1, place), version)
    }

    pub(crate) fn at(address: Ipv4Addr, version: &str) -> Self {
        let kubernetes = Arc::new(Kubernetes::new(Tempo::times(SPEED)));
        let mut facts = NodeFacts::cloud_server("cp-1", address);
        version.clone_into(&mut facts.version);
        let node = switch_on(facts, &kubernetes);
        kubernetes.is_around(&node);
        Self { node, worker: None, kubernetes }
    }

    /// Adds a second machine.
    pub(crate) fn with_worker(self) -> Self {
        let [a, b, _, place] = self.node.facts().address.octets();
        let facts = NodeFacts::cloud_server("w-1", Ipv4Addr::new(a, b, 2, place));
        let worker = Some(switch_on(facts, &self.kubernetes));
        Self { worker, ..self }
    }

    /// Gives the pods a network, so that the node gets ready.
    pub(crate) fn with_network(self) -> Self {
        self.kubernetes.connect_pods();
        self
    }
}

fn switch_on(mut facts: NodeFacts, kubernetes: &Arc<Kubernetes>) -> Node {
    "amd64".clone_into(&mut facts.arch);
    let settings = Settings::new(Tempo::times(SPEED), Clock::real(), Effects::default());
    Node::start(facts, settings, kubernetes.clone())
}

impl Real {
    pub(crate) fn new(mut talos: Talos) -> Self {
        talos.add("cp-1").unwrap();
        talos.add("w-1").unwrap();
        Self { talos }
    }

    /// Machines that were switched on already.
    pub(crate) fn of(talos: Talos) -> Self {
        Self { talos }
    }

    pub(crate) fn worker(mut talos: Talos) -> Self {
        talos.add("w-1").unwrap();
        Self { talos }
    }

    fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.talos.nodes().iter().map(TalosNode::address)
    }
}

impl Ground {
    pub(crate) fn address(&self) -> Ipv4Addr {
        self.addresses()[0]
    }

    /// Returns the address of the second machine, where there is one.
    pub(crate) fn worker(&self) -> Ipv4Addr {
        self.addresses()[1]
    }

    pub(crate) fn addresses(&self) -> Vec<Ipv4Addr> {
        match self {
            Self::Simulated(it) => {
                [&it.node].into_iter().chain(&it.worker).map(|node| node.facts().address).collect()
            }
            Self::Real(it) => it.addresses().collect(),
            Self::Mixed(it, worker) => {
                [it.node.facts().address].into_iter().chain(worker.addresses()).collect()
            }
        }
    }

    /// Returns what the config has to say on a real ground, as a patch. A
    /// simulated node is told the same and asks no registry.
    pub(crate) fn patch(&self) -> Value {
        let registry = match self {
            Self::Simulated(_) => "192.0.2.1:5000".to_owned(),
            Self::Real(it) | Self::Mixed(_, it) => it.talos.registry().host(),
        };
        let endpoint = format!("http://{registry}");
        let mirror = json!({ "endpoints": [endpoint], "skipFallback": true });
        json!({ "machine": {
            "kubelet": { "extraConfig": kubelet_settings() },
            "registries": { "mirrors": { "registry.k8s.io": mirror, "ghcr.io": mirror } },
        } })
    }

    pub(crate) fn is_off(&self) -> bool {
        match self {
            Self::Simulated(it) | Self::Mixed(it, _) => it.node.stage() == Stage::Off,
            Self::Real(it) => !it.talos.nodes()[0].is_running(),
        }
    }

    pub(crate) fn worker_is_off(&self) -> bool {
        match self {
            Self::Simulated(it) => it.worker.as_ref().is_none_or(|it| it.stage() == Stage::Off),
            Self::Real(it) | Self::Mixed(_, it) => {
                it.talos.nodes().last().is_none_or(|worker| !worker.is_running())
            }
        }
    }
}
