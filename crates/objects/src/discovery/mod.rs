//! Which path serves which kind.
//!
//! The whole catalogue is asked for and kept; a kind that is not in it makes us
//! ask again. A broken aggregated server is listed as stale and disturbs nobody
//! who does not ask for its kinds.

mod ask;
mod catalogue;
mod names;
mod resource;
mod slip;
mod wire;

pub(crate) use catalogue::Catalogue;
pub use names::{KindNameError, UnknownKind};
pub use resource::Resource;
pub(crate) use resource::root;
pub use slip::Slip;

use std::sync::{Arc, Mutex, PoisonError};

use crate::{ApiError, Cluster, Kind, Trouble};
use catalogue::Versions;

/// What is known of the API's catalogue.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    known: Mutex<Arc<Catalogue>>,
    /// Many may miss the same kind at once; one asks.
    asking: tokio::sync::Mutex<()>,
}

impl Cluster {
    /// Returns where a kind is served.
    pub async fn resource(&self, kind: &Kind) -> Result<Resource, ApiError> {
        let before = self.discovery().known();
        if let Some(found) = before.resources.get(kind) {
            return Ok(found.clone());
        }
        let catalogue = self.catalogue_after(&before).await?;
        catalogue.resources.get(kind).cloned().ok_or_else(|| {
            // A silent server says nothing of the kinds of other groups.
            let stale = catalogue.stale_of(&kind.group);
            let slip = catalogue.slip(kind).map(Box::new);
            let kind = format!("{} of {}", kind.kind, kind.api_version());
            ApiError::new(format!("find {kind}"), Trouble::KindMissing { kind, stale, slip })
        })
    }

    /// Returns every kind whose objects are in namespaces and can be listed,
    /// each in one version, as far as is known.
    pub(crate) async fn namespaced_resources(&self) -> Result<Vec<Resource>, ApiError> {
        Ok(self.known_catalogue().await?.listed_in_namespaces())
    }

    /// Returns all that the API serves, asked for now.
    pub(crate) async fn catalogue(&self) -> Result<Arc<Catalogue>, ApiError> {
        self.catalogue_after(&self.discovery().known()).await
    }

    /// Returns whether a kind is served in just this version, as far as is known.
    pub(crate) fn serves(&self, kind: &Kind) -> bool {
        self.discovery().known().serves(kind, Versions::This)
    }

    /// Asks anew whether a kind is served in any version.
    pub(crate) async fn still_serves(&self, kind: &Kind) -> Result<bool, ApiError> {
        let catalogue = Arc::new(self.ask_catalogue().await?);
        self.discovery().keep(&catalogue);
        Ok(catalogue.serves(kind, Versions::Any))
    }

    /// Returns the error, unless it is that the kind is gone, which took its
    /// objects along. That one path is not found is not enough: the API must say
    /// of itself that it serves the kind no longer.
    pub(crate) async fn unless_gone(&self, kind: &Kind, error: ApiError) -> Result<(), ApiError> {
        if !error.is_about_a_missing_kind() {
            return Err(error);
        }
        if self.still_serves(kind).await? { Err(error.though_served()) } else { Ok(()) }
    }

    /// Forgets what the API serves, where an answer shows that it has changed.
    pub(crate) fn forget_resources(&self) {
        self.discovery().keep(&Arc::default());
    }

    /// Returns where a kind is served in whichever version: the one that the
    /// API would choose. None where nobody serves it now; an error where its
    /// group does not answer, since it may be served again tomorrow.
    pub(crate) async fn preferred(
        &self,
        group: &str,
        kind: &str,
    ) -> Result<Option<Resource>, ApiError> {
        let before = self.discovery().known();
        if let Some(found) = before.preferred(group, kind) {
            return Ok(Some(found.clone()));
        }
        let catalogue = self.catalogue_after(&before).await?;
        let (found, stale) = (catalogue.preferred(group, kind), catalogue.stale_of(group));
        if found.is_some() || stale.is_empty() {
            return Ok(found.cloned());
        }
        let kind = format!("{kind}.{group}");
        Err(ApiError::new(format!("find {kind}"), Trouble::KindMissing { kind, stale, slip: None }))
    }

    /// Returns all that the API serves, as far as is known.
    pub(crate) async fn all_resources(&self) -> Result<Vec<Resource>, ApiError> {
        Ok(self.known_catalogue().await?.resources.values().cloned().collect())
    }

    async fn known_catalogue(&self) -> Result<Arc<Catalogue>, ApiError> {
        let known = self.discovery().known();
        if known.is_unasked() { self.catalogue_after(&known).await } else { Ok(known) }
    }

    /// Asks anew, unless somebody has asked since a catalogue was known.
    async fn catalogue_after(&self, before: &Arc<Catalogue>) -> Result<Arc<Catalogue>, ApiError> {
        let _one = self.discovery().asking.lock().await;
        let known = self.discovery().known();
        // Whoever asked while we waited has asked for us too.
        if !Arc::ptr_eq(before, &known) && !known.is_unasked() {
            return Ok(known);
        }
        let catalogue = Arc::new(self.ask_catalogue().await?);
        self.discovery().keep(&catalogue);
        Ok(catalogue)
    }
}

// === impl Discovery ===

impl Discovery {
    fn known(&self) -> Arc<Catalogue> {
        Arc::clone(&self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, catalogue: &Arc<Catalogue>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(catalogue);
    }
}
