//! Which path serves which kind.
//!
//! The whole catalogue comes in two requests (aggregated discovery) and is
//! kept; a kind that is not in it makes us ask again. A broken aggregated
//! server is listed as stale by the API and disturbs nobody who does not ask
//! for its kinds.

mod names;
mod slip;
mod wire;

pub use names::{KindNameError, UnknownKind};
pub use slip::Slip;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::request::{Ask, escaped};
use crate::{ApiError, Cluster, Kind, ObjectId, Trouble};
use wire::{Group, GroupList, ResourceList};

const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// Where a kind is served, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The kind.
    pub kind: Kind,
    /// Its name in paths, such as `deployments`.
    pub plural: String,
    /// Its name for one object, such as `deployment`; empty where it has none.
    pub singular: String,
    /// Its names for people in a hurry, such as `deploy`.
    pub short_names: Vec<String>,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// What can be done, such as `patch` and `watch`.
    pub verbs: Vec<String>,
    /// Which place its group has in the API, and its version in the group; the
    /// API's own choice is first.
    pub(crate) place: (usize, usize),
}

/// What is known of the API's catalogue.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    known: Mutex<Arc<Catalogue>>,
    /// Many may miss the same kind at once; one asks.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Catalogue {
    resources: HashMap<Kind, Resource>,
    stale: Vec<String>,
    /// How many groups were taken in.
    groups: usize,
}

/// Which versions of a kind count.
#[derive(Clone, Copy)]
enum Versions {
    This,
    Any,
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
            let (stale, slip) = (catalogue.stale.clone(), catalogue.slip(kind).map(Box::new));
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
            let answer = self.send(ask.accepting(AGGREGATED)).await?;
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

// === impl Resource ===

impl Resource {
    /// Returns the path of all objects, or of all in a namespace.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let root = root(&self.kind);
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => {
                format!("{root}/namespaces/{}/{}", escaped(namespace), self.plural)
            }
            None => format!("{root}/{}", self.plural),
        }
    }

    /// Puts an object where it is: into the default namespace where it says
    /// none, as kubectl does, and into none where its kind is of the whole cluster.
    pub(crate) fn place(&self, cluster: &Cluster, id: &ObjectId) -> ObjectId {
        let namespace = id.namespace.as_deref().unwrap_or(cluster.default_namespace());
        id.kind.named(Some(namespace).filter(|_| self.namespaced), id.name.clone())
    }

    /// Returns the path of an object. One that should be in a namespace and
    /// says none is in the default one, as with kubectl.
    pub(crate) fn path_of(&self, cluster: &Cluster, id: &ObjectId) -> String {
        let namespace = id.namespace.as_deref().unwrap_or(cluster.default_namespace());
        format!("{}/{}", self.path(Some(namespace)), escaped(&id.name))
    }
}

/// Returns the path below which a version of a group is served.
pub(crate) fn root(kind: &Kind) -> String {
    if kind.group.is_empty() {
        format!("/api/{}", kind.version)
    } else {
        format!("/apis/{}/{}", kind.group, kind.version)
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

// === impl Catalogue ===

impl Catalogue {
    /// Returns whether a kind is served. One whose group does not answer may be.
    fn serves(&self, kind: &Kind, versions: Versions) -> bool {
        let of_group = format!("{}/", kind.group);
        match versions {
            Versions::This => {
                let stale = |one: &String| *one == format!("{of_group}{}", kind.version);
                self.resources.contains_key(kind) || self.stale.iter().any(stale)
            }
            Versions::Any => {
                let stale = self.stale.iter().any(|one| one.starts_with(&of_group));
                stale || self.resources.keys().any(|one| one.is(&kind.group, &kind.kind))
            }
        }
    }

    /// Returns the versions of a group that did not answer.
    fn stale_of(&self, group: &str) -> Vec<String> {
        let of_group = format!("{group}/");
        self.stale.iter().filter(|one| one.starts_with(&of_group)).cloned().collect()
    }

    fn take(&mut self, group: Group) {
        let name = group.metadata.name;
        self.groups += 1;
        for (place, version) in group.versions.into_iter().enumerate() {
            if version.freshness == "Stale" {
                self.stale.push(format!("{name}/{}", version.version));
            }
            for found in version.resources {
                let Some(mut resource) = found.resource(&name, &version.version) else { continue };
                resource.place = (self.groups, place);
                self.resources.insert(resource.kind.clone(), resource);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_does_not_answer_may_serve_its_kinds() {
        let kind = |api_version| Kind::new(api_version, "Buoy").unwrap();
        let stale = vec!["example.com/v2".to_owned(), "example.org/v1".to_owned()];
        let mut catalogue = Catalogue { stale, ..Catalogue::default() };
        let group = serde_json::json!({ "metadata": { "name": "example.com" }, "versions": [{
            "version": "v1", "resources": [{ "resource": "buoys",
                "responseKind": { "kind": "Buoy" } }] }] });
        catalogue.take(serde_json::from_value(group).unwrap());
        let table = [
            ("example.com/v1", true, true),
            ("example.com/v2", true, true),
            ("example.com/v3", false, true),
            ("example.org/v1", true, true),
            ("example.net/v1", false, false),
        ];
        for (api_version, this, any) in table {
            let kind = kind(api_version);
            assert_eq!(catalogue.serves(&kind, Versions::This), this, "{api_version}");
            assert_eq!(catalogue.serves(&kind, Versions::Any), any, "{api_version}");
        }
    }
}
