//! Watching the node's resources.

use std::{pin::Pin, sync::Arc};

use futures::{Stream, StreamExt, stream};
use talos_proto::cosi::resource::{
    Event, EventType, Metadata, Resource, WatchRequest, WatchResponse,
};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::closing;
use crate::talos::resources::Change;

/// What a watch tells of.
struct Watch {
    request: WatchRequest,
    changes: Receiver<Arc<Change>>,
    stop: CancellationToken,
}

/// Answers a watch: first with what is there, as far as it was asked for, then
/// with every change until the server stops.
pub(super) fn answers(
    request: WatchRequest,
    (present, changes): (Vec<Resource>, Receiver<Arc<Change>>),
    stop: CancellationToken,
) -> Pin<Box<dyn Stream<Item = Result<WatchResponse, Status>> + Send>> {
    // The first answer is empty: it says that the watch has begun.
    let begun = [Ok(WatchResponse { event: Vec::new() })];
    let first = first_events(&request, present).into_iter().map(|event| Ok(alone(event)));
    let first = begun.into_iter().chain(first);
    let watch = Watch { request, changes, stop };
    let later = stream::unfold(Some(watch), |watch| async {
        let mut watch = watch?;
        match watch.next().await {
            Ok(event) => Some((Ok(alone(event)), Some(watch))),
            Err(status) => Some((Err(status), None)),
        }
    });
    Box::pin(stream::iter(first.collect::<Vec<_>>()).chain(later))
}

impl Watch {
    async fn next(&mut self) -> Result<Event, Status> {
        loop {
            let change = self.stop.run_until_cancelled(self.changes.recv()).await;
            match change.ok_or_else(closing)? {
                Ok(change) if concerns(&self.request, &change.resource) => {
                    let Change { kind, resource, old } = Arc::unwrap_or_clone(change);
                    return Ok(event(kind, Some(resource), old));
                }
                Ok(_) => {}
                Err(RecvError::Closed) => return Err(closing()),
                Err(RecvError::Lagged(_)) => {
                    return Err(Status::failed_precondition("buffer overrun"));
                }
            }
        }
    }
}

/// Whoever watches one resource is told how it is, also where it is not there;
/// whoever watches a type is told only on demand.
fn first_events(request: &WatchRequest, present: Vec<Resource>) -> Vec<Event> {
    let contents = request.options.as_ref().is_some_and(|options| options.bootstrap_contents);
    let mut events: Vec<_> = present
        .into_iter()
        .filter(|resource| concerns(request, resource))
        .filter(|_| contents || request.id.is_some())
        .map(|resource| event(EventType::Created, Some(resource), None))
        .collect();
    match &request.id {
        Some(id) if events.is_empty() => {
            events.push(event(EventType::Destroyed, Some(absent(request, id)), None));
        }
        None if contents => events.push(event(EventType::Bootstrapped, None, None)),
        _ => {}
    }
    events
}

fn concerns(request: &WatchRequest, resource: &Resource) -> bool {
    resource.metadata.as_ref().is_some_and(|metadata| {
        metadata.namespace == request.namespace
            && metadata.r#type == request.r#type
            && request.id.as_ref().is_none_or(|id| *id == metadata.id)
    })
}

/// Stands for a resource that is not there.
fn absent(request: &WatchRequest, id: &str) -> Resource {
    let metadata = Metadata {
        namespace: request.namespace.clone(),
        r#type: request.r#type.clone(),
        id: id.to_owned(),
        version: "undefined".to_owned(),
        phase: "tearingDown".to_owned(),
        ..Metadata::default()
    };
    Resource { metadata: Some(metadata), spec: None }
}

fn event(kind: EventType, resource: Option<Resource>, old: Option<Resource>) -> Event {
    Event { resource, event_type: kind.into(), old, error: None, bookmark: None }
}

fn alone(event: Event) -> WatchResponse {
    WatchResponse { event: vec![event] }
}
