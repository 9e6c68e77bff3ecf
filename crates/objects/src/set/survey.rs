//! Comparing a set with what is there, page by page, without changing anything.
//!
//! ```text
//!  page of live objects ─► compare ─┬─► surely the same: no request
//!                                   └─► doubt ─► dry run ─► judge     (32 in flight)
//! ```
//!
//! No more than a page of each list is kept, whatever differs.

use std::collections::BTreeSet;

use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, StreamExt as _};
use tokio::sync::Semaphore;

use super::finding::{Compared, Finding};
use super::look::{get, none};
use super::memory::Recall;
use super::pace::{Hope, Pace};
use super::reach::{Far, Near, Swept, Wanted, may_not_list};
use super::{Settings, StepError, Walk, precondition};
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
        let mut open: BTreeSet<usize> = (0..self.order.objects().len()).collect();
        let mut found: Findings<T> = Vec::with_capacity(open.len());
        for inventory in self.inventory.map(Some).into_iter().chain([None]) {
            let far = Far::groups(self.order, open.iter().copied());
            let far = far.iter().map(|far| self.far(far, inventory).boxed());
            let swept = lists(far.collect()).await;
            for (place, ..) in &swept {
                open.remove(place);
            }
            found.extend(swept);
        }
        let near = Near::groups(self.order, open);
        found.extend(lists(near.iter().map(|near| self.near(near).boxed()).collect()).await);
        found.sort_unstable_by_key(|(place, ..)| *place);
        let name = |(place, version, finding): (usize, _, _)| {
            let id = self.order.objects()[place].id().clone();
            Compared { id, version, finding }
        };
        found.into_iter().map(name).collect()
    }

    /// Compares a kind in all namespaces, and returns what need not be looked
    /// at again.
    async fn far(&self, far: &Far, inventory: Option<&str>) -> Findings<T> {
        let sweep = far.sweep(inventory);
        let mut open = Wanted::new(self.order, &far.places);
        let mut found = Vec::with_capacity(far.places.len());
        let ended = self.pages(&sweep.scope, sweep.at_most, &mut open, &mut found).await;
        match ended {
            Ok(Swept::Whole) if sweep.shows_all => found.extend(self.absent(open).await),
            Ok(_) => {}
            Err(error) if may_not_list(&error) => {}
            Err(error) => {
                let left = open.left();
                found.extend(self.at_once_failed(&left, &error).await);
            }
        }
        found
    }

    async fn near(&self, near: &Near) -> Findings<T> {
        let Some(scope) = near.scope() else { return self.each(&near.places).await };
        let mut open = Wanted::new(self.order, &near.places);
        let mut found = Vec::with_capacity(near.places.len());
        let ended = self.pages(&scope, near.at_most(), &mut open, &mut found).await;
        match ended {
            Ok(Swept::Whole) => found.extend(self.absent(open).await),
            Ok(Swept::TooMany) => found.extend(self.each(&open.left()).await),
            Err(error) => {
                let left = open.left();
                found.extend(if may_not_list(&error) {
                    self.each(&left).await
                } else {
                    self.at_once_failed(&left, &error).await
                });
            }
        }
        found
    }

    async fn absent(&self, open: Wanted<'_>) -> Findings<T> {
        self.at_once(open.left().into_iter().map(|place| (place, None))).await
    }

    /// Compares what a list holds. A list that breaks off begins anew, and goes
    /// on with what is still open.
    async fn pages(
        &self,
        scope: &Scope,
        at_most: usize,
        open: &mut Wanted<'_>,
        found: &mut Findings<T>,
    ) -> Result<Swept, ApiError> {
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            let before = open.count();
            match self.one_list(scope, at_most, open, found).await {
                Ok(swept) => return Ok(swept),
                // Pages are kept for some minutes only; the next list gets further.
                Err(error)
                    if matches!(error.trouble(), Trouble::Expired) && open.count() < before => {}
                Err(error) => tries.again(error).await?,
            }
        }
    }

    async fn one_list(
        &self,
        scope: &Scope,
        at_most: usize,
        open: &mut Wanted<'_>,
        found: &mut Findings<T>,
    ) -> Result<Swept, ApiError> {
        let mut pages = self.cluster.pages(scope).await?;
        while let Some(page) = pages.next().await? {
            let mut wanted = Vec::new();
            for live in page {
                let live = live?;
                let Some(place) = open.take(live.id()) else { continue };
                // Most are the same, and need not be kept until the page is read.
                if self.is_plainly_same(place, &live) {
                    found.push((place, live.version(), Finding::Same));
                } else {
                    wanted.push((place, Some(live)));
                }
            }
            found.extend(self.at_once(wanted.into_iter()).await);
            if pages.remaining > at_most {
                return Ok(Swept::TooMany);
            }
        }
        Ok(Swept::Whole)
    }

    /// What an apply would refuse for its precondition. Others may have changed an
    /// object of whichever state, but of the life that is meant.
    pub(super) fn meets(&self, wished: &Object, live: Option<&Object>) -> Result<(), StepError> {
        match self.if_absent {
            IfAbsent::TryOut => precondition::check(wished, live),
            IfAbsent::Say => precondition::of_life(wished, live),
        }
    }

    /// Returns whether nothing need be asked to know that an object is as wished.
    fn is_plainly_same(&self, place: usize, live: &Object) -> bool {
        let wished = &self.order.objects()[place];
        matches!(self.settings.walk, Walk::Compare)
            && self.meets(wished, Some(live)).is_ok()
            && self.settings.adopt.allows(live, self.inventory).is_ok()
            && compare(wished, live, wished.life()) == Comparison::Same
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
}

async fn lists<T>(turns: Vec<BoxFuture<'_, Findings<T>>>) -> Findings<T> {
    let found: Vec<Findings<T>> = stream::iter(turns).buffer_unordered(LISTS).collect().await;
    found.into_iter().flatten().collect()
}
