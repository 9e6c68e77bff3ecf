//! What is there before anything is changed.

use std::collections::{BTreeSet, HashMap};

use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, StreamExt as _};

use super::memory::Recall;
use super::pace::Pace;
use super::reach::{Far, Near, Swept, Wanted, may_not_list};
use super::repair::Repair;
use super::{Adopt, Mode, Settings, StepError, Walk, precondition};
use crate::compare::{Comparison, Footprint, compare};
use crate::{ApiError, Cluster, Kind, Need, Object, ObjectId, Order, Scope, Trouble, Version};

/// Lists and looks at the same time.
const AT_ONCE: usize = 16;

/// What a look at an object has found.
#[derive(Clone, Debug)]
pub(super) enum Sight {
    /// It is not there.
    Absent,
    /// It is as wished, and nothing need be sent.
    Same(Version),
    /// It is there, and may not be as wished.
    There {
        version: Version,
        repair: Option<Repair>,
        /// The object itself, for a dry run.
        live: Option<Box<Object>>,
        /// What to remember if nothing changes; none where it cannot be remembered.
        footprint: Option<Box<Footprint>>,
    },
}

/// Looks for the objects of a set.
pub(super) struct Look<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) pace: &'a Pace,
    pub(super) order: &'a Order,
    pub(super) settings: &'a Settings,
    pub(super) inventory: Option<&'a str>,
    pub(super) recall: &'a Recall,
}

/// What an object was found as, or why it must not be touched.
pub(super) type Found = Result<Sight, StepError>;

impl Look<'_> {
    /// Looks for all objects, and returns what was found in the order of the manifest.
    pub(super) async fn all(&self) -> Vec<Found> {
        let mut found: Vec<Option<Found>> = Vec::new();
        found.resize_with(self.order.objects().len(), || None);
        let mut open: BTreeSet<usize> = (0..found.len()).collect();
        for inventory in self.inventory.map(Some).into_iter().chain([None]) {
            let far = Far::groups(self.order, open.iter().copied());
            let far = far.iter().map(|far| self.far(far, inventory).boxed());
            for (place, sight) in at_once(far.collect()).await {
                open.remove(&place);
                found[place] = Some(sight);
            }
        }
        let near = Near::groups(self.order, open);
        let near = near.iter().map(|near| self.near(near).boxed());
        for (place, sight) in at_once(near.collect()).await {
            found[place] = Some(sight);
        }
        let mut found: Vec<Found> =
            found.into_iter().map(|sight| sight.unwrap_or(Ok(Sight::Absent))).collect();
        for (found, object) in found.iter_mut().zip(self.order.objects()) {
            if let (Ok(Sight::Absent), Err(over)) = (&found, precondition::check(object, None)) {
                *found = Err(over);
            }
            if let Ok(sight) = found {
                self.remember(sight, object.kind()).await;
            }
        }
        found
    }

    /// What was sent before in the same doubt, and changed nothing, is as wished.
    async fn remember(&self, sight: &mut Sight, kind: &Kind) {
        let Sight::There { version, footprint, .. } = sight else { return };
        let Some(taken) = footprint.take() else { return };
        match self.recall.whole(kind, *taken).await {
            Some(whole) if self.recall.knows(&whole) => *sight = Sight::Same(version.clone()),
            whole => *footprint = whole.map(Box::new),
        }
    }

    /// Looks at a kind in all namespaces, and returns what need not be looked
    /// at again.
    async fn far(&self, far: &Far, inventory: Option<&str>) -> Vec<(usize, Found)> {
        let sweep = far.sweep(inventory);
        match self.list(&sweep.scope, sweep.at_most, &far.places).await {
            Ok((found, swept)) => {
                let mut found: HashMap<usize, Found> = found.into_iter().collect();
                if sweep.shows_all && swept == Swept::Whole {
                    for place in &far.places {
                        found.entry(*place).or_insert(Ok(Sight::Absent));
                    }
                }
                found.into_iter().collect()
            }
            Err(error) if may_not_list(&error) => Vec::new(),
            Err(error) => self.all_failed(&far.places, &error),
        }
    }

    async fn near(&self, near: &Near) -> Vec<(usize, Found)> {
        let Some(scope) = near.scope() else { return self.each(&near.places).await };
        match self.list(&scope, near.at_most(), &near.places).await {
            Ok((found, Swept::Whole)) => found,
            Ok((mut found, Swept::TooMany)) => {
                let seen: BTreeSet<usize> = found.iter().map(|(place, _)| *place).collect();
                let rest = near.places.iter().filter(|place| !seen.contains(place));
                found.extend(self.each(&rest.copied().collect::<Vec<_>>()).await);
                found
            }
            Err(error) if may_not_list(&error) => self.each(&near.places).await,
            Err(error) => self.all_failed(&near.places, &error),
        }
    }

    fn all_failed(&self, places: &[usize], error: &ApiError) -> Vec<(usize, Found)> {
        places.iter().map(|place| (*place, self.none(*place, error))).collect()
    }

    /// Lists until the end, or until more than `at_most` would come.
    async fn list(
        &self,
        scope: &Scope,
        at_most: usize,
        places: &[usize],
    ) -> Result<(Vec<(usize, Found)>, Swept), ApiError> {
        let wanted = Wanted::new(self.order, places);
        let list = || self.one_list(scope, at_most, &wanted);
        let (found, swept) = self.pace.repeat(list).await?;
        Ok((found.into_iter().collect(), swept))
    }

    async fn one_list(
        &self,
        scope: &Scope,
        at_most: usize,
        wanted: &Wanted<'_>,
    ) -> Result<(HashMap<usize, Found>, Swept), ApiError> {
        let mut found: HashMap<usize, Found> = HashMap::new();
        let mut pages = self.cluster.pages(scope).await?;
        while let Some(page) = pages.next().await? {
            for live in page {
                let live = live?;
                if let Some(place) = wanted.place(live.id()) {
                    found.insert(place, self.judge(place, live));
                }
            }
            if pages.remaining > at_most {
                return Ok((found, Swept::TooMany));
            }
        }
        Ok((found, Swept::Whole))
    }

    async fn each(&self, places: &[usize]) -> Vec<(usize, Found)> {
        let looks = places.iter().map(|place| self.single(*place).map(|one| vec![one]).boxed());
        at_once(looks.collect()).await
    }

    async fn single(&self, place: usize) -> (usize, Found) {
        let found = match get(self.cluster, self.pace, self.order.objects()[place].id()).await {
            Ok(None) => Ok(Sight::Absent),
            Ok(Some(live)) => self.judge(place, live),
            Err(error) => self.none(place, &error),
        };
        (place, found)
    }

    /// A look that failed: that the kind is missing is no wonder where the set
    /// defines it.
    fn none(&self, place: usize, error: &ApiError) -> Found {
        none(self.order, place, error).map(|()| Sight::Absent)
    }

    fn judge(&self, place: usize, live: Object) -> Found {
        let wanted = &self.order.objects()[place];
        may_change(wanted, &live, self.settings.adopt, self.inventory)?;
        let Some(version) = live.version() else { return Ok(Sight::Absent) };
        let repair = repair(self.cluster, wanted, &live);
        let mut footprint = None;
        if repair.is_none() && matches!(self.settings.walk, Walk::Compare) {
            if compare(wanted, &live, wanted.life()) == Comparison::Same {
                return Ok(Sight::Same(version));
            }
            footprint = self.recall.footprint(wanted, &live).map(Box::new);
        }
        let live = (self.settings.mode == Mode::DryRun).then(|| Box::new(live));
        Ok(Sight::There { version, repair, live, footprint })
    }
}

