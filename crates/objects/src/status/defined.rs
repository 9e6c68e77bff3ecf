//! Whether a kind was defined so that anything can say that it is ready.

use crate::{Cluster, Kind};

impl Cluster {
    /// Returns whether objects of a kind have a status that somebody may write.
    /// Those that were defined without one are like a `ConfigMap`: nothing will
    /// ever say that they are ready. What is not defined in the cluster, or may
    /// not be looked at, is taken to have one.
    pub async fn tells_status(&self, kind: &Kind) -> bool {
        let Ok(Some(definition)) = self.definition(kind).await else { return true };
        let versions = definition.items("/spec/versions");
        let version = versions.iter().find(|version| version["name"] == kind.version.as_str());
        version.is_none_or(|version| version["subresources"]["status"].is_object())
    }
}
