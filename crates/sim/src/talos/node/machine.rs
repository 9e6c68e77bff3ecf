//! What the tasks of a node share.

use std::{
    fmt,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{KnobsNow, State, chronicle::Chronicle, unmet};
use crate::{
    Answer, Effect,
    talos::{
        NodeFacts, PemPair, Settings, Surroundings,
        cluster::Peer,
        resources::{self, Description, Known, Resources, Wanted},
        server::ApiServer,
    },
};

/// The name of this part of the world.
const PART: &str = "talos";

/// A machine with its disk, its power and its present life.
pub(in crate::talos) struct Machine {
    pub(in crate::talos) facts: NodeFacts,
    pub(in crate::talos) settings: Settings,
    pub(in crate::talos) surroundings: Arc<dyn Surroundings>,
    pub(in crate::talos) knobs: KnobsNow,
    pub(in crate::talos) resources: Resources,
    pub(in crate::talos) chronicle: Chronicle,
    /// Held by the one call that applies a configuration.
    pub(in crate::talos) applying: Arc<tokio::sync::Mutex<()>>,
    state: watch::Sender<Arc<State>>,
    /// The API server of the moment.
    server: Mutex<Option<ApiServer>>,
    /// The authority of a node that does not go by its cluster's.
    pub(super) foreign: OnceLock<PemPair>,
    /// Ends the present life.
    pub(super) life: Mutex<CancellationToken>,
    /// The task of the life that began last.
    pub(super) task: Mutex<Option<JoinHandle<()>>>,
}

impl Machine {
    pub(super) fn new(
        facts: NodeFacts,
        settings: Settings,
        surroundings: Arc<dyn Surroundings>,
    ) -> Self {
        Self {
            knobs: watch::Sender::new(settings.knobs.clone()),
            facts,
            settings,
            surroundings,
            resources: Resources::default(),
            chronicle: Chronicle::default(),
            applying: Arc::default(),
            state: watch::Sender::new(Arc::new(State::off())),
            server: Mutex::default(),
            foreign: OnceLock::new(),
            life: Mutex::default(),
            task: Mutex::default(),
        }
    }

    /// Returns what the node knows of itself at this moment. The look itself is
    /// not held: one that is held while another is taken waits for ever once
    /// somebody wants to write in between.
    pub(in crate::talos) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.borrow())
    }

    /// Changes what the node knows of itself.
    pub(in crate::talos) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut answer = None;
        self.state.send_modify(|state| {
            let state = Arc::make_mut(state);
            let now = self.settings.clock.now();
            state.services.at(now);
            let before = self.condition(state);
            answer = Some(change(state));
            state.since = now;
            for noted in state.services.news() {
                self.chronicle.service(&noted);
            }
            let after = self.condition(state);
            if after != before {
                self.chronicle.machine(now, state.stage, &after.1);
            }
        });
        self.tell_watchers();
        answer.expect("send_modify calls its closure")
    }

    /// Returns how the machine as a whole is.
    fn condition(&self, state: &State) -> (super::Stage, Vec<super::condition::Unmet>) {
        (state.stage, unmet(state, &self.name_by(state), &self.knobs.borrow()))
    }

    /// Returns the version of Talos that runs.
    pub(in crate::talos) fn version(&self) -> String {
        self.state().version.clone().unwrap_or_else(|| self.facts.version.clone())
    }

    /// Returns how the version that runs talks.
    pub(in crate::talos) fn dialect(&self) -> crate::talos::Dialect {
        crate::talos::Dialect::of(&self.version())
    }

    /// Names the present life, as the kernel does.
    pub(in crate::talos) fn boot_id(&self) -> Uuid {
        let life = u128::from(self.facts.address.to_bits()) << 64 | u128::from(self.state().boots);
        uuid::Builder::from_random_bytes(life.to_be_bytes()).into_uuid()
    }

    /// Makes resources say what the node knows.
    pub(in crate::talos) fn reflect(&self, wanted: Wanted<'_>) {
        self.resources.reflect(|| self.describe(wanted));
    }

    /// Brings the resources up to date where anybody watches them; whoever
    /// just reads has that done first. With hundreds of nodes that is the
    /// difference between much work and none.
    pub(super) fn tell_watchers(&self) {
        if self.resources.are_watched() {
            self.reflect(Wanted::All);
        }
    }

    /// Describes resources as they should be.
    pub(in crate::talos) fn describe<'a>(&self, wanted: Wanted<'a>) -> Description<'a> {
        let (state, knobs) = (self.state(), self.knobs.borrow().clone());
        let hostname = &self.name_by(&state);
        let known = Known { facts: &self.facts, state: &state, hostname, knobs: &knobs };
        let resources = resources::describe(&known, wanted);
        Description { since: state.since, wanted, resources }
    }

    /// Waits until the node is as a condition has it.
    pub(in crate::talos) async fn state_is(&self, mut condition: impl FnMut(&State) -> bool) {
        let mut states = self.state.subscribe();
        // The sender is part of `self`, so it outlives the wait.
        let _ = states.wait_for(|state| condition(state)).await;
    }

    /// Waits until nothing is wrong in this respect.
    pub(in crate::talos) async fn knobs_are(
        &self,
        mut sound: impl FnMut(&crate::talos::Knobs) -> bool,
    ) {
        let mut knobs = self.knobs.subscribe();
        let _ = knobs.wait_for(|knobs| sound(knobs)).await;
    }

    /// Lets a delay pass that is longer on a slow node.
    pub(in crate::talos) async fn pass(&self, delay: Duration) {
        let slowness = self.knobs.borrow().slowness.max(1);
        self.settings.tempo.pass(delay * slowness).await;
    }

    /// Lets a delay pass that is longer where the disk is slow, too.
    pub(in crate::talos) async fn write(&self, delay: Duration) {
        let slowness = self.knobs.borrow().disk_slowness.max(1);
        self.pass(delay * slowness).await;
    }

    /// Takes note of a call, by its path: `/machine.MachineService/Version`.
    pub(in crate::talos) fn asked(&self, path: &str) {
        let call = path.rsplit_once('.').map_or(path, |(_, call)| call);
        self.settings.effects.asked(PART, call);
    }

    /// Takes note of a change that a caller asked for.
    pub(in crate::talos) fn happened(&self, call: &str) -> Answer {
        self.settings.effects.happened(Effect {
            part: PART,
            call: call.to_owned(),
            subject: self.facts.hostname.clone(),
        })
    }

    /// Returns the name that the node goes by.
    pub(in crate::talos) fn hostname(&self) -> String {
        self.name_by(&self.state())
    }

    fn name_by(&self, state: &State) -> String {
        let chosen = state.config.as_ref().and_then(|config| config.hostname.clone());
        chosen.unwrap_or_else(|| self.facts.hostname.clone())
    }

    /// Returns the node's addresses.
    pub(in crate::talos) fn addresses(&self) -> Vec<IpAddr> {
        [Some(self.facts.address), self.facts.private_address]
            .into_iter()
            .flatten()
            .map(IpAddr::V4)
            .collect()
    }

    /// Says whether a call is meant for this node itself.
    pub(in crate::talos) fn is(&self, target: &str) -> bool {
        target == self.hostname()
            || self.addresses().iter().any(|address| address.to_string() == target)
    }

    /// Returns how the other nodes of the cluster know this one.
    pub(super) fn peer(&self) -> Option<Peer> {
        let state = self.state();
        let config = state.config.as_ref()?;
        let hostname = config.hostname.clone().unwrap_or_else(|| self.facts.hostname.clone());
        let addresses = self.addresses().iter().map(ToString::to_string).collect();
        let version = self.version();
        let id = self.facts.identity();
        Some(Peer { id, hostname, machine_type: config.machine_type, addresses, version })
    }

    /// Returns the address that the other control planes reach etcd at.
    pub(super) fn etcd_address(&self) -> String {
        self.facts.private_address.unwrap_or(self.facts.address).to_string()
    }

    pub(super) fn server(&self) -> MutexGuard<'_, Option<ApiServer>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("hostname", &self.facts.hostname)
            .field("address", &self.facts.address)
            .field("stage", &self.state().stage)
            .finish_non_exhaustive()
    }
}
