//! The nodes that a gate speaks about.

use events::{Failure, NodeName};
use serde_json::Value;

use super::field::items;
use super::look::kinds;
use super::{Finding, Inquiry, Look, Need, Seen, name};
use crate::codes;

/// Which nodes a gate expects. Nodes beyond these are judged like the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// Whoever has registered: for clusters that nobody planned.
    Registered,
    /// All of these must have registered.
    These(Vec<NodeName>),
}

/// The nodes that have registered.
pub(crate) struct Roll<'a> {
    nodes: &'a [Value],
}

impl Nodes {
    /// What must be seen to call the roll.
    pub(crate) fn need() -> Need {
        Look::all(kinds::NODE).decides()
    }

    /// Calls the roll, and notes who is missing. A cluster without nodes is
    /// never ready.
    pub(crate) fn roll<'a>(
        &self,
        seen: &'a Seen,
        inquiry: &mut Inquiry,
    ) -> Result<Roll<'a>, Failure> {
        let nodes = seen.list(&Look::all(kinds::NODE))?;
        if nodes.is_empty() {
            inquiry.found(Finding::new(codes::NODE_ABSENT, "no node has registered"));
        }
        if let Self::These(expected) = self {
            let is_there = |node: &NodeName| nodes.iter().any(|one| name(one) == node.as_str());
            for node in expected.iter().filter(|node| !is_there(node)) {
                inquiry.found(absent(node));
            }
        }
        inquiry.fact("nodes", nodes.len());
        Ok(Roll { nodes })
    }
}

fn absent(node: &NodeName) -> Finding {
    Finding::new(codes::NODE_ABSENT, format!("{node}: the node has not registered"))
        .next("kubectl get nodes", "shows who has")
}

impl<'a> Roll<'a> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        self.nodes.iter()
    }

    /// The node of this name.
    pub(crate) fn get(&self, wanted: &str) -> Option<&'a Value> {
        self.nodes.iter().find(|node| name(node) == wanted)
    }
}

/// Returns whether a node has a taint, with whatever effect.
pub(crate) fn has_taint(node: &Value, key: &str) -> bool {
    items(node, "/spec/taints").iter().any(|taint| taint["key"] == key)
}
