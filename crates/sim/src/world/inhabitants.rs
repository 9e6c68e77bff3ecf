//! Who lives in a world: a Talos node behind every server that runs.

use std::sync::Arc;

use super::lives::Lives;
use super::neighbourhood::Neighbourhood;
use crate::hetzner::{Machine, Machines};
use crate::talos::{self, Disk, Node, NodeFacts};

/// Makes a node of every server that runs.
#[derive(Debug)]
pub(super) struct Inhabitants {
    pub(super) settings: talos::Settings,
    pub(super) neighbourhood: Arc<Neighbourhood>,
    pub(super) lives: Lives,
}

impl Machines for Inhabitants {
    fn runs(&self, machine: &Machine) {
        let mut all = self.lives.all();
        if let Some(node) = all.nodes.get(&machine.name) {
            return node.power_on();
        }
        let mut settings = self.settings.clone();
        if let Some(knobs) = all.knobs.get(&machine.name) {
            settings.knobs = knobs.clone();
        }
        let surroundings = Arc::<Neighbourhood>::clone(&self.neighbourhood);
        let node = Node::start(facts(machine), settings, surroundings);
        all.nodes.insert(machine.name.clone(), node);
    }

    fn stopped(&self, machine: &Machine) {
        if let Some(node) = self.lives.all().nodes.get(&machine.name) {
            node.power_off();
        }
    }

    fn gone(&self, machine: &Machine) {
        let node = self.lives.all().nodes.remove(&machine.name);
        if let Some(node) = node {
            node.destroy();
            self.neighbourhood.gone(node.facts());
        }
    }
}

/// The memory of the smallest servers.
const MEMORY_MIB: u32 = 4096;

/// A server with a Talos snapshot on its disk is a Talos node of that version.
fn facts(machine: &Machine) -> NodeFacts {
    let id = machine.id.to_string();
    let metadata = machine.metadata();
    let private = machine.private.first();
    let version = machine.image.labels.get("talos_version").cloned().unwrap_or_default();
    NodeFacts {
        hostname: machine.name.clone(),
        address: machine.address,
        private_address: private.map(|it| it.ip),
        platform: NodeFacts::CLOUD.to_owned(),
        instance_type: machine.server_type.clone(),
        region: metadata.region,
        zone: metadata.availability_zone,
        mac: private.map(|it| it.mac.clone()).unwrap_or_default(),
        more_macs: Vec::new(),
        arch: if machine.image.architecture == "arm" { "arm64" } else { "amd64" }.to_owned(),
        memory_mib: MEMORY_MIB,
        disks: vec![Disk::cloud_disk(&id)],
        instance_id: id,
        version,
        installed: true,
    }
}
