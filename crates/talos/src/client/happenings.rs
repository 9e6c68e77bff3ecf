//! What happens on a node, as it tells it.

use std::time::Duration;

use prost::Message as _;
use talos_proto::machine as proto;

use super::feed::Feed;
use super::reply::failure;
use super::{Client, ClientError, Reason};

/// How the types of happenings begin.
const TYPES: &str = "talos/runtime/machine.";

/// How far back happenings are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// From now on.
    Now,
    /// All that the node remembers, which is some hundred.
    TheBeginning,
}

/// What happens on a node, until the time that was set.
#[derive(Debug)]
pub struct Happenings {
    feed: Feed<proto::Event>,
}

/// Something that happened on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    /// Its id; ids sort by time.
    pub id: String,
    /// The call that it follows from, where it follows from one.
    pub actor: Option<String>,
    /// What happened.
    pub what: Happened,
}

/// What happened on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A sequence such as `boot` began.
    Began(String),
    /// A sequence ended, for this reason where it failed.
    Ended(String, Option<String>),
    /// A service changed its state.
    Service {
        /// Which.
        service: String,
        /// Its state from then on, such as `RUNNING`.
        state: String,
        /// What happened to it.
        message: String,
    },
    /// The machine as a whole is like this.
    Machine {
        /// How far it has come, such as `BOOTING`.
        stage: String,
        /// Whether it lacks nothing.
        ready: bool,
    },
    /// Something else, by its type, such as `PhaseEvent`.
    Other(String),
}

impl Client {
    /// Listens to what happens on the node, for at most `patience`.
    pub async fn happenings(
        &self,
        since: Since,
        patience: Duration,
    ) -> Result<Happenings, ClientError> {
        let tail_events = if since == Since::TheBeginning { -1 } else { 0 };
        let request = proto::EventsRequest { tail_events, ..Default::default() };
        let mut machine = self.machine();
        let call = async |it| machine.events(it).await;
        let feed = self.feed("listen to the node's events", patience, request, call).await?;
        Ok(Happenings { feed })
    }
}

impl Happenings {
    /// Waits for the next; there is none once the time is over.
    pub async fn next(&mut self) -> Result<Option<Happening>, ClientError> {
        loop {
            let Some(event) = self.feed.next().await? else { return Ok(None) };
            if let Some(reason) = event.metadata.as_ref().and_then(failure) {
                return Err(self.feed.error(reason));
            }
            // The first one only says that the node listens.
            let Some(data) = event.data.filter(|data| !data.type_url.is_empty()) else { continue };
            let what = Happened::of(&data.type_url, &data.value);
            let what = what.map_err(|reason| self.feed.error(reason))?;
            let actor = Some(event.actor_id).filter(|actor| !actor.is_empty());
            return Ok(Some(Happening { id: event.id, actor, what }));
        }
    }
}

impl Happened {
    fn of(kind: &str, bytes: &[u8]) -> Result<Self, Reason> {
        let kind = kind.strip_prefix(TYPES).unwrap_or(kind);
        let nonsense = |_| Reason::Nonsense(format!("a {kind} that cannot be read"));
        match kind {
            "SequenceEvent" => {
                proto::SequenceEvent::decode(bytes).map(Self::sequence).map_err(nonsense)
            }
            "ServiceStateEvent" => {
                proto::ServiceStateEvent::decode(bytes).map(Self::service).map_err(nonsense)
            }
            "MachineStatusEvent" => proto::MachineStatusEvent::decode(bytes)
                .map(|it| Self::machine(&it))
                .map_err(nonsense),
            other => Ok(Self::Other(other.to_owned())),
        }
    }

    fn sequence(event: proto::SequenceEvent) -> Self {
        match event.action() {
            proto::sequence_event::Action::Start => Self::Began(event.sequence),
            proto::sequence_event::Action::Stop | proto::sequence_event::Action::Noop => {
                Self::Ended(event.sequence, event.error.map(|error| error.message))
            }
        }
    }

    fn service(event: proto::ServiceStateEvent) -> Self {
        let state = event.action().as_str_name().to_owned();
        Self::Service { service: event.service, state, message: event.message }
    }

    fn machine(event: &proto::MachineStatusEvent) -> Self {
        let stage = event.stage().as_str_name().to_owned();
        Self::Machine { stage, ready: event.status.as_ref().is_some_and(|status| status.ready) }
    }
}
