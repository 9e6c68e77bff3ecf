//! What is there before anything is changed.

use std::collections::HashMap;

use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, StreamExt as _};

use super::memory::Recall;
use super::pace::{Hope, Pace};
use super::repair::Repair;
use super::{Mode, Settings, StepError, Walk};
use crate::compare::{Comparison, Footprint, compare};
use crate::{ApiError, Cluster, Kind, Need, Object, ObjectId, Order, Scope, Trouble, Version};

/// Up to so many objects of a kind in a namespace are looked at one by one; a
/// list would bring all the others there along.
pub(super) const FEW: usize = 8;

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

/// A kind, in a namespace or in none.
pub(super) type Somewhere = (Kind, Option<String>);

/// What an object was found as, or why it must not be touched.
pub(super) type Found = Result<Sight, StepError>;

impl Look<'_> {
    /// Looks for all objects, and returns what was found in the order of the manifest.
    pub(super) async fn all(&self) -> Vec<Found> {
        let mut found: Vec<Option<Found>> = Vec::new();
        found.resize_with(self.order.objects().len(), || None);
        let looks = groups(self.order).into_iter();
        let looks = looks.map(|(scope, places)| self.group(scope, places).boxed());
        let looks: Vec<BoxFuture<'_, _>> = looks.collect();
        let mut looks = stream::iter(looks).buffer_unordered(AT_ONCE);
        while let Some(group) = looks.next().await {
            for (place, sight) in group {
                found[place] = Some(sight);
            }
        }
        let mut found: Vec<Found> =
            found.into_iter().map(|sight| sight.unwrap_or(Ok(Sight::Absent))).collect();
        for (found, object) in found.iter_mut().zip(self.order.objects()) {
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

    async fn group(&self, (kind, namespace): Somewhere, places: Vec<usize>) -> Vec<(usize, Found)> {
        if places.len() <= FEW {
            return self.each(&places).await;
        }
        let scope = scope((kind, namespace));
        match self.list(&scope, &places).await {
            Ok(found) => found,
            // Whoever may not list may still be allowed to look at single objects.
            Err(error) if matches!(error.trouble(), Trouble::Forbidden(_)) => {
                self.each(&places).await
            }
            Err(error) => {
                places.into_iter().map(|place| (place, self.none(place, &error))).collect()
            }
        }
    }

    async fn list(&self, scope: &Scope, places: &[usize]) -> Result<Vec<(usize, Found)>, ApiError> {
        let objects = self.order.objects();
        let wanted: HashMap<&str, usize> =
            places.iter().map(|place| (objects[*place].id().name.as_str(), *place)).collect();
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            let mut found: HashMap<usize, Found> = HashMap::new();
            let show = |live: Object| {
                if let Some(place) = wanted.get(live.id().name.as_str()) {
                    found.insert(*place, self.judge(*place, live));
                }
            };
            match self.cluster.list_each(scope, show).await {
                Ok(_) => return Ok(found.into_iter().collect()),
                Err(error) => tries.again(error).await?,
            }
        }
    }

    async fn each(&self, places: &[usize]) -> Vec<(usize, Found)> {
        let looks = places.iter().map(|place| self.single(*place).boxed());
        let looks: Vec<BoxFuture<'_, _>> = looks.collect();
        stream::iter(looks).buffer_unordered(AT_ONCE).collect().await
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
        if live.at("/metadata/deletionTimestamp").is_some() {
            return Err(StepError::Terminating);
        }
        self.settings.adopt.allows(&live, self.inventory)?;
        let Some(version) = live.version() else { return Ok(Sight::Absent) };
        let repair = repair(self.cluster, wanted, &live);
        let mut footprint = None;
        if repair.is_none() && matches!(self.settings.walk, Walk::Compare) {
            if compare(wanted, &live, None) == Comparison::Same {
                return Ok(Sight::Same(version));
            }
            footprint = self.recall.footprint(wanted, &live).map(Box::new);
        }
        let live = (self.settings.mode == Mode::DryRun).then(|| Box::new(live));
        Ok(Sight::There { version, repair, live, footprint })
    }
}

/// Returns the places of all objects, by kind and namespace.
pub(super) fn groups(order: &Order) -> Vec<(Somewhere, Vec<usize>)> {
    let mut groups: HashMap<Somewhere, Vec<usize>> = HashMap::new();
    for (place, object) in order.objects().iter().enumerate() {
        let key = (object.kind().clone(), object.id().namespace.clone());
        groups.entry(key).or_default().push(place);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, places)| places[0]);
    groups
}

/// Returns the scope of a kind, in a namespace or in none.
pub(super) fn scope((kind, namespace): Somewhere) -> Scope {
    let all = Scope::all(kind);
    match namespace {
        Some(namespace) => all.within(namespace),
        None => all,
    }
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
    let mut tries = pace.tries(Hope::Usual);
    loop {
        tries.turn().await;
        match cluster.get(id).await {
            Ok(live) => return Ok(live),
            Err(error) => tries.again(error).await?,
        }
    }
}
