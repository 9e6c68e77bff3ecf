//! The handle of one simulated cluster's API.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ipnet::Ipv4Net;
use serde_json::Value;
use tokio::sync::watch;

use super::api::{
    DeleteOptions, Deleted, ListOptions, Listed, Patch, Place, State, Watch, WatchOptions, Write,
};
use super::processes::Hosted;
use super::refusal::Refusal;
use super::resource::{Key, Resource};
use super::selector::LabelSelector;
use super::store::Change;
use crate::Clock;

/// One cluster's API; clones share it.
///
/// Controllers and agents of the simulator use it as clients use the wire: the
/// same verbs with the same refusals. Only what comes over the wire counts as
/// a client's effect.
#[derive(Clone, Debug)]
pub struct Kube {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    revision: watch::Sender<u64>,
    clock: Clock,
    hosted: Hosted,
}

impl Kube {
    /// An empty API: no namespace, no controller. `seed` decides names and
    /// identities.
    pub fn empty(clock: Clock, seed: u64) -> Self {
        let state = Mutex::new(State::new(clock.clone(), seed));
        let (revision, hosted) = (watch::Sender::new(0), Hosted::default());
        Self { shared: Arc::new(Shared { state, revision, clock, hosted }) }
    }

    /// Says in which network services have their addresses; for a cluster without any.
    pub fn serve_within(&self, services: Ipv4Net) {
        self.state().services = services;
    }

    /// Returns the clock of the cluster.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Returns the place of an object of a kind that is served.
    pub fn place(&self, key: &Key, namespace: &str, name: &str) -> Result<Place, Refusal> {
        let state = self.state();
        let resource = state.registry.by_key(key).ok_or_else(Refusal::no_such_path)?;
        let version = resource.versions.first().map(|version| version.name.clone());
        Ok(Place {
            resource: Arc::clone(resource),
            version: version.unwrap_or_default(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: String::new(),
        })
    }

    /// Returns the place of a manifest.
    pub fn place_of(&self, manifest: &Value) -> Result<Place, Refusal> {
        let text = |field: &str| manifest[field].as_str().unwrap_or_default();
        let api_version = text("apiVersion");
        let state = self.state();
        let resource = state.registry.by_kind(api_version, text("kind"));
        let resource = resource.ok_or_else(Refusal::no_such_path)?;
        let version = api_version.rsplit('/').next().unwrap_or_default();
        Ok(Place {
            resource: Arc::clone(resource),
            version: version.to_owned(),
            namespace: super::object::namespace(manifest).to_owned(),
            name: super::object::name(manifest).to_owned(),
            subresource: String::new(),
        })
    }

    /// Returns the kinds that are served.
    pub fn resources(&self) -> Vec<Arc<Resource>> {
        self.state().registry.all().to_vec()
    }

    /// Returns an object.
    pub fn get(&self, place: &Place) -> Result<Value, Refusal> {
        Ok(place.shown(&*self.state().get(place)?))
    }

    /// Returns the objects of a kind, in one namespace or in all.
    pub fn all(&self, key: &Key, namespace: &str) -> Vec<Arc<Value>> {
        let state = self.state();
        let here =
            |one: &&Arc<Value>| namespace.is_empty() || super::object::namespace(one) == namespace;
        state.store.all(key).filter(here).cloned().collect()
    }

    /// Returns the objects of a kind in a namespace whose labels match.
    pub fn matching(&self, key: &Key, namespace: &str, labels: &LabelSelector) -> Vec<Arc<Value>> {
        let mut all = self.all(key, namespace);
        all.retain(|one| labels.matches(&one["metadata"]["labels"]));
        all
    }

    /// Lists objects as the API does, page by page.
    pub fn list_at(&self, place: &Place, options: &ListOptions) -> Result<Listed, Refusal> {
        self.state().list(place, options)
    }

    /// Makes an object.
    pub fn create(&self, place: &Place, object: Value, write: &Write) -> Result<Value, Refusal> {
        self.change(|state| state.create(place, object, write))
    }

    /// Replaces an object, or a part of one.
    pub fn update(&self, place: &Place, object: Value, write: &Write) -> Result<Value, Refusal> {
        self.change(|state| state.update(place, object, write))
    }

    /// Changes an object, and says whether the change made it.
    pub fn patch(
        &self,
        place: &Place,
        patch: &Patch,
        write: &Write,
    ) -> Result<(Value, bool), Refusal> {
        self.change(|state| state.patch(place, patch, write))
    }

    /// Ends an object.
    pub fn delete(
        &self,
        place: &Place,
        options: &DeleteOptions,
        write: &Write,
    ) -> Result<Deleted, Refusal> {
        self.change(|state| state.delete(place, options, write))
    }

    /// Follows the objects of a kind.
    pub fn watch(&self, place: &Place, options: &WatchOptions) -> Result<Watch, Refusal> {
        Watch::start(self, place, options)
    }

    /// Does something to the objects, and wakes those who watch.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        let done = change(&mut state);
        let revision = state.store.revision();
        drop(state);
        self.shared.revision.send_if_modified(|told| std::mem::replace(told, revision) != revision);
        done
    }

    /// Returns the changes of a kind after a version, and the newest version.
    pub(crate) fn changes(&self, key: &Key, told: u64) -> Result<(Vec<Change>, u64), Refusal> {
        let state = self.state();
        let newest = state.store.revision();
        if told >= newest {
            return Ok((Vec::new(), told));
        }
        let changes = state.store.since(told)?.filter(|change| change.key == *key);
        Ok((changes.cloned().collect(), newest))
    }

    /// Says whether an object of some kinds that `concerns` the caller has
    /// changed after a version, and returns the newest version.
    pub(crate) fn any_since(
        &self,
        told: u64,
        keys: &[Key],
        concerns: impl Fn(&Value) -> bool,
    ) -> (bool, u64) {
        let state = self.state();
        // Who has missed too much must look anyhow.
        let found = state.store.since(told).map_or(true, |mut changes| {
            changes.any(|change| keys.contains(&change.key) && concerns(change.object()))
        });
        (found, state.store.revision())
    }

    /// Tells the newest version, whenever there is one.
    pub fn revision(&self) -> watch::Receiver<u64> {
        self.shared.revision.subscribe()
    }

    pub(crate) fn hosted(&self) -> &Hosted {
        &self.shared.hosted
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
