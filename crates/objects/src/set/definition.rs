//! A definition that is no longer wished for: with it go all objects of its
//! kind, whoever has made them.

use serde_json::Value;

use super::pace::Hope;
use super::prune::Pruner;
use super::spared::Spared;
use super::stranger::Seen;
use crate::{ApiError, Kind, Object, Order, Scope};

const NOT_SERVED: &str = "nobody serves its objects";

/// A definition in the cluster.
struct Definition<'a> {
    live: &'a Object,
}

impl Pruner<'_> {
    /// Says why a definition stays, where it does.
    pub(super) async fn spared_definition(
        &self,
        member: &Object,
        order: &Order,
    ) -> Result<Option<Spared>, ApiError> {
        let kept = |because: String| Ok(Some(Spared::Kept(because)));
        let definition = Definition { live: member };
        let mut wished = order.objects().iter();
        if let Some(wished) = wished.find(|object| definition.defines(object.kind())) {
            return kept(format!("{} is still wished for", wished.id()));
        }
        let Some(kind) = self.served(&definition).await? else {
            // One that was never served has no objects.
            let served = member.items("/status/conditions").iter().any(is_established);
            return if served { kept(NOT_SERVED.to_owned()) } else { Ok(None) };
        };
        match self.strangers(member, order).among(&Scope::all(kind), |_| false).await? {
            Seen::Stays(object, because) => kept(format!("{} {because}", object.id())),
            Seen::Nothing => Ok(None),
            // It was a moment ago, and its objects need not be gone.
            Seen::KindGone => kept(NOT_SERVED.to_owned()),
        }
    }

    /// Returns the kind of a definition in a version in which it is served now.
    async fn served(&self, definition: &Definition<'_>) -> Result<Option<Kind>, ApiError> {
        for kind in definition.kinds() {
            let mut tries = self.pace.tries(Hope::Usual);
            loop {
                tries.turn().await;
                match self.cluster.resource(&kind).await {
                    Ok(_) => return Ok(Some(kind)),
                    Err(error) if error.is_about_a_missing_kind() => break,
                    Err(error) => tries.again(error).await?,
                }
            }
        }
        Ok(None)
    }
}

impl Definition<'_> {
    fn defines(&self, kind: &Kind) -> bool {
        self.live.text("/spec/group") == Some(kind.group.as_str())
            && self.live.text("/spec/names/kind") == Some(kind.kind.as_str())
    }

    /// Returns the kind in each version that is to be served.
    fn kinds(&self) -> impl Iterator<Item = Kind> {
        let text = |pointer: &str| self.live.text(pointer).unwrap_or_default().to_owned();
        let (group, kind) = (text("/spec/group"), text("/spec/names/kind"));
        let served = self.live.items("/spec/versions").iter().filter(|it| it["served"] == true);
        let versions =
            served.map(|version| version["name"].as_str().unwrap_or_default().to_owned());
        versions.map(move |version| Kind { group: group.clone(), version, kind: kind.clone() })
    }
}

fn is_established(condition: &Value) -> bool {
    condition["type"] == "Established" && condition["status"] == "True"
}
