//! A definition that is no longer wished for: with it go all objects of its
//! kind, whoever has made them.

use std::collections::HashMap;

use serde_json::Value;

use super::Mode;
use super::adopt::part_of;
use super::spared::Spared;
use crate::{ApiError, Cluster, Kind, Object, Order, Scope};

/// Looks for objects that would go with a definition and must not.
pub(super) struct Definition<'a> {
    pub(super) cluster: &'a Cluster,
    /// The label of the set.
    pub(super) set: &'a str,
    pub(super) mode: Mode,
    pub(super) live: &'a Object,
}

impl Definition<'_> {
    /// Says why the definition stays, where it does.
    pub(super) async fn spared(&self, order: &Order) -> Result<Option<Spared>, ApiError> {
        let kept = |because: String| Ok(Some(Spared::Kept(because)));
        let mut wished = order.objects().iter();
        if let Some(wished) = wished.find(|object| self.defines(object.kind())) {
            return kept(format!("{} is still wished for", wished.id()));
        }
        let Some(kind) = self.served().await? else {
            // One that was never served has no objects.
            let served = self.live.items("/status/conditions").iter().any(is_established);
            return if served { kept("nobody serves its objects".to_owned()) } else { Ok(None) };
        };
        match self.stranger(kind).await? {
            Some(because) => kept(because),
            None => Ok(None),
        }
    }

    fn defines(&self, kind: &Kind) -> bool {
        self.live.text("/spec/group") == Some(kind.group.as_str())
            && self.live.text("/spec/names/kind") == Some(kind.kind.as_str())
    }

    /// Returns the kind in a version in which it is served now.
    async fn served(&self) -> Result<Option<Kind>, ApiError> {
        let text = |pointer: &str| self.live.text(pointer).unwrap_or_default().to_owned();
        let versions = self.live.items("/spec/versions").iter();
        for version in versions.filter(|version| version["served"] == true) {
            let version = version["name"].as_str().unwrap_or_default().to_owned();
            let (group, kind) = (text("/spec/group"), text("/spec/names/kind"));
            let kind = Kind { group, version, kind };
            match self.cluster.resource(&kind).await {
                Ok(_) => return Ok(Some(kind)),
                Err(error) if error.is_about_a_missing_kind() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Says which object of the kind stays, and why.
    async fn stranger(&self, kind: Kind) -> Result<Option<String>, ApiError> {
        let mut owners: HashMap<String, bool> = HashMap::new();
        let mut pages = self.cluster.pages(&Scope::all(kind)).await?;
        while let Some(page) = pages.next().await? {
            for object in page {
                let object = object?;
                if let Some(because) = self.stays(&object)
                    && !self.goes_with_its_owner(&object, &mut owners).await?
                {
                    return Ok(Some(format!("{} {because}", object.id())));
                }
            }
        }
        Ok(None)
    }

    /// Members had their turn before, unless nothing has one.
    fn stays(&self, object: &Object) -> Option<&'static str> {
        if object.at("/metadata/deletionTimestamp").is_some() {
            return None;
        }
        match (part_of(object) == Some(self.set), self.mode) {
            (true, Mode::DryRun) => None,
            (true, Mode::ForReal) => Some("is still there"),
            (false, _) => Some("is not of this set"),
        }
    }

    /// What is owned goes once its last owner is gone, which may have been ours.
    async fn goes_with_its_owner(
        &self,
        object: &Object,
        known: &mut HashMap<String, bool>,
    ) -> Result<bool, ApiError> {
        let owners = object.items("/metadata/ownerReferences");
        for owner in owners {
            let uid = owner["uid"].as_str().unwrap_or_default();
            if !known.contains_key(uid) {
                let there = self.is_there(owner, object).await?;
                known.insert(uid.to_owned(), there);
            }
            if known[uid] {
                return Ok(false);
            }
        }
        Ok(!owners.is_empty())
    }

    /// Returns whether the owner of an object is there, and stays.
    async fn is_there(&self, owner: &Value, object: &Object) -> Result<bool, ApiError> {
        let text = |key: &str| owner[key].as_str().unwrap_or_default();
        let Ok(kind) = Kind::new(text("apiVersion"), text("kind")) else { return Ok(false) };
        let id = kind.named(object.id().namespace.as_deref(), text("name"));
        let live = self.cluster.get(&id).await?;
        Ok(live.is_some_and(|live| is_alive(&live, text("uid"))))
    }
}

fn is_alive(live: &Object, uid: &str) -> bool {
    live.uid() == Some(uid) && live.at("/metadata/deletionTimestamp").is_none()
}

fn is_established(condition: &Value) -> bool {
    condition["type"] == "Established" && condition["status"] == "True"
}
