//! What a node has said: events, the log of its kernel, and of its services.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use prost::Message;
use talos_proto::machine::{
    Event, MachineStatusEvent, PhaseEvent, SequenceEvent, ServiceStateEvent, TaskEvent,
    machine_status_event::{MachineStage, MachineStatus, machine_status::UnmetCondition},
    phase_event, sequence_event, service_state_event, task_event,
};
use tokio::sync::broadcast;

use super::{Stage, condition::Unmet};
use crate::{clock::since_epoch, talos::services::Noted};

/// How much is remembered of each; Talos has rings, too.
const EVENTS_KEPT: usize = 1_000;
const LINES_KEPT: usize = 10_000;

/// The alphabet of the ids of events, in which they sort by time.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
const ID_LENGTH: u32 = 20;

/// What a node has said since it was switched on.
#[derive(Debug)]
pub(in crate::talos) struct Chronicle {
    told: Mutex<Told>,
    /// All places of a channel are made at once, so they hold no more than a pointer.
    news: broadcast::Sender<Arc<Event>>,
}

#[derive(Debug, Default)]
struct Told {
    events: VecDeque<Arc<Event>>,
    kernel: VecDeque<String>,
    services: BTreeMap<String, VecDeque<String>>,
    count: u128,
    /// The call that everything that happens follows from, where there is one.
    actor: String,
}

impl Default for Chronicle {
    fn default() -> Self {
        Self { told: Mutex::default(), news: broadcast::Sender::new(EVENTS_KEPT) }
    }
}

impl Chronicle {
    /// Forgets everything: the node starts anew. The ids of events go on, since
    /// whoever saw the last one before asks for those after it.
    pub(super) fn forget(&self) {
        let mut told = self.told();
        *told = Told { count: told.count, ..Told::default() };
    }

    /// What follows, follows from this call.
    pub(in crate::talos) fn because_of(&self, actor: &str) {
        actor.clone_into(&mut self.told().actor);
    }

    /// A service has changed its state.
    pub(super) fn service(&self, noted: &Noted) {
        let Noted { service, event } = noted;
        let state = event.state.name();
        let kernel = format!("[talos] service[{service}]({state}): {}", event.message);
        self.kernel(event.at, &kernel);
        self.log(service, &stamped(event.at, &event.message));
        let action = service_state_event::Action::from_str_name(&state.to_uppercase());
        let message = ServiceStateEvent {
            service: (*service).to_owned(),
            action: action.unwrap_or_default().into(),
            message: event.message.clone(),
            health: None,
        };
        self.event(event.at, "ServiceStateEvent", &message);
    }

    /// The machine as a whole has changed.
    pub(super) fn machine(&self, at: Timestamp, stage: Stage, unmet: &[Unmet]) {
        let conditions = unmet.iter().map(|unmet| UnmetCondition {
            name: unmet.name.to_owned(),
            reason: unmet.reason.clone(),
        });
        let unmet_conditions = conditions.collect::<Vec<_>>();
        let status = MachineStatus { ready: unmet_conditions.is_empty(), unmet_conditions };
        let stage = MachineStage::from_str_name(&stage.name().to_uppercase());
        let stage = stage.unwrap_or_default().into();
        self.event(at, "MachineStatusEvent", &MachineStatusEvent { stage, status: Some(status) });
    }

    /// A sequence begins or ends.
    pub(super) fn sequence(&self, at: Timestamp, name: &str, action: sequence_event::Action) {
        let verb = if action == sequence_event::Action::Start { "starting" } else { "done" };
        self.kernel(at, &format!("[talos] {name} sequence: {verb}"));
        let (sequence, action) = (name.to_owned(), action.into());
        self.event(at, "SequenceEvent", &SequenceEvent { sequence, action, error: None });
    }

    /// All services are about to be stopped, which is the last that a node that
    /// stops tells of itself.
    pub(super) fn stops_everything(&self, at: Timestamp) {
        let (phase, task) = ("stopEverything".to_owned(), "stopAllServices".to_owned());
        let action = phase_event::Action::Start.into();
        self.event(at, "PhaseEvent", &PhaseEvent { phase, action });
        let action = task_event::Action::Start.into();
        self.event(at, "TaskEvent", &TaskEvent { task, action });
    }

    /// A service logs a line.
    pub(in crate::talos) fn log(&self, service: &str, line: &str) {
        let mut told = self.told();
        keep(told.services.entry(service.to_owned()).or_default(), line.to_owned(), LINES_KEPT);
    }

    /// Returns the last lines that a service has logged; all where nothing is
    /// said about how many.
    pub(in crate::talos) fn log_of(
        &self,
        service: &str,
        lines: Option<usize>,
    ) -> Option<Vec<String>> {
        let told = self.told();
        let log = told.services.get(service)?;
        let first = lines.map_or(0, |lines| log.len().saturating_sub(lines));
        Some(log.iter().skip(first).cloned().collect())
    }

    /// Returns the log of the kernel.
    pub(in crate::talos) fn kernel_log(&self) -> Vec<String> {
        self.told().kernel.iter().cloned().collect()
    }

    /// Returns the events so far, and all that come.
    pub(in crate::talos) fn events(&self) -> (Vec<Arc<Event>>, broadcast::Receiver<Arc<Event>>) {
        let told = self.told();
        (told.events.iter().cloned().collect(), self.news.subscribe())
    }

    fn kernel(&self, at: Timestamp, text: &str) {
        let line = format!("user: warning: [{at}]: {text}");
        keep(&mut self.told().kernel, line, LINES_KEPT);
    }

    fn event(&self, at: Timestamp, kind: &str, message: &impl Message) {
        let mut told = self.told();
        told.count += 1;
        let data = prost_types::Any {
            type_url: format!("talos/runtime/machine.{kind}"),
            value: message.encode_to_vec(),
        };
        let event = Arc::new(Event {
            metadata: None,
            data: Some(data),
            id: id(at, told.count),
            actor_id: told.actor.clone(),
        });
        keep(&mut told.events, Arc::clone(&event), EVENTS_KEPT);
        // Nobody may be listening.
        let _ = self.news.send(event);
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a line as services begin theirs.
pub(in crate::talos) fn stamped(at: Timestamp, text: &str) -> String {
    format!("{} {text}", at.strftime("%Y/%m/%d %H:%M:%S%.6f"))
}

/// Returns the id that no event up to a moment comes after.
pub(in crate::talos) fn last_event_id(at: Timestamp) -> String {
    id(at, u128::from(u64::MAX))
}

/// Says whether a text has the form of an event's id.
pub(in crate::talos) fn is_event_id(text: &str) -> bool {
    text.len() == ID_LENGTH as usize && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

fn keep<T>(ring: &mut VecDeque<T>, item: T, most: usize) {
    if ring.len() == most {
        ring.pop_front();
    }
    ring.push_back(item);
}

/// Returns an id that sorts by time: the seconds, then a count.
fn id(at: Timestamp, count: u128) -> String {
    let number = u128::from(since_epoch(at).as_secs()) << 64 | count;
    let letter = |place| ALPHABET[usize::try_from(number >> (5 * place) & 31).expect("below 32")];
    (0..ID_LENGTH).rev().map(|place| char::from(letter(place))).collect()
}
