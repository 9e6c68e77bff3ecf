//! Looking at many objects at once, for as long as it takes.
//!
//! ```text
//!  scope ─► Post ─► watch ──────────────► sighting ──┐
//!             │       └─ not allowed ─► poll 1…10 s ──┤
//!             └── error: told, then a pause ──────────┼─► Lookout::next ─► Glimpse
//!  scope ─► Post ─► …                                 ┘        │
//!                                                              ▼
//!                                                    what is there now
//! ```
//!
//! One post per scope, so one watch per kind and namespace however many
//! objects are waited for, and one per kind where they are in many namespaces. An error is handed on before the pause that it
//! causes: whoever waits counts it, shows it, and decides when it is enough.

mod errors;
mod pace;
mod post;
mod spread;

pub use errors::LookErrors;
pub(crate) use pace::{Pace, pause_after};
pub(crate) use spread::{Place, spread};

use std::collections::BTreeMap;
use std::sync::Arc;

use events::Clock;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::sync::Notify;

use crate::{ApiError, Cluster, Object, ObjectId, Scope, Sighting};
use post::Post;

/// Several scopes under watch. Dropping it ends the watches.
pub(crate) struct Lookout {
    cluster: Cluster,
    clock: Clock,
    unserved: Unserved,
    views: Vec<View>,
    /// Rings at a post to have it list everything again.
    bells: Vec<Arc<Notify>>,
    watching: FuturesUnordered<BoxFuture<'static, (Post, Result<Sighting, ApiError>)>>,
}

/// What it means that the API does not serve a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unserved {
    /// A mistake of whoever asked.
    Mistake,
    /// It was served before: its objects are gone with it.
    Gone,
}

/// Which post of a lookout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PostId(usize);

/// What a post sees at the moment.
#[derive(Debug, Default)]
pub(crate) struct View {
    objects: BTreeMap<ObjectId, Object>,
    /// Whether all there is was seen at least once: before that, what is not
    /// in here may be there all the same.
    complete: bool,
}

/// What is new.
#[derive(Debug)]
pub(crate) struct Glimpse {
    pub(crate) post: PostId,
    pub(crate) news: News,
    /// Whether a watch was open since the trouble before this one: then they
    /// are not in a row, though nothing was seen in between.
    pub(crate) resumed: bool,
}

/// Where to look for what is new.
#[derive(Debug)]
pub(crate) enum News {
    /// At everything in the post's view.
    Everything,
    /// At this object, which may be gone.
    One(ObjectId),
    /// Looking failed; the post goes on after a pause.
    Trouble(ApiError),
}

impl PostId {
    /// The first post of any lookout.
    #[cfg(test)]
    pub(crate) fn first() -> Self {
        Self(0)
    }
}

impl Lookout {
    pub(crate) fn new(cluster: &Cluster, clock: Clock, unserved: Unserved) -> Self {
        let watching = FuturesUnordered::new();
        let (views, bells) = (Vec::new(), Vec::new());
        Self { cluster: cluster.clone(), clock, unserved, views, bells, watching }
    }

    /// Begins to look at a scope. Where not even a list is allowed, the named
    /// objects are asked for one by one.
    pub(crate) fn add(&mut self, scope: Scope, named: Vec<ObjectId>) -> PostId {
        let id = PostId(self.views.len());
        self.views.push(View::default());
        let post =
            Post::new(id, self.cluster.clone(), self.clock, scope, named).when(self.unserved);
        self.bells.push(post.bell());
        self.watching.push(Box::pin(post.next()));
        id
    }

    pub(crate) fn view(&self, post: PostId) -> &View {
        &self.views[post.0]
    }

    /// Has a post look at everything anew, since what it saw may be old.
    pub(crate) fn look_again(&self, post: PostId) {
        self.bells[post.0].notify_one();
    }

    /// Waits for news; for ever where nothing is looked at. May be dropped at
    /// any moment: nothing is lost.
    pub(crate) async fn next(&mut self) -> Glimpse {
        let Some((post, seen)) = self.watching.next().await else {
            return std::future::pending().await;
        };
        let (id, resumed) = (post.id, post.resumed && seen.is_err());
        self.watching.push(Box::pin(post.next()));
        let news = match seen {
            Ok(sighting) => self.views[id.0].take(sighting),
            Err(error) => News::Trouble(error),
        };
        Glimpse { post: id, news, resumed }
    }
}

// === impl View ===

impl View {
    /// Returns whether it is known what is not there.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(crate) fn get(&self, id: &ObjectId) -> Option<&Object> {
        self.objects.get(id)
    }

    pub(crate) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.objects.values()
    }

    fn take(&mut self, sighting: Sighting) -> News {
        match sighting {
            Sighting::Everything(all) => {
                self.objects = all.into_iter().map(|one| (one.id().clone(), one)).collect();
                self.complete = true;
                News::Everything
            }
            Sighting::Changed(object) => {
                let id = object.id().clone();
                self.objects.insert(id.clone(), object);
                News::One(id)
            }
            Sighting::Gone(object) => {
                self.objects.remove(object.id());
                News::One(object.id().clone())
            }
        }
    }
}
