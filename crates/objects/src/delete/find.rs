//! Finding which lives are meant, before they are ended.

use std::collections::HashSet;

use futures::{StreamExt, TryStreamExt};

use crate::lookout::{Place, spread};
use crate::{ApiError, Cluster, Object, ObjectId, Trouble};

/// Up to so many objects of a place are asked for one by one: a list may hold
/// thousands of others.
const ONE_BY_ONE: usize = 8;
const AT_ONCE: usize = 32;

impl Cluster {
    /// Returns those of the objects that are there. A kind that the API does
    /// not serve has no objects.
    pub async fn find(&self, ids: &[ObjectId]) -> Result<Vec<Object>, ApiError> {
        let places = spread(ids, self.default_namespace());
        let finding = places.into_iter().map(|place| {
            let cluster = self.clone();
            async move { cluster.find_in(place).await }
        });
        let found: Vec<Vec<Object>> =
            futures::stream::iter(finding).buffered(ONE_BY_ONE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn find_in(&self, place: Place) -> Result<Vec<Object>, ApiError> {
        let found = match place.ids.len() {
            0..=ONE_BY_ONE => self.find_each(&place.ids).await,
            _ => match self.find_listed(&place).await {
                // Who may not list may still get.
                Err(error) if matches!(error.trouble(), Trouble::Forbidden(_)) => {
                    self.find_each(&place.ids).await
                }
                found => found,
            },
        };
        match found {
            Err(error) if is_unserved(&error) => Ok(Vec::new()),
            found => found,
        }
    }

    async fn find_each(&self, ids: &[ObjectId]) -> Result<Vec<Object>, ApiError> {
        let gets = ids.iter().cloned().map(|id| {
            let cluster = self.clone();
            async move { cluster.get(&id).await }
        });
        let found: Vec<Option<Object>> =
            futures::stream::iter(gets).buffered(AT_ONCE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn find_listed(&self, place: &Place) -> Result<Vec<Object>, ApiError> {
        let name = |id: &ObjectId| (id.namespace.clone(), id.name.clone());
        let resource = self.resource(place.scope.kind()).await?;
        let wanted: HashSet<_> =
            place.ids.iter().map(|id| name(&resource.place(self, id))).collect();
        let mut found = Vec::new();
        let mut keep = |object: Object| {
            if wanted.contains(&name(object.id())) {
                found.push(object);
            }
        };
        self.list_each(&place.scope, &mut keep).await?;
        Ok(found)
    }
}

fn is_unserved(error: &ApiError) -> bool {
    matches!(error.trouble(), Trouble::KindMissing { stale, .. } if stale.is_empty())
}
