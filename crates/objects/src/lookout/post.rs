//! One scope, seen in the best way that is allowed.

use std::sync::Arc;
use std::time::Duration;

use events::Clock;
use tokio::sync::Notify;

use super::{Pace, PostId, Unserved, pause_after};
use crate::{ApiError, Cluster, Kind, Object, ObjectId, Scope, Sighting, Trouble, Watch};

/// A scope and how it is looked at.
pub(super) struct Post {
    pub(super) id: PostId,
    cluster: Cluster,
    clock: Clock,
    scope: Scope,
    named: Vec<ObjectId>,
    way: Way,
    unserved: Unserved,
    pause: Duration,
    errors_in_a_row: u32,
    /// Rings when everything is to be looked at anew.
    bell: Arc<Notify>,
}

/// From the best way to the worst.
enum Way {
    Watch(Box<Watch>),
    List(Poll),
    Get(Poll),
}

/// Looking again and again.
struct Poll {
    pace: Pace,
    /// The versions of the last look; none before the first.
    last: Option<Vec<String>>,
}

impl Post {
    pub(super) fn new(
        id: PostId,
        cluster: Cluster,
        clock: Clock,
        scope: Scope,
        named: Vec<ObjectId>,
    ) -> Self {
        let way = Way::Watch(Box::new(cluster.watch(scope.clone())));
        let (pause, errors_in_a_row, unserved) = (Duration::ZERO, 0, Unserved::Mistake);
        let bell = Arc::default();
        Self { id, cluster, clock, scope, named, way, unserved, pause, errors_in_a_row, bell }
    }

    pub(super) fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.bell)
    }

    pub(super) fn when(self, unserved: Unserved) -> Self {
        Self { unserved, ..self }
    }

    pub(super) async fn next(mut self) -> (Self, Result<Sighting, ApiError>) {
        let bell = self.bell();
        if !self.pause.is_zero() {
            tokio::select! {
                () = self.clock.sleep(self.pause) => {}
                // A pause after an error is for the API's sake, and is kept.
                () = bell.notified(), if self.errors_in_a_row == 0 => {}
            }
        }
        let mut seen = loop {
            tokio::select! {
                biased;
                () = bell.notified() => self.way.begin_anew(),
                seen = self.look() => break seen,
            }
        };
        if let Err(error) = &seen
            && self.unserved == Unserved::Gone
            && is_gone_with_its_kind(&self.cluster, self.scope.kind(), error).await
        {
            self.way = Way::List(Poll::new());
            seen = Ok(Sighting::Everything(Vec::new()));
        }
        self.pause = match &seen {
            Ok(sighting) => {
                // A list alone does not say that the watch will open.
                let lists = matches!(self.way, Way::Watch(_)) && is_list(sighting);
                self.errors_in_a_row = if lists { self.errors_in_a_row } else { 0 };
                self.way.pause_after(sighting)
            }
            Err(error) => {
                self.errors_in_a_row = if self.way.has_opened() { 1 } else { self.errors_in_a_row + 1 };
                self.fall_back(error);
                pause_after(error.class(), self.errors_in_a_row)
            }
        };
        (self, seen)
    }

    async fn look(&mut self) -> Result<Sighting, ApiError> {
        match &mut self.way {
            Way::Watch(watch) => watch.next().await,
            Way::List(_) => Ok(Sighting::Everything(self.cluster.list(&self.scope).await?.objects)),
            Way::Get(_) => {
                let mut found = Vec::new();
                for id in &self.named {
                    found.extend(self.cluster.get(id).await?);
                }
                Ok(Sighting::Everything(found))
            }
        }
    }

    /// What may not be watched may perhaps be listed, or at least asked for by name.
    fn fall_back(&mut self, error: &ApiError) {
        if !is_not_offered(error) {
            return;
        }
        match &self.way {
            Way::Watch(watch) if watch.has_listed() => self.way = Way::List(Poll::new()),
            Way::Watch(_) | Way::List(_) if !self.named.is_empty() => {
                self.way = Way::Get(Poll::new());
            }
            _ => {}
        }
    }
}

fn is_list(sighting: &Sighting) -> bool {
    matches!(sighting, Sighting::Everything(_))
}

async fn is_gone_with_its_kind(cluster: &Cluster, kind: &Kind, error: &ApiError) -> bool {
    let unserved = matches!(error.trouble(), Trouble::KindMissing { .. });
    unserved && matches!(cluster.still_serves(kind).await, Ok(false))
}

fn is_not_offered(error: &ApiError) -> bool {
    matches!(error.trouble(), Trouble::Forbidden(_) | Trouble::Refused { code: 405, .. })
}

// === impl Way ===

impl Way {
    /// A poll looks at everything each time.
    fn begin_anew(&mut self) {
        if let Self::Watch(watch) = self {
            watch.begin_anew();
        }
    }

    /// Returns whether a watch was open since the last error.
    fn has_opened(&mut self) -> bool {
        match self {
            Self::Watch(watch) => watch.take_opened(),
            Self::List(_) | Self::Get(_) => false,
        }
    }

    fn pause_after(&mut self, sighting: &Sighting) -> Duration {
        match (self, sighting) {
            (Self::List(poll) | Self::Get(poll), Sighting::Everything(all)) => poll.after(all),
            _ => Duration::ZERO,
        }
    }
}

// === impl Poll ===

impl Poll {
    fn new() -> Self {
        Self { pace: Pace::new(), last: None }
    }

    fn after(&mut self, all: &[Object]) -> Duration {
        let version = |one: &Object| one.text("/metadata/resourceVersion").map(str::to_owned);
        let now: Vec<String> = all.iter().filter_map(version).collect();
        let moved = self.last.as_ref().is_some_and(|last| *last != now);
        self.last = Some(now);
        self.pace.after(moved)
    }
}
