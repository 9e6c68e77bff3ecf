//! Comparing a set with what is there, page by page, without changing anything.
//!
//! ```text
//!  page of live objects ─► compare ─┬─► surely the same: no request
//!                                   └─► doubt ─► dry run ─► judge     (32 in flight)
//! ```
//!
//! No more than a page of each list is kept, whatever differs.

use std::collections::HashMap;

use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, StreamExt as _};
use tokio::sync::Semaphore;

use super::finding::{Compared, Finding};
use super::look::{FEW, Somewhere, comes_with_the_set, get, groups, none, repair, scope};
use super::memory::Recall;
use super::pace::{Hope, Pace};
use super::{Settings, StepError, Walk, taken};
use crate::compare::{Comparison, compare};
use crate::fields::OwnersError;
use crate::{ApiError, Cluster, Object, Order, Scope, Trouble, Version};

/// Lists at the same time: a page of each is kept.
const LISTS: usize = 8;

/// What to do about an object that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IfAbsent {
    /// Try out what would be made.
    TryOut,
    /// Only say so.
    Say,
}

/// Compares the objects of a set with what is there.
pub(super) struct Survey<'a, J> {
    pub(super) cluster: &'a Cluster,
    pub(super) pace: &'a Pace,
    pub(super) order: &'a Order,
    pub(super) settings: &'a Settings,
    pub(super) inventory: Option<&'a str>,
    pub(super) recall: &'a Recall,
    pub(super) if_absent: IfAbsent,
    /// Makes an answer of what is there and what a dry run has given.
    pub(super) judge: J,
    /// How many more dry runs may be in flight.
    pub(super) room: Semaphore,
}

type Findings<T> = Vec<(usize, Option<Version>, Finding<T>)>;

