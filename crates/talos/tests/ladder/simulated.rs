//! Simulated machines.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use sim::talos::{
    Cluster, Clusters, KubernetesNode, MachineConfig, Node, NodeFacts, Settings, Stage,
    Surroundings,
};
use sim::{Clock, Effects, Tempo};

use crate::release::Release;

/// How much faster than real time they live.
const SPEED: u32 = 20;

/// Each test has a network of its own.
static NETWORKS: AtomicU8 = AtomicU8::new(1);

pub(crate) struct Simulated {
    pub(crate) release: Release,
    around: Arc<Around>,
    network: u8,
    nodes: Vec<Node>,
    effects: Effects,
}

/// Kubernetes, as far as nodes notice it: it runs once a control plane does,
/// and nobody gives its pods a network.
#[derive(Default)]
struct Around {
    clusters: Clusters,
    control_planes: AtomicU32,
    joined: Mutex<Vec<String>>,
}

impl Surroundings for Around {
    fn cluster(&self, config: &MachineConfig) -> Cluster {
        self.clusters.of(config)
    }

    fn control_plane_up(&self, _: &NodeFacts, _: &Arc<MachineConfig>) {
        self.control_planes.fetch_add(1, Ordering::Relaxed);
    }

    fn kubelet_up(&self, _: &NodeFacts, hostname: &str, _: &Arc<MachineConfig>) {
        self.joined.lock().unwrap().push(hostname.to_owned());
    }

    fn kubernetes_down(&self, _: &NodeFacts) {}
}

impl Simulated {
    pub(crate) fn of(release: Release) -> Self {
        let network = NETWORKS.fetch_add(1, Ordering::Relaxed);
        Self {
            release,
            around: Arc::default(),
            network,
            nodes: Vec::new(),
            effects: Effects::default(),
        }
    }

    pub(crate) fn machine(&mut self, name: &str) -> Ipv4Addr {
        let place = u8::try_from(self.nodes.len()).unwrap() + 10;
        let address = Ipv4Addr::new(127, 93, self.network, place);
        let mut facts = NodeFacts::cloud_server(name, address);
        self.release.talos.clone_into(&mut facts.version);
        let settings = Settings::new(Tempo::times(SPEED), Clock::real(), self.effects.clone());
        self.nodes.push(Node::start(facts, settings, self.around.clone()));
        address
    }

    /// Returns a machine.
    pub(crate) fn node(&self, address: Ipv4Addr) -> &Node {
        self.nodes.iter().find(|node| node.facts().address == address).unwrap()
    }

    /// Says whether a machine has done what a call asked for, whatever the
    /// caller heard of it.
    pub(crate) fn has_done(&self, call: &str, name: &str) -> bool {
        self.effects.all().iter().any(|done| done.call == call && done.subject == name)
    }

    pub(crate) fn kubernetes_answers(&self) -> Result<(), String> {
        if self.around.control_planes.load(Ordering::Relaxed) == 0 {
            return Err("no control plane runs".to_owned());
        }
        for node in &self.nodes {
            let named = node.config().and_then(|config| config.hostname.clone());
            if named.is_some_and(|name| self.around.joined.lock().unwrap().contains(&name)) {
                node.kubernetes_says(Some(KubernetesNode::default()));
            }
        }
        Ok(())
    }

    pub(crate) fn is_off(&self, address: Ipv4Addr) -> bool {
        self.node(address).stage() == Stage::Off
    }
}
