//! One scope, seen in the best way that is allowed.

use std::sync::Arc;
use std::time::Duration;

use events::Clock;
use tokio::sync::Notify;

use super::{Pace, PostId, Unserved, pause_after};
use crate::{ApiError, Cluster, Kind, Object, ObjectId, Scope, Sighting, Trouble, Watch};

/// So many refusals in a row are no moment's: a right that was just given is
/// not known everywhere yet.
const REFUSALS: u32 = 2;

/// When a watch is tried again that was refused; twice as long after each try.
const WATCH_AGAIN: Duration = Duration::from_secs(45);
const LONGEST: Duration = Duration::from_mins(10);

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
    /// How many of the last errors said that this way is not open to us.
    refusals: u32,
    /// When a better way is tried again, and how long after that.
    better: Option<Duration>,
    better_after: Duration,
    /// The way to go back to where the better one is refused again.
    spare: Option<Way>,
    /// Whether the watch was open between the last error and the one before.
    pub(super) resumed: bool,
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
        Self {
            id,
            cluster,
            clock,
            scope,
            named,
            way,
            unserved,
            pause,
            errors_in_a_row,
            refusals: 0,
            better: None,
            better_after: WATCH_AGAIN,
            spare: None,
            resumed: false,
            bell: Arc::default(),
        }
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
        self.try_a_better_way();
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
            (self.way, self.better) = (Way::List(Poll::new()), None);
            seen = Ok(Sighting::Everything(Vec::new()));
        }
        self.pause = match &seen {
            Ok(sighting) => {
                // A list alone does not say that the watch will open.
                let lists = matches!(self.way, Way::Watch(_)) && is_list(sighting);
                if !lists {
                    (self.errors_in_a_row, self.refusals) = (0, 0);
                }
                self.way.pause_after(sighting)
            }
            Err(error) => {
                self.resumed = self.way.has_opened();
                if self.resumed {
                    (self.errors_in_a_row, self.refusals) = (0, 0);
                    (self.better_after, self.spare) = (WATCH_AGAIN, None);
                }
                self.errors_in_a_row += 1;
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
        let Some(refused) = refusal(error) else {
            self.refusals = 0;
            return;
        };
        self.refusals += refused;
        if self.refusals < REFUSALS {
            return;
        }
        self.refusals = 0;
        self.way = match (self.spare.take(), &self.way) {
            (Some(spare), _) => spare,
            (None, Way::Watch(watch)) if watch.has_listed() => Way::List(Poll::new()),
            (None, Way::Watch(_) | Way::List(_)) if !self.named.is_empty() => Way::Get(Poll::new()),
            _ => return,
        };
        self.better = Some(self.clock.elapsed() + self.better_after);
        self.better_after = (self.better_after * 2).min(LONGEST);
    }

    /// What was refused once may be allowed later.
    fn try_a_better_way(&mut self) {
        if self.better.is_some_and(|when| when <= self.clock.elapsed()) {
            self.better = None;
            let watch = Way::Watch(Box::new(self.cluster.watch(self.scope.clone())));
            self.spare = Some(std::mem::replace(&mut self.way, watch));
            // One more refusal is enough.
            self.refusals = REFUSALS - 1;
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

/// Returns how many refusals an error counts for; none where it is none. What
/// the API does not offer at all it will not offer a second later.
fn refusal(error: &ApiError) -> Option<u32> {
    match error.trouble() {
        Trouble::Forbidden(_) => Some(1),
        Trouble::Refused { code: 405, .. } => Some(REFUSALS),
        _ => None,
    }
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
