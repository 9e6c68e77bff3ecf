//! The state of one simulated project.

use std::collections::BTreeMap;

use rand::Rng;
use rand::rngs::StdRng;
use serde_json::Value;

use super::action::{Action, Job, Outcome, Reference, Step};
use super::addresses::Addresses;
use super::balancer::Healths;
use super::delays::Delays;
use super::knobs::Knobs;
use super::machines::Machine;
use super::refusal::{Code, Refusal};
use super::resources::{
    Firewall, Image, LoadBalancer, Network, PlacementGroup, Server, SshKey, Volume,
};
use super::selector::{Labels, check_labels};
use super::shelf::{Card, Resource, Shelf};
use crate::{Clock, Tempo};

/// All that the project holds. Calls change it under one lock and return at
/// once; what takes time is left behind as jobs, what concerns the machines as
/// news.
pub(crate) struct Project {
    pub(crate) tempo: Tempo,
    pub(crate) delays: Delays,
    pub(crate) clock: Clock,
    pub(crate) knobs: Knobs,
    pub(crate) addresses: Addresses,
    pub(crate) actions: BTreeMap<i64, Action>,
    pub(crate) firewalls: Shelf<Firewall>,
    pub(crate) images: Shelf<Image>,
    pub(crate) load_balancers: Shelf<LoadBalancer>,
    pub(crate) networks: Shelf<Network>,
    pub(crate) placement_groups: Shelf<PlacementGroup>,
    pub(crate) servers: Shelf<Server>,
    pub(crate) ssh_keys: Shelf<SshKey>,
    pub(crate) volumes: Shelf<Volume>,
    /// What the health checks of the load balancers last found.
    pub(crate) healths: Healths,
    pub(crate) jobs: Vec<Job>,
    pub(crate) news: Vec<News>,
    rng: StdRng,
    last_id: i64,
}

/// A change of a server's power.
#[derive(Clone, Debug)]
pub(crate) enum News {
    Runs(Machine),
    Stopped(Machine),
    Gone(Machine),
}

impl Project {
    pub(crate) fn new(
        addresses: Addresses,
        tempo: Tempo,
        delays: Delays,
        clock: Clock,
        rng: StdRng,
    ) -> Self {
        Self {
            tempo,
            delays,
            clock,
            rng,
            addresses,
            knobs: Knobs::default(),
            actions: BTreeMap::new(),
            firewalls: Shelf::default(),
            images: Shelf::default(),
            load_balancers: Shelf::default(),
            networks: Shelf::default(),
            placement_groups: Shelf::default(),
            servers: Shelf::default(),
            ssh_keys: Shelf::default(),
            volumes: Shelf::default(),
            healths: Healths::default(),
            jobs: Vec::new(),
            news: Vec::new(),
            last_id: 1000,
        }
    }

    /// Returns an id that nothing else in the project has.
    pub(crate) fn new_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    /// Returns some random hexadecimal digits.
    pub(crate) fn random_hex(&mut self) -> String {
        format!("{:016x}", self.rng.next_u64())
    }

    /// Makes the card of a new resource, if name and labels are in order.
    pub(crate) fn new_card<T: Resource>(
        &mut self,
        name: &str,
        labels: Option<Labels>,
    ) -> Result<Card, Refusal> {
        let labels = labels.unwrap_or_default();
        check_labels(&labels)?;
        T::shelf(self).check_name(name, None)?;
        let (id, created) = (self.new_id(), self.clock.second());
        Ok(Card { id, name: name.to_owned(), labels, created, protected: false })
    }

    /// Returns a resource as a client sees it.
    pub(crate) fn view<T: Resource>(&self, id: i64) -> Result<Value, Refusal> {
        Ok(T::shelf(self).get(id)?.view(self))
    }

    pub(crate) fn is_busy<T: Resource>(&self, id: i64) -> bool {
        self.actions.values().any(|action| action.holds(Reference::to::<T>(id)))
    }

    /// Refuses a change of a resource on which an action runs.
    pub(crate) fn check_idle<T: Resource>(&self, id: i64) -> Result<(), Refusal> {
        if !self.is_busy::<T>(id) {
            return Ok(());
        }
        let message = format!("{} {id} has a running action", T::KIND);
        let conflicts = [Network::KIND, LoadBalancer::KIND].contains(&T::KIND);
        let code = if conflicts { Code::Conflict } else { Code::Locked };
        Err(code.because(message))
    }

    /// Starts actions that follow each other, and returns them as a client
    /// sees them.
    pub(crate) fn start(&mut self, steps: Vec<Step>) -> Vec<Value> {
        let now = self.clock.second();
        let mut job = Job::new();
        let mut views = Vec::new();
        for step in steps {
            let id = self.new_id();
            let action = Action::of(id, &step, now);
            views.push(action.view());
            self.actions.insert(id, action);
            job.push((id, step));
        }
        self.jobs.push(job);
        views
    }

    /// Starts one action.
    pub(crate) fn start_one(&mut self, step: Step) -> Value {
        self.start(vec![step]).pop().expect("one step gives one action")
    }

    pub(crate) fn begin(&mut self, id: i64, step: &mut Step) {
        let takes = self.tempo.real(step.takes);
        if let Some(action) = self.actions.get_mut(&id) {
            action.begin(takes);
        }
        if let Some(deed) = step.begin.take() {
            deed(self);
        }
    }

    /// Ends an action and says how; an action fails if a knob says so, or if
    /// the one before it did.
    pub(crate) fn finish(&mut self, id: i64, step: Step, before: Outcome) -> Outcome {
        let certain = before == Outcome::Error || step.fails.is_some();
        let fails = certain || self.knobs.fails(step.command);
        let (outcome, deed) =
            if fails { (Outcome::Error, step.failed) } else { (Outcome::Success, step.done) };
        if let Some(deed) = deed {
            deed(self);
        }
        let now = self.clock.second();
        if let Some(action) = self.actions.get_mut(&id) {
            action.end(outcome, now);
        }
        outcome
    }
}
