//! Which path serves which kind.
//!
//! The whole catalogue comes in two requests (aggregated discovery) and is
//! kept; a kind that is not in it makes us ask again. A broken aggregated
//! server is listed as stale by the API and disturbs nobody who does not ask
//! for its kinds.

mod catalogue;
mod names;
mod resource;
mod slip;
mod wire;

pub use names::{KindNameError, UnknownKind};
pub use resource::Resource;
pub(crate) use resource::root;
pub use slip::Slip;

use std::sync::{Arc, Mutex, PoisonError};

use crate::request::Ask;
use crate::{ApiError, Cluster, Kind, Trouble};
use catalogue::{Catalogue, Versions};
use wire::{GroupList, ResourceList};

const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

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
        let _one = self.discovery().asking.lock().await;
        let mut catalogue = self.discovery().known();
        // Whoever asked while we waited has asked for us too.
        if Arc::ptr_eq(&before, &catalogue) {
            catalogue = Arc::new(self.ask_catalogue(kind).await?);
            self.discovery().keep(&catalogue);
        }
        catalogue.resources.get(kind).cloned().ok_or_else(|| {
            // A silent server says nothing of the kinds of other groups.
            let stale = catalogue.stale_of(&kind.group);
            let slip = catalogue.slip(kind).map(Box::new);
            let kind = format!("{} of {}", kind.kind, kind.api_version());
            ApiError::new(format!("find {kind}"), Trouble::KindMissing { kind, stale, slip })
        })
    }

    /// Returns every kind whose objects are in namespaces and can be listed,
    /// each in one version.
    pub(crate) async fn namespaced_resources(&self) -> Result<Vec<Resource>, ApiError> {
        let namespace =
            Kind { group: String::new(), version: "v1".into(), kind: "Namespace".into() };
        self.resource(&namespace).await?;
        let catalogue = self.discovery().known();
        let listed =
            |one: &&Resource| one.namespaced && one.verbs.iter().any(|verb| verb == "list");
        let mut all: Vec<Resource> = catalogue.resources.values().filter(listed).cloned().collect();
        let name = |one: &Resource| (one.kind.group.clone(), one.kind.kind.clone());
        all.sort_by_key(name);
        all.dedup_by(|a, b| a.kind.is(&b.kind.group, &b.kind.kind));
        Ok(all)
    }

    /// Returns whether a kind is served in just this version, as far as is known.
    pub(crate) fn serves(&self, kind: &Kind) -> bool {
        self.discovery().known().serves(kind, Versions::This)
    }

    /// Asks anew whether a kind is served in any version.
    pub(crate) async fn still_serves(&self, kind: &Kind) -> Result<bool, ApiError> {
        let catalogue = Arc::new(self.ask_catalogue(kind).await?);
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
    /// API would choose. None where nobody serves it; an error where its group
    /// does not answer, since it may be served again tomorrow.
    pub(crate) async fn preferred(
        &self,
        group: &str,
        kind: &str,
    ) -> Result<Option<Resource>, ApiError> {
        let all = self.all_resources().await?;
        let of_kind = all.into_iter().filter(|resource| resource.kind.is(group, kind));
        if let Some(resource) = of_kind.min_by_key(|resource| resource.place) {
            return Ok(Some(resource));
        }
        let stale = self.discovery().known().stale_of(group);
        if stale.is_empty() {
            return Ok(None);
        }
        let kind = format!("{kind}.{group}");
        Err(ApiError::new(format!("find {kind}"), Trouble::KindMissing { kind, stale, slip: None }))
    }

    /// Returns all that the API serves, asked for now.
    pub(crate) async fn all_resources(&self) -> Result<Vec<Resource>, ApiError> {
        let catalogue = self.discovery().known();
        if catalogue.resources.is_empty() {
            // Every API has namespaces, and asking for them asks for all.
            let namespace = Kind::new("v1", "Namespace").expect("a kind of the core group");
            self.resource(&namespace).await?;
        }
        Ok(self.discovery().known().resources.values().cloned().collect())
    }

    async fn ask_catalogue(&self, kind: &Kind) -> Result<Catalogue, ApiError> {
        let mut catalogue = Catalogue::default();
        for path in ["/api", "/apis"] {
            let ask = Ask::get(path, format!("ask {} what it serves", self.server()));
            let tried = ask.tried.clone();
            let answer = self.send(ask.accepting(AGGREGATED)).await;
            let answer = answer.map_err(|error| match error.trouble() {
                Trouble::KindMissing { .. } => {
                    ApiError::new(&tried, Trouble::NoApi(path.to_owned()))
                }
                _ => error,
            })?;
            let groups: GroupList = answer.json(&tried)?;
            if groups.kind != "APIGroupDiscoveryList" {
                return self.ask_version(kind).await;
            }
            groups.items.into_iter().for_each(|group| catalogue.take(group));
        }
        Ok(catalogue)
    }

    /// For an API without aggregated discovery: asks only for what is needed.
    async fn ask_version(&self, kind: &Kind) -> Result<Catalogue, ApiError> {
        let root = root(kind);
        let ask = Ask::get(&root, format!("ask {} what it serves below {root}", self.server()));
        let tried = ask.tried.clone();
        let known = self.discovery().known();
        let mut resources = known.resources.clone();
        match self.send(ask).await {
            Ok(answer) => {
                let list: ResourceList = answer.json(&tried)?;
                let found = list.resources.into_iter().filter(|one| !one.name.contains('/'));
                let found = found.map(|one| one.resource(&kind.group, &kind.version));
                resources.extend(found.map(|resource| (resource.kind.clone(), resource)));
            }
            Err(error) if matches!(error.trouble(), Trouble::KindMissing { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(Catalogue { resources, ..Catalogue::default() })
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
