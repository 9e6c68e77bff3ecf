//! One cluster's objects, and what is needed to make new ones.

use std::net::Ipv4Addr;
use std::sync::Arc;

use ipnet::Ipv4Net;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use super::Place;
use crate::Clock;
use crate::kube::object;
use crate::kube::refusal::Refusal;
use crate::kube::registry::{DEFINITIONS, Registry};
use crate::kube::resource::Key;
use crate::kube::store::Store;

/// The letters of generated names, without those that make words.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Everything behind the lock.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    pub(crate) clock: Clock,
    /// The authority's certificate, for pods to trust.
    pub(crate) authority: Option<String>,
    /// The network of services.
    pub(crate) services: Ipv4Net,
    /// How many addresses and ports services have been given.
    pub(crate) allotted: u16,
    chance: StdRng,
}

impl State {
    /// An empty cluster.
    pub(crate) fn new(clock: Clock, seed: u64) -> Self {
        Self {
            store: Store::default(),
            registry: Registry::default(),
            clock,
            authority: None,
            services: Ipv4Net::new_assert(Ipv4Addr::new(10, 96, 0, 0), 12),
            allotted: 0,
            chance: StdRng::seed_from_u64(seed),
        }
    }

    /// Returns an address of the network of services, counted from its first. Past its
    /// end it begins anew.
    pub(crate) fn service_address(&self, number: u32) -> String {
        let size = u32::MAX >> self.services.prefix_len();
        Ipv4Addr::from(u32::from(self.services.network()) + number % size.max(1)).to_string()
    }

    /// Returns a new identity.
    pub(crate) fn uid(&mut self) -> String {
        uuid::Builder::from_random_bytes(self.chance.random()).into_uuid().to_string()
    }

    /// Returns a name that begins so.
    pub(crate) fn generated_name(&mut self, base: &str) -> String {
        let letter = |_| char::from(LETTERS[self.chance.random_range(0..LETTERS.len())]);
        let base: String = base.chars().take(58).collect();
        base + &(0..5).map(letter).collect::<String>()
    }

    /// Returns an object, or says that there is none.
    pub(crate) fn get(&self, place: &Place) -> Result<Arc<Value>, Refusal> {
        let found = self.store.get(place.key(), &place.namespace, &place.name);
        found.cloned().ok_or_else(|| Refusal::not_found(&place.resource.key, &place.name))
    }

    /// Keeps an object, and serves what it defines.
    pub(crate) fn keep(&mut self, key: &Key, object: Value) -> Arc<Value> {
        let kept = self.store.put(key, object);
        if *key == DEFINITIONS {
            self.registry.define(&kept);
        }
        kept
    }

    /// Takes an object away, and all that it defined.
    pub(crate) fn take(&mut self, key: &Key, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let taken = self.store.remove(key, namespace, name)?;
        if *key == DEFINITIONS {
            self.drop_custom(&taken);
        }
        Some(taken)
    }

    /// Without its definition nobody can reach a custom resource any more.
    fn drop_custom(&mut self, definition: &Value) {
        let text = |at: &str| definition.pointer(at).and_then(Value::as_str).unwrap_or_default();
        let key = Key::of(text("/spec/group"), text("/spec/names/plural"));
        let spots = self
            .store
            .all(&key)
            .map(|one| (object::namespace(one).to_owned(), object::name(one).to_owned()));
        for (namespace, name) in spots.collect::<Vec<_>>() {
            self.store.remove(&key, &namespace, &name);
        }
        self.registry.forget(object::name(definition));
    }
}
