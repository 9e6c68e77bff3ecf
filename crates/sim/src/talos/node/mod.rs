//! One simulated node.

mod bring_up;
mod chronicle;
mod condition;
mod control_plane;
mod install;
mod machine;
mod power;
mod state;

use std::sync::Arc;

use tokio::sync::watch;

pub(super) use chronicle::{is_event_id, last_event_id, stamped};
pub(super) use condition::unmet;
pub(super) use machine::Machine;
pub(super) use power::{Afterwards, Wipe};
pub(super) use state::{EtcdPhase, State, StaticPods};

use super::{Knobs, KubernetesNode, MachineConfig, NodeFacts, Settings, Surroundings};

/// How far a machine has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is switched off.
    Off,
    /// It starts.
    Booting,
    /// It waits for its configuration.
    Maintenance,
    /// It installs itself to its disk.
    Installing,
    /// It runs.
    Running,
    /// It restarts.
    Rebooting,
    /// It wipes itself.
    Resetting,
    /// It changes its version.
    Upgrading,
}

impl Stage {
    /// Returns the name of the sequence that a machine in this stage runs.
    fn sequence(self) -> &'static str {
        match self {
            Self::Rebooting => "reboot",
            Self::Resetting => "reset",
            Self::Upgrading => "upgrade",
            Self::Installing => "install",
            Self::Off | Self::Booting | Self::Maintenance | Self::Running => "boot",
        }
    }
}

/// A node that runs until it is switched off; clones are the same node.
#[derive(Clone, Debug)]
pub struct Node {
    machine: Arc<Machine>,
}

impl Node {
    /// Switches a node on; it runs in tasks of the current runtime.
    pub fn start(
        facts: NodeFacts,
        settings: Settings,
        surroundings: Arc<dyn Surroundings>,
    ) -> Self {
        let machine = Arc::new(Machine::new(facts, settings, surroundings));
        machine.power_on();
        Self { machine }
    }

    /// Returns what the node is.
    pub fn facts(&self) -> &NodeFacts {
        &self.machine.facts
    }

    /// Returns how far it has come.
    pub fn stage(&self) -> Stage {
        self.machine.state().stage
    }

    /// Waits until no configuration is being taken.
    pub async fn settled(&self) {
        drop(self.machine.applying.lock().await);
    }

    /// Returns its configuration, once it has one.
    pub fn config(&self) -> Option<Arc<MachineConfig>> {
        self.machine.state().config.clone()
    }

    /// Returns why the node could not come up, where it could not: its address
    /// was taken, or its configuration's certificates are of no use.
    pub fn failure(&self) -> Option<String> {
        self.machine.state().failure.clone()
    }

    /// Waits until the node is as described by its stage.
    pub async fn reaches(&self, stage: Stage) {
        self.machine.state_is(|state| state.stage == stage).await;
    }

    /// Changes what is wrong with the node. Some things show at once, some at
    /// the next step that they concern.
    pub fn turn(&self, change: impl FnOnce(&mut Knobs)) {
        self.machine.knobs.send_modify(change);
    }

    /// Takes note of what the Kubernetes API says about the node.
    pub fn kubernetes_says(&self, node: Option<KubernetesNode>) {
        self.machine.change(|state| state.kubernetes = node);
    }

    /// Breaks every connection for a while, in simulated time.
    pub fn drop_connections_for(&self, length: std::time::Duration) {
        self.machine.drop_connections_for(length);
    }

    /// Pulls the plug: the node is gone at once, its disk stays.
    pub fn power_off(&self) {
        self.machine.power_off();
    }

    /// Takes the node away for good: its disk goes with it, and the data of
    /// its etcd member.
    pub fn destroy(&self) {
        self.machine.destroy();
    }

    /// Switches a node on again that was off.
    pub fn power_on(&self) {
        self.machine.power_on();
    }
}

/// What is wrong with a node, now and later.
pub(super) type KnobsNow = watch::Sender<Knobs>;
