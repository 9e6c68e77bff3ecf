//! Watching what a node's controllers know.

use std::collections::VecDeque;
use std::time::Duration;

use talos_proto::cosi::resource as proto;
use talos_proto::cosi::resource::EventType;

use super::super::feed::Feed;
use super::super::{Client, ClientError, Reason};
use super::{Kind, Resource};

/// The dialect in which events without a resource are known.
const API_VERSION: i32 = 1;

/// A resource that is watched, until the time that was set.
#[derive(Debug)]
pub struct Watch<T> {
    feed: Feed<proto::WatchResponse>,
    /// Events that came together with the one that was told last.
    waiting: VecDeque<proto::Event>,
    read: fn(&Resource) -> Result<T, Reason>,
}

/// What a watch has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen<T> {
    /// The resource is like this now.
    Now(T),
    /// The resource is not there.
    Absent,
}

impl Client {
    pub(super) async fn watch<T>(
        &self,
        attempt: &'static str,
        (kind, id): (Kind, &str),
        read: fn(&Resource) -> Result<T, Reason>,
        patience: Duration,
    ) -> Result<Watch<T>, ClientError> {
        let request = proto::WatchRequest {
            namespace: kind.namespace.to_owned(),
            r#type: kind.name.to_owned(),
            id: Some(id.to_owned()),
            options: Some(proto::WatchOptions::default()),
            api_version: API_VERSION,
        };
        let mut state = self.state();
        let feed = self.feed(attempt, patience, request, async |it| state.watch(it).await).await?;
        Ok(Watch { feed, waiting: VecDeque::new(), read })
    }
}

impl<T> Watch<T> {
    /// Waits for the next change; there is none once the time is over.
    pub async fn next(&mut self) -> Result<Option<Seen<T>>, ClientError> {
        loop {
            while let Some(event) = self.waiting.pop_front() {
                let seen = self.seen(event).map_err(|reason| self.feed.error(reason))?;
                if seen.is_some() {
                    return Ok(seen);
                }
            }
            match self.feed.next().await? {
                Some(answer) => self.waiting.extend(answer.event),
                None => return Ok(None),
            }
        }
    }

    fn seen(&self, event: proto::Event) -> Result<Option<Seen<T>>, Reason> {
        match event.event_type() {
            EventType::Created | EventType::Updated => {
                let resource = Resource::of(event.resource)?;
                (self.read)(&resource).map(|it| Some(Seen::Now(it)))
            }
            EventType::Destroyed => Ok(Some(Seen::Absent)),
            EventType::Bootstrapped | EventType::Noop => Ok(None),
            EventType::Errored => {
                Err(Reason::Unavailable(event.error.unwrap_or_else(|| "the watch failed".into())))
            }
        }
    }
}
