//! Objects that stay where what they stand in would go: a namespace, or the
//! definition of their kind.

use std::collections::HashMap;

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::Value;

use super::Mode;
use super::adopt::part_of;
use super::look::get;
use super::pace::{Hope, Pace};
use super::prune::Pruner;
use crate::{ApiError, Cluster, Kind, Object, Order, Scope};

/// Looks for objects that must not go with a member.
pub(super) struct Strangers<'a> {
    cluster: &'a Cluster,
    pace: &'a Pace,
    /// The label of the set.
    set: &'a str,
    order: &'a Order,
    mode: Mode,
    /// Which owners stay, by their uids.
    owners: HashMap<String, bool>,
}

/// What a look has found.
pub(super) enum Seen {
    /// Nothing that stays.
    Nothing,
    /// An object that stays, and why.
    Stays(Box<Object>, &'static str),
    /// Nobody serves the kind any more.
    KindGone,
}

impl Pruner<'_> {
    /// Looks for what must not go with `member`.
    pub(super) fn strangers<'a>(&'a self, member: &Object, order: &'a Order) -> Strangers<'a> {
        // What it owns goes with it.
        let owners = member.uid().map(|uid| (uid.to_owned(), false)).into_iter().collect();
        let (cluster, pace, set, mode) = (self.cluster, self.pace, self.id(), self.settings.mode);
        Strangers { cluster, pace, set, order, mode, owners }
    }
}

impl Strangers<'_> {
    /// Looks for the first object that stays, and is no `furniture`. A look that
    /// breaks off, also between two pages, begins anew.
    pub(super) async fn among(
        &mut self,
        scope: &Scope,
        furniture: fn(&Object) -> bool,
    ) -> Result<Seen, ApiError> {
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            match self.look(scope, furniture).await {
                Ok(seen) => return Ok(seen),
                Err(error) => match self.cluster.unless_gone(scope.kind(), error).await {
                    Ok(()) => return Ok(Seen::KindGone),
                    Err(error) => tries.again(error).await?,
                },
            }
        }
    }

    async fn look(
        &mut self,
        scope: &Scope,
        furniture: fn(&Object) -> bool,
    ) -> Result<Seen, ApiError> {
        let mut pages = self.cluster.pages(scope).await?;
        while let Some(page) = pages.next().await? {
            for object in page {
                let object = object?;
                if let Some(because) = stays(&object, self.set, self.mode)
                    && !furniture(&object)
                    && !self.goes_with_its_owners(&object).await?
                {
                    return Ok(Seen::Stays(Box::new(object), because));
                }
            }
        }
        Ok(Seen::Nothing)
    }

    /// What is owned goes once its last owner is gone, which may have been ours.
    async fn goes_with_its_owners(&mut self, object: &Object) -> Result<bool, ApiError> {
        let owners = object.items("/metadata/ownerReferences");
        for owner in owners {
            if self.owner_stays(owner, object).await? {
                return Ok(false);
            }
        }
        Ok(!owners.is_empty())
    }

    async fn owner_stays(&mut self, owner: &Value, object: &Object) -> Result<bool, ApiError> {
        let uid = owner["uid"].as_str().unwrap_or_default();
        if let Some(stays) = self.owners.get(uid) {
            return Ok(*stays);
        }
        let stays = match self.owner(owner, object).await? {
            Owner::Unknown => true,
            Owner::Gone => false,
            Owner::Alive(live) => {
                // Owners in a circle keep each other.
                self.owners.insert(uid.to_owned(), true);
                self.is_not_pruned(&live) && !self.owner_goes_with_its_owners(&live).await?
            }
        };
        self.owners.insert(uid.to_owned(), stays);
        Ok(stays)
    }

    fn owner_goes_with_its_owners<'b>(
        &'b mut self,
        owner: &'b Object,
    ) -> BoxFuture<'b, Result<bool, ApiError>> {
        self.goes_with_its_owners(owner).boxed()
    }

    /// Members that are no longer wished for would go, where nothing has a turn.
    fn is_not_pruned(&self, live: &Object) -> bool {
        let wished = || self.order.objects().iter().any(|object| is_same(object, live));
        stays(live, self.set, self.mode).is_some() || wished()
    }

    /// Finds an owner as the garbage collector does: what that cannot find, it
    /// does not take for gone.
    async fn owner(&self, owner: &Value, object: &Object) -> Result<Owner, ApiError> {
        let text = |key: &str| owner[key].as_str().unwrap_or_default();
        let Ok(kind) = Kind::new(text("apiVersion"), text("kind")) else {
            return Ok(Owner::Unknown);
        };
        let namespace = object.id().namespace.as_deref();
        let live = match get(self.cluster, self.pace, &kind.named(namespace, text("name"))).await {
            Ok(live) => live,
            Err(error) if error.is_about_a_missing_kind() => return Ok(Owner::Unknown),
            Err(error) => return Err(error),
        };
        // It was found, or not, in a namespace that nobody named.
        if namespace.is_none() && self.cluster.resource(&kind).await?.namespaced {
            return Ok(Owner::Unknown);
        }
        let alive = live.filter(|live| live.uid() == Some(text("uid")) && !is_leaving(live));
        Ok(alive.map_or(Owner::Gone, |live| Owner::Alive(Box::new(live))))
    }
}

enum Owner {
    Alive(Box<Object>),
    Gone,
    /// Nobody serves its kind, or its kind cannot own such an object.
    Unknown,
}

/// Members had their turn before what they stand in, unless nothing has one.
fn stays(object: &Object, set: &str, mode: Mode) -> Option<&'static str> {
    if is_leaving(object) {
        return None;
    }
    match (part_of(object) == Some(set), mode) {
        (true, Mode::DryRun) => None,
        (true, Mode::ForReal) => Some("is still there"),
        (false, _) => Some("is not of this set"),
    }
}

fn is_leaving(object: &Object) -> bool {
    object.at("/metadata/deletionTimestamp").is_some()
}

/// Versions are views of one object: they do not count.
fn is_same(wished: &Object, live: &Object) -> bool {
    let (wished, live) = (wished.id(), live.id());
    live.kind.is(&wished.kind.group, &wished.kind.kind)
        && (&live.namespace, &live.name) == (&wished.namespace, &wished.name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_no_strangers() {
        let label = |set: &str| {
            let labels = json!({ "applyset.kubernetes.io/part-of": set });
            let metadata = json!({ "name": "a", "labels": labels });
            let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": metadata });
            Object::new(secret).unwrap()
        };
        let said = |object: &Object, mode| stays(object, "applyset-x-v1", mode);
        let member = label("applyset-x-v1");
        assert_eq!(said(&member, Mode::DryRun), None);
        // Its turn came before that of its namespace, and it is there all the same.
        assert_eq!(said(&member, Mode::ForReal), Some("is still there"));
        let theirs = label("applyset-y-v1");
        assert_eq!(said(&theirs, Mode::DryRun), Some("is not of this set"));
    }
}
