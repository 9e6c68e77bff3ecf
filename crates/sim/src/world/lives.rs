//! The nodes of a world, and what is wrong with them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::kube::kubelet::Trouble;
use crate::talos::{Knobs, Node};

/// The nodes of a world by the names of their servers; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Lives {
    all: Arc<Mutex<All>>,
}

#[derive(Debug, Default)]
pub(super) struct All {
    pub(super) nodes: BTreeMap<String, Node>,
    /// What is wrong with nodes, some of which may still have to be made.
    pub(super) knobs: BTreeMap<String, Knobs>,
    pub(super) troubles: BTreeMap<String, watch::Sender<Trouble>>,
}

impl Lives {
    pub(super) fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn node(&self, name: &str) -> Option<Node> {
        self.all().nodes.get(name).cloned()
    }

    /// Follows what is wrong with the kubelet of a node.
    pub(super) fn trouble(&self, name: &str) -> watch::Receiver<Trouble> {
        self.all().troubles.entry(name.to_owned()).or_default().subscribe()
    }

    pub(super) fn turn_machine(&self, name: &str, turn: impl FnOnce(&mut Knobs)) {
        let mut all = self.all();
        let knobs = all.knobs.entry(name.to_owned()).or_default();
        turn(knobs);
        let knobs = knobs.clone();
        if let Some(node) = all.nodes.get(name) {
            node.turn(|now| *now = knobs);
        }
    }

    pub(super) fn turn_kubelet(&self, name: &str, turn: impl FnOnce(&mut Trouble)) {
        self.all().troubles.entry(name.to_owned()).or_default().send_modify(turn);
    }
}
