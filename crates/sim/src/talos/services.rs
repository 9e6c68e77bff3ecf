//! The system services of a node.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// How many events of a service are kept.
const EVENTS_KEPT: usize = 16;

/// The state of a service, as Talos names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServiceState {
    Waiting,
    Preparing,
    Running,
    Finished,
}

/// How a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    Unknown,
    Healthy,
}

/// One service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) state: ServiceState,
    pub(super) health: Health,
    pub(super) since: Timestamp,
    pub(super) events: Vec<ServiceEvent>,
    /// Whether it was ever up since the machine started: well, or finished.
    was_up: bool,
}

/// What happened to a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServiceEvent {
    pub(super) message: String,
    pub(super) state: ServiceState,
    pub(super) at: Timestamp,
}

/// All services of a node, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Services {
    by_name: BTreeMap<&'static str, Service>,
    /// The time of what happens to them next.
    now: Timestamp,
    /// What nobody has been told yet.
    news: Vec<Noted>,
}

/// What happened, and to which service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) service: &'static str,
    pub(super) event: ServiceEvent,
}

impl ServiceState {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::Preparing => "Preparing",
            Self::Running => "Running",
            Self::Finished => "Finished",
        }
    }
}

impl Services {
    /// Says what time it is.
    pub(super) fn at(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Returns what happened since the last time that this was asked.
    pub(super) fn news(&mut self) -> Vec<Noted> {
        std::mem::take(&mut self.news)
    }

    /// Something happens to a service.
    pub(super) fn set(&mut self, name: &'static str, state: ServiceState, message: &str) {
        self.put(name, state, Health::Unknown, message);
    }

    /// A service runs and its check passes.
    pub(super) fn healthy(&mut self, name: &'static str) {
        self.put(name, ServiceState::Running, Health::Healthy, "Health check successful");
    }

    pub(super) fn get(&self, name: &str) -> Option<&Service> {
        self.by_name.get(name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &Service)> {
        self.by_name.iter().map(|(name, service)| (*name, service))
    }

    /// Takes a service away and puts another of its name into its place, which
    /// has no past.
    pub(super) fn renew(&mut self, name: &str) {
        if let Some(service) = self.by_name.get_mut(name) {
            service.events.clear();
        }
    }

    /// Says whether each of these services was up at some time. One that has
    /// finished counts as up.
    pub(super) fn were_up(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.get(name).is_some_and(|service| service.was_up))
    }

    /// Says whether a service runs and its check passes.
    pub(super) fn is_healthy(&self, name: &str) -> bool {
        self.get(name).is_some_and(|service| service.health == Health::Healthy)
    }

    fn put(&mut self, name: &'static str, state: ServiceState, health: Health, message: &str) {
        let at = self.now;
        let service = self.by_name.entry(name).or_insert_with(|| Service::new(state, at));
        (service.state, service.health, service.since) = (state, health, at);
        service.was_up |= health == Health::Healthy || state == ServiceState::Finished;
        let event = ServiceEvent { message: message.to_owned(), state, at };
        self.news.push(Noted { service: name, event: event.clone() });
        service.events.push(event);
        let old = service.events.len().saturating_sub(EVENTS_KEPT);
        service.events.drain(..old);
    }
}

impl Service {
    fn new(state: ServiceState, since: Timestamp) -> Self {
        Self { state, health: Health::Unknown, since, events: Vec::new(), was_up: false }
    }

    pub(super) fn runs(&self) -> bool {
        self.state == ServiceState::Running
    }
}
