//! What a node has logged, and what happens on it.

use std::sync::Arc;

use futures::{StreamExt, stream};
use jiff::SignedDuration;
use talos_proto::{
    common::Data,
    machine::{DmesgRequest, Event, EventsRequest, LogsRequest},
};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::{Answers, Api};
use crate::{
    clock::since_epoch,
    talos::node::{is_event_id, last_event_id},
};

/// The namespace of the node's own services.
const SYSTEM: &str = "system";

impl Api {
    /// Returns the log of a service; one that never ran has none.
    pub(super) fn log(
        &self,
        request: &LogsRequest,
    ) -> Result<impl Iterator<Item = Data> + use<>, Status> {
        if request.follow {
            return Err(Status::unimplemented("following a log is not simulated"));
        }
        if request.namespace != SYSTEM && request.id != "kubelet" {
            return Err(Status::unimplemented("logs of containers are not simulated"));
        }
        let lines = usize::try_from(request.tail_lines).ok();
        let log = self.machine.chronicle.log_of(&request.id, lines);
        let unknown = || Status::unknown(format!("log {:?} was not registered", request.id));
        let log = log.ok_or_else(unknown)?;
        Ok(log.into_iter().map(|line| data(line + "\n")))
    }

    /// Returns the log of the kernel.
    pub(super) fn kernel_log(
        &self,
        request: DmesgRequest,
    ) -> Result<impl Iterator<Item = Data> + use<>, Status> {
        if request.follow || request.tail {
            return Err(Status::unimplemented("following the kernel's log is not simulated"));
        }
        Ok(self.machine.chronicle.kernel_log().into_iter().map(|line| data(line + "\n")))
    }

    /// Tells what has happened, as far back as it was asked for, and then what
    /// happens. A first event without contents says that the node listens.
    pub(super) fn told_events(
        &self,
        request: &EventsRequest,
        stop: CancellationToken,
    ) -> Result<Answers<Event>, Status> {
        let (past, news) = self.machine.chronicle.events();
        let first = self.first_told(request, &past)?;
        let actor = request.with_actor_id.clone();
        let concerns = move |event: &Event| actor.is_empty() || event.actor_id == actor;
        let past = past.into_iter().skip(first).filter(|event| concerns(event));
        let hello = Event { actor_id: request.with_actor_id.clone(), ..hello() };
        let begin = [hello].into_iter().chain(past.map(Arc::unwrap_or_clone)).map(Ok);
        let begin: Vec<_> = begin.collect();
        let news = stream::unfold((news, stop, concerns), |(mut news, stop, concerns)| async {
            loop {
                // What has happened is told before the end.
                let next = tokio::select! {
                    biased;
                    next = news.recv() => next,
                    () = stop.cancelled() => return None,
                };
                match next {
                    Ok(event) if concerns(&event) => {
                        return Some((Ok(Arc::unwrap_or_clone(event)), (news, stop, concerns)));
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        });
        Ok(Box::pin(stream::iter(begin).chain(news)))
    }

    /// Returns the first past event that is told: by their number, after an
    /// event, or of a while; the first of these that a caller names counts.
    fn first_told(&self, request: &EventsRequest, past: &[Arc<Event>]) -> Result<usize, Status> {
        let EventsRequest { tail_events, tail_id, tail_seconds, .. } = request;
        if !tail_id.is_empty() && !is_event_id(tail_id) {
            return Err(Status::unknown("error parsing tail_id: xid: invalid ID"));
        }
        let after = |id: &str| past.partition_point(|event| event.id.as_str() <= id);
        Ok(if *tail_events != 0 {
            past.len().saturating_sub(usize::try_from(*tail_events).unwrap_or(usize::MAX))
        } else if !tail_id.is_empty() {
            after(tail_id)
        } else if *tail_seconds != 0 {
            let ago = SignedDuration::from_secs((*tail_seconds).into());
            after(&last_event_id(self.machine.settings.clock.now() - ago))
        } else {
            past.len()
        })
    }

    /// Names the events that follow from a call.
    pub(super) fn actor(&self) -> String {
        let moment = since_epoch(self.machine.settings.clock.now()).as_nanos().to_be_bytes();
        uuid::Builder::from_random_bytes(moment).into_uuid().to_string()
    }
}

fn hello() -> Event {
    Event { data: Some(prost_types::Any::default()), ..Event::default() }
}

fn data(text: String) -> Data {
    Data { metadata: None, bytes: text.into_bytes() }
}