impl<J, T> Survey<'_, J>
where
    J: Fn(Option<&Object>, &Object) -> Result<T, OwnersError> + Sync,
    T: Send,
{
    /// Compares everything, and returns what was found in the order of the manifest.
    pub(super) async fn all(&self) -> Vec<Compared<T>> {
        let groups = groups(self.order).into_iter();
        let groups = groups.map(|(somewhere, places)| self.group(somewhere, places).boxed());
        let groups: Vec<BoxFuture<'_, _>> = groups.collect();
        let found: Vec<Findings<T>> = stream::iter(groups).buffer_unordered(LISTS).collect().await;
        let mut found: Findings<T> = found.into_iter().flatten().collect();
        found.sort_unstable_by_key(|(place, ..)| *place);
        let name = |(place, version, finding): (usize, _, _)| {
            let id = self.order.objects()[place].id().clone();
            Compared { id, version, finding }
        };
        found.into_iter().map(name).collect()
    }

    async fn group(&self, somewhere: Somewhere, places: Vec<usize>) -> Findings<T> {
        if places.len() <= FEW {
            return self.each(&places).await;
        }
        let mut open: HashMap<&str, usize> = HashMap::new();
        let objects = self.order.objects();
        open.extend(places.iter().map(|place| (objects[*place].id().name.as_str(), *place)));
        let mut found = Vec::with_capacity(places.len());
        let ended = self.pages(&scope(somewhere), &mut open, &mut found).await;
        let left: Vec<usize> = open.into_values().collect();
        match ended {
            Ok(()) => found.extend(self.at_once(left.iter().map(|place| (*place, None))).await),
            // Whoever may not list may still be allowed to look at single objects.
            Err(error) if matches!(error.trouble(), Trouble::Forbidden(_)) => {
                found.extend(self.each(&left).await);
            }
            Err(error) => {
                found.extend(self.at_once_failed(&left, &error).await);
            }
        }
        found
    }

    /// Compares what a list holds. A list that breaks off begins anew, and goes
    /// on with what is still open.
    async fn pages(
        &self,
        scope: &Scope,
        open: &mut HashMap<&str, usize>,
        found: &mut Findings<T>,
    ) -> Result<(), ApiError> {
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            let before = open.len();
            match self.one_list(scope, open, found).await {
                Ok(()) => return Ok(()),
                // Pages are kept for some minutes only; the next list gets further.
                Err(error)
                    if matches!(error.trouble(), Trouble::Expired) && open.len() < before => {}
                Err(error) => tries.again(error).await?,
            }
        }
    }

    async fn one_list(
        &self,
        scope: &Scope,
        open: &mut HashMap<&str, usize>,
        found: &mut Findings<T>,
    ) -> Result<(), ApiError> {
        let mut pages = self.cluster.pages(scope).await?;
        while let Some(page) = pages.next().await? {
            let mut wanted = Vec::new();
            for live in page {
                let live = live?;
                let Some(place) = open.remove(live.id().name.as_str()) else { continue };
                // Most are the same, and need not be kept until the page is read.
                if self.is_plainly_same(place, &live) {
                    found.push((place, live.version(), Finding::Same));
                } else {
                    wanted.push((place, Some(live)));
                }
            }
            found.extend(self.at_once(wanted.into_iter()).await);
        }
        Ok(())
    }

    /// Returns whether nothing need be asked to know that an object is as wished.
    fn is_plainly_same(&self, place: usize, live: &Object) -> bool {
        matches!(self.settings.walk, Walk::Compare)
            && self.settings.adopt.allows(live, self.inventory).is_ok()
            && compare(&self.order.objects()[place], live, None) == Comparison::Same
    }

    /// Gets objects one by one, and compares them.
    async fn each(&self, places: &[usize]) -> Findings<T> {
        let looks = places.iter().map(|place| self.single(*place).boxed());
        let looks: Vec<BoxFuture<'_, _>> = looks.collect();
        stream::iter(looks).buffer_unordered(self.settings.in_flight).collect().await
    }

    async fn single(&self, place: usize) -> (usize, Option<Version>, Finding<T>) {
        match get(self.cluster, self.pace, self.order.objects()[place].id()).await {
            Ok(Some(live)) if self.is_plainly_same(place, &live) => {
                (place, live.version(), Finding::Same)
            }
            Ok(live) => self.one(place, live).await,
            Err(error) => self.unseen(place, &error).await,
        }
    }

    async fn at_once(&self, lives: impl Iterator<Item = (usize, Option<Object>)>) -> Findings<T> {
        let turns = lives.map(|(place, live)| self.one(place, live).boxed());
        let turns: Vec<BoxFuture<'_, _>> = turns.collect();
        stream::iter(turns).buffer_unordered(self.settings.in_flight).collect().await
    }

    async fn at_once_failed(&self, places: &[usize], error: &ApiError) -> Findings<T> {
        let turns = places.iter().map(|place| self.unseen(*place, error).boxed());
        let turns: Vec<BoxFuture<'_, _>> = turns.collect();
        stream::iter(turns).buffer_unordered(self.settings.in_flight).collect().await
    }

    /// Takes an object that could not be looked at.
    async fn unseen(&self, place: usize, error: &ApiError) -> (usize, Option<Version>, Finding<T>) {
        match none(self.order, place, error) {
            Ok(()) => self.one(place, None).await,
            Err(error) => (place, None, Finding::Failed(error)),
        }
    }

    async fn one(
        &self,
        place: usize,
        live: Option<Object>,
    ) -> (usize, Option<Version>, Finding<T>) {
        let version = live.as_ref().and_then(Object::version);
        let finding = self.find(place, live.as_ref()).await.unwrap_or_else(Finding::Failed);
        (place, version, finding)
    }

    async fn find(&self, place: usize, live: Option<&Object>) -> Result<Finding<T>, StepError> {
        let wished = &self.order.objects()[place];
        if let Some(live) = live {
            if live.at("/metadata/deletionTimestamp").is_some() {
                return Err(StepError::Terminating);
            }
            self.settings.adopt.allows(live, self.inventory)?;
            let walks = matches!(self.settings.walk, Walk::Compare);
            if walks && self.is_settled(wished, live).await {
                return Ok(Finding::Same);
            }
        } else if self.if_absent == IfAbsent::Say {
            return Ok(Finding::Absent);
        }
        self.try_out(place, live).await
    }

    /// Returns whether this doubt has turned out to be none before.
    async fn is_settled(&self, wished: &Object, live: &Object) -> bool {
        let Some(footprint) = self.recall.footprint(wished, live) else { return false };
        let footprint = self.recall.whole(wished.kind(), footprint).await;
        footprint.is_some_and(|footprint| self.recall.knows(&footprint))
    }

    async fn try_out(&self, place: usize, live: Option<&Object>) -> Result<Finding<T>, StepError> {
        let wished = &self.order.objects()[place];
        let repair = live.and_then(|live| repair(self.cluster, wished, live));
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            let room = self.room.acquire().await;
            let ownership = self.settings.ownership;
            let preview =
                taken::try_out(self.cluster, wished, live, repair.as_ref(), ownership).await;
            drop(room);
            match preview {
                Ok(preview) => {
                    let warnings = preview.warnings;
                    let answer = match live.zip(repair.as_ref()) {
                        Some((live, repair)) => {
                            let (live, after) = taken::play(live, preview.object, repair)?;
                            (self.judge)(Some(&live), &after)?
                        }
                        None => (self.judge)(live, &preview.object)?,
                    };
                    return Ok(Finding::Told { answer, warnings });
                }
                Err(error) if comes_with_the_set(self.order, place, &error) => {
                    return Ok(Finding::Unchecked { because: error.trouble().to_string() });
                }
                Err(error) => tries.again(error).await?,
            }
        }
    }
}
