//! Following objects as they change.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::{ListOptions, Place};
use crate::kube::Kube;
use crate::kube::object;
use crate::kube::refusal::Refusal;
use crate::kube::selector::Selector;
use crate::kube::store::Change;

/// What a watch is to tell.
#[derive(Clone, Debug, Default)]
pub struct WatchOptions {
    pub(crate) selector: Selector,
    /// The version to go on from; everything that exists is told where absent.
    pub resource_version: String,
    /// Whether the caller wants to hear of versions without changes.
    pub bookmarks: bool,
    /// Whether all that exists is told first, and then that this was all.
    pub initial_events: bool,
}

/// One thing that a watch tells.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    /// There is a new object, or one that matches now.
    Added(Arc<Value>),
    /// An object has changed.
    Modified(Arc<Value>),
    /// An object is gone, or does not match any more.
    Deleted(Arc<Value>),
    /// Nothing has changed up to a version; the second part is true where all
    /// that existed has been told.
    Bookmark(u64, bool),
    /// The watch is over.
    Error(Refusal),
}

/// A watch of the objects of one kind.
#[derive(Debug)]
pub struct Watch {
    kube: Kube,
    place: Place,
    selector: Selector,
    /// The version up to which everything has been told.
    told: u64,
    waiting: VecDeque<WatchEvent>,
    revision: watch::Receiver<u64>,
    over: bool,
}

impl Watch {
    pub(crate) fn start(
        kube: &Kube,
        place: &Place,
        options: &WatchOptions,
    ) -> Result<Self, Refusal> {
        let revision = kube.revision();
        let mut watch = Self {
            kube: kube.clone(),
            place: place.clone(),
            selector: options.selector.clone(),
            told: 0,
            waiting: VecDeque::new(),
            revision,
            over: false,
        };
        let from_start = ["", "0"].contains(&options.resource_version.as_str());
        if from_start || options.initial_events {
            watch.tell_all(options)?;
        } else {
            let text = &options.resource_version;
            watch.told = text.parse().map_err(|_| {
                Refusal::bad_request(format!("invalid resource version \"{text}\": not a number"))
            })?;
        }
        Ok(watch)
    }

    fn tell_all(&mut self, options: &WatchOptions) -> Result<(), Refusal> {
        let list = ListOptions { selector: self.selector.clone(), ..ListOptions::default() };
        let listed = self.kube.list_at(&self.place, &list)?;
        self.told = listed.revision;
        self.waiting.extend(listed.items.into_iter().map(WatchEvent::Added));
        if options.initial_events && options.bookmarks {
            self.waiting.push_back(WatchEvent::Bookmark(listed.revision, true));
        }
        Ok(())
    }

    /// Returns the next event; nothing after an error.
    pub async fn next(&mut self) -> Option<WatchEvent> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            // Marked as seen before it is read, so that no change is missed.
            self.revision.borrow_and_update();
            self.catch_up();
            if self.waiting.is_empty() && self.revision.changed().await.is_err() {
                return None;
            }
        }
    }

    /// Returns what is watched.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the version up to which everything has been told.
    pub fn told(&self) -> u64 {
        self.told
    }

    fn catch_up(&mut self) {
        match self.kube.changes(self.place.key(), self.told) {
            Ok((changes, revision)) => {
                let events = changes.iter().filter_map(|change| self.event(change));
                self.waiting = events.collect();
                self.told = revision.max(self.told);
            }
            Err(refusal) => {
                self.waiting.push_back(WatchEvent::Error(refusal));
                self.over = true;
            }
        }
    }

    fn event(&self, change: &Change) -> Option<WatchEvent> {
        let selected = |object: &&Arc<Value>| {
            let here = &self.place.namespace;
            (here.is_empty() || object::namespace(object) == here) && self.selector.matches(object)
        };
        let before = change.before.as_ref().filter(selected);
        let after = change.after.as_ref().filter(selected);
        match (before, after) {
            (None, Some(after)) => Some(WatchEvent::Added(Arc::clone(after))),
            (Some(_), Some(after)) => Some(WatchEvent::Modified(Arc::clone(after))),
            (Some(before), None) => Some(WatchEvent::Deleted(ended(before, change.revision))),
            (None, None) => None,
        }
    }
}

/// Writes the version of its end on an object that is gone.
fn ended(object: &Value, revision: u64) -> Arc<Value> {
    let mut object = object.clone();
    let text = revision.to_string();
    object::metadata(&mut object).insert("resourceVersion".to_owned(), text.into());
    Arc::new(object)
}

impl WatchEvent {
    /// Returns the object that the event is about.
    pub fn object(&self) -> Option<&Arc<Value>> {
        match self {
            Self::Added(object) | Self::Modified(object) | Self::Deleted(object) => Some(object),
            Self::Bookmark(..) | Self::Error(_) => None,
        }
    }

    /// Writes the event as it goes over the wire; `show` writes its object.
    pub(crate) fn to_value(&self, place: &Place, show: impl Fn(&Value) -> Value) -> Value {
        let (kind, object) = match self {
            Self::Added(object) => ("ADDED", show(object)),
            Self::Modified(object) => ("MODIFIED", show(object)),
            Self::Deleted(object) => ("DELETED", show(object)),
            Self::Bookmark(revision, initial) => ("BOOKMARK", bookmark(place, *revision, *initial)),
            Self::Error(refusal) => ("ERROR", refusal.body()),
        };
        json!({ "type": kind, "object": object })
    }
}

fn bookmark(place: &Place, revision: u64, initial: bool) -> Value {
    let mut metadata =
        json!({ "resourceVersion": revision.to_string(), "creationTimestamp": null });
    if initial {
        metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
    }
    json!({ "apiVersion": place.api_version(), "kind": place.resource.kind, "metadata": metadata })
}
