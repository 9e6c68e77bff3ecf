//! What is remembered of doubts, and what that depends on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use super::Means;
use crate::compare::{Footprint, Settled};
use crate::{Cluster, Kind, Object};

/// What is remembered of [doubts](crate::compare) that turned out to be none.
/// Its copies share it.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Settled>>);

/// Remembers for one set. What a memory depends on, the version of the server
/// and the definitions of kinds, is asked for when there is a doubt, and once.
#[derive(Debug)]
pub(super) struct Recall {
    cluster: Cluster,
    memory: Option<Memory>,
    /// Whether the memory is about this server.
    fits: OnceCell<bool>,
    definitions: Mutex<HashMap<Kind, Arc<OnceCell<Option<Definition>>>>>,
}

/// The generation of the definition of a kind, where it is defined in the cluster.
type Definition = Option<i64>;

// === impl Memory ===

impl Memory {
    /// Goes on from what was kept.
    pub fn of(settled: Settled) -> Self {
        Self(Arc::new(Mutex::new(settled)))
    }

    /// Returns what is remembered now.
    pub fn settled(&self) -> Settled {
        self.with(|settled| settled.clone())
    }

    fn with<T>(&self, work: impl FnOnce(&mut Settled) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

// === impl Recall ===

impl Recall {
    pub(super) fn new(cluster: &Cluster, means: &Means) -> Self {
        let (cluster, memory) = (cluster.clone(), means.memory.clone());
        Self { cluster, memory, fits: OnceCell::new(), definitions: Mutex::default() }
    }

    /// Takes the footprint of a doubt, where anybody would remember it.
    pub(super) fn footprint(&self, wished: &Object, live: &Object) -> Option<Footprint> {
        self.memory.as_ref()?;
        Footprint::of(wished, live)
    }

    /// Makes a footprint whole, unless what it depends on cannot be told: then
    /// there is nothing to remember.
    pub(super) async fn whole(&self, kind: &Kind, footprint: Footprint) -> Option<Footprint> {
        let fits = *self.fits.get_or_init(|| self.is_about_this_server()).await;
        let definition = if fits { self.definition(kind).await } else { None };
        definition.map(|generation| footprint.defined_by(generation))
    }

    /// Returns whether this doubt has turned out to be none before.
    pub(super) fn knows(&self, footprint: &Footprint) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.with(|settled| settled.knows(footprint)))
    }

    /// Learns what came of a doubt.
    pub(super) fn learn(&self, footprint: Option<Footprint>, after: &Object) {
        if let (Some(memory), Some(footprint)) = (&self.memory, footprint) {
            memory.with(|settled| settled.learn(footprint, after));
        }
    }

    async fn is_about_this_server(&self) -> bool {
        let (Some(memory), Ok(version)) = (&self.memory, self.cluster.version().await) else {
            return false;
        };
        memory.with(|settled| settled.forget_unless_of(&version.git_version));
        true
    }

    async fn definition(&self, kind: &Kind) -> Option<Definition> {
        let known = {
            let mut all = self.definitions.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(kind.clone()).or_default())
        };
        let ask = async || {
            let definition = self.cluster.definition(kind).await.ok()?;
            let Some(definition) = definition else { return Some(None) };
            Some(Some(definition.at("/metadata/generation")?.as_i64()?))
        };
        *known.get_or_init(ask).await
    }
}
