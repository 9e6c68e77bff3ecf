//! Finding which lives are meant, before they are ended.

use std::collections::HashSet;

use futures::future::{BoxFuture, FutureExt as _};
use futures::{StreamExt as _, TryStreamExt as _};

use crate::lookout::{Place, spread};
use crate::{ApiError, Cluster, Object, ObjectId, Trouble};

/// Up to so many objects of a place are asked for one by one: a list may hold
/// thousands of others.
const ONE_BY_ONE: usize = 8;
const AT_ONCE: usize = 32;

impl Cluster {
    /// Returns what `keep` takes of those of the objects that are there. A kind
    /// that the API does not serve has no objects.
    pub async fn find<T: Send>(
        &self,
        ids: &[ObjectId],
        keep: impl Fn(Object) -> T + Sync,
    ) -> Result<Vec<T>, ApiError> {
        let (places, keep) = (spread(ids, self.default_namespace()), &keep);
        let finding = places.into_iter().map(|place| self.find_in(place, keep).boxed());
        let finding: Vec<BoxFuture<'_, _>> = finding.collect();
        let found: Vec<Vec<T>> =
            futures::stream::iter(finding).buffered(ONE_BY_ONE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn find_in<T: Send>(
        &self,
        place: Place,
        keep: &(impl Fn(Object) -> T + Sync),
    ) -> Result<Vec<T>, ApiError> {
        let found = match place.ids.len() {
            0..=ONE_BY_ONE => self.find_each(&place.ids, keep).await,
            _ => match self.find_listed(&place, keep).await {
                // Who may not list may still get.
                Err(error) if matches!(error.trouble(), Trouble::Forbidden(_)) => {
                    self.find_each(&place.ids, keep).await
                }
                found => found,
            },
        };
        match found {
            Ok(found) => Ok(found),
            Err(error) => self.unless_gone(place.scope.kind(), error).await.map(|()| Vec::new()),
        }
    }

    async fn find_each<T: Send>(
        &self,
        ids: &[ObjectId],
        keep: &(impl Fn(Object) -> T + Sync),
    ) -> Result<Vec<T>, ApiError> {
        let gets = ids.iter().map(|id| async { Ok(self.get(id).await?.map(keep)) }.boxed());
        let gets: Vec<BoxFuture<'_, _>> = gets.collect();
        let found: Vec<Option<T>> =
            futures::stream::iter(gets).buffered(AT_ONCE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn find_listed<T: Send>(
        &self,
        place: &Place,
        keep: &(impl Fn(Object) -> T + Sync),
    ) -> Result<Vec<T>, ApiError> {
        let name = |id: &ObjectId| (id.namespace.clone(), id.name.clone());
        let resource = self.resource(place.scope.kind()).await?;
        let wanted: HashSet<_> =
            place.ids.iter().map(|id| name(&resource.place(self, id))).collect();
        let mut found = Vec::new();
        let show = |object: Object| {
            if wanted.contains(&name(object.id())) {
                found.push(keep(object));
            }
        };
        self.list_each(&place.scope, show).await?;
        Ok(found)
    }
}