/// Says why what is there must not be touched, where it must not.
pub(super) fn may_change(
    wanted: &Object,
    live: &Object,
    adopt: Adopt,
    inventory: Option<&str>,
) -> Result<(), StepError> {
    precondition::check(wanted, Some(live))?;
    if live.at("/metadata/deletionTimestamp").is_some() {
        return Err(StepError::Terminating { kept_by: None });
    }
    adopt.allows(live, inventory)
}

async fn at_once(looks: Vec<BoxFuture<'_, Vec<(usize, Found)>>>) -> Vec<(usize, Found)> {
    let found: Vec<_> = stream::iter(looks).buffer_unordered(AT_ONCE).collect().await;
    found.into_iter().flatten().collect()
}

/// Takes a look that failed: where the set defines the missing kind, nothing of
/// it can be there.
pub(super) fn none(order: &Order, place: usize, error: &ApiError) -> Result<(), StepError> {
    let missing = matches!(error.trouble(), Trouble::KindMissing { .. });
    let defined = order.waits_for(place).iter().any(|wait| wait.need == Need::Ready);
    if missing && defined {
        return Ok(());
    }
    let id = order.objects()[place].id();
    Err(ApiError::new(format!("look at {id}"), error.trouble().clone()).into())
}

/// A dry run cannot ask about what stands on something that is not there.
pub(super) fn comes_with_the_set(order: &Order, place: usize, error: &ApiError) -> bool {
    let waits = !order.waits_for(place).is_empty();
    let missing =
        matches!(error.trouble(), Trouble::KindMissing { .. } | Trouble::NamespaceMissing(_));
    waits && missing
}

/// Finds what is to be put in order before an object can be applied. Entries of
/// other groups are left as they are: nobody knows their versions.
pub(super) fn repair(cluster: &Cluster, wished: &Object, live: &Object) -> Option<Repair> {
    let kind = wished.kind();
    let is_served = |version: &str| match Kind::new(version, kind.kind.clone()) {
        Ok(other) if other.group == kind.group => cluster.serves(&other),
        _ => true,
    };
    Repair::of(live, &kind.api_version(), is_served)
}

/// Gets an object, as often as it takes.
pub(super) async fn get(
    cluster: &Cluster,
    pace: &Pace,
    id: &ObjectId,
) -> Result<Option<Object>, ApiError> {
    pace.repeat(|| cluster.get(id)).await
}
