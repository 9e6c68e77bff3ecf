//! Machines of somebody's own, in no cloud: they stand somewhere, are switched
//! on, and wait for a configuration. Kubernetes comes with it.

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;

use ipnet::Ipv4Net;

use super::ClusterInventory;
use super::lives::Lives;
use super::neighbourhood::Neighbourhood;
use crate::kube::kubelet::Trouble;
use crate::talos::{self, Node, NodeFacts};
use crate::tenants::{self, Cloud, CloudServer, CloudVolume, VolumeOrder};
use crate::{Clock, Effects, Tempo};

/// A world without a cloud, which ends when it is dropped.
pub struct Yard {
    settings: talos::Settings,
    lives: Lives,
    neighbourhood: Arc<Neighbourhood>,
    effects: Effects,
}

impl Yard {
    /// An empty yard. `knobs` says what the clusters' own controllers know.
    pub fn new(tempo: Tempo, clock: &Clock, knobs: tenants::Knobs) -> Self {
        let (effects, lives) = (Effects::default(), Lives::default());
        let time = (tempo, clock.clone());
        let neighbourhood =
            Arc::new(Neighbourhood::new(time, effects.clone(), lives.clone(), knobs));
        neighbourhood.is_in(Arc::new(NoCloud));
        let settings = talos::Settings::new(tempo, clock.clone(), effects.clone());
        Self { settings, lives, neighbourhood, effects }
    }

    /// Puts a machine there and switches it on, in tasks of the current
    /// runtime. Its name has to be the one that its configuration will give it.
    pub fn add(&self, facts: NodeFacts) -> Node {
        let name = facts.hostname.clone();
        let mut all = self.lives.all();
        let mut settings = self.settings.clone();
        settings.knobs = all.knobs.get(&name).cloned().unwrap_or_default();
        let surroundings = Arc::<Neighbourhood>::clone(&self.neighbourhood);
        let node = Node::start(facts, settings, surroundings);
        all.nodes.insert(name, node.clone());
        node
    }

    /// Returns the machine of that name.
    pub fn node(&self, name: &str) -> Option<Node> {
        self.lives.node(name)
    }

    /// Changes what is wrong with the machine of that name.
    pub fn turn(&self, name: &str, turn: impl FnOnce(&mut talos::Knobs)) {
        self.lives.turn_machine(name, turn);
    }

    /// Changes what is wrong with the kubelet of a node, which may still have to join.
    pub fn trouble(&self, name: &str, turn: impl FnOnce(&mut Trouble)) {
        self.lives.turn_kubelet(name, turn);
    }

    /// Returns what there is in every cluster that any machine was ever
    /// configured for.
    pub fn clusters(&self) -> Vec<ClusterInventory> {
        self.neighbourhood.inventory()
    }

    /// Returns what clients have changed.
    pub fn effects(&self) -> &Effects {
        &self.effects
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        self.lives.all().nodes.values().for_each(Node::power_off);
    }
}

impl fmt::Debug for Yard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Yard").field("lives", &self.lives).finish_non_exhaustive()
    }
}

/// What controllers find that look for a cloud where there is none.
struct NoCloud;

const NONE: &str = "there is no cloud";

impl Cloud for NoCloud {
    fn server(&self, _: &str) -> Option<CloudServer> {
        None
    }

    fn network(&self, _: &str) -> Option<i64> {
        None
    }

    fn route(&self, _: i64, _: Ipv4Net, _: Ipv4Addr) -> Result<(), String> {
        Err(NONE.to_owned())
    }

    fn volume(&self, _: i64) -> Option<CloudVolume> {
        None
    }

    fn create_volume(&self, _: VolumeOrder) -> Result<i64, String> {
        Err(NONE.to_owned())
    }

    fn attach_volume(&self, _: i64, _: i64) -> Result<(), String> {
        Err(NONE.to_owned())
    }

    fn detach_volume(&self, _: i64) {}

    fn delete_volume(&self, _: i64) -> Result<(), String> {
        Err(NONE.to_owned())
    }
}
