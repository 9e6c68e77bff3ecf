//! A set of fields.

use std::cmp::Ordering;
use std::fmt;

use super::{FieldPath, Step};

/// A set of fields, as a tree: what many paths have in common is stored once.
/// 10,000 sets of a large Deployment's size take less than 100 MB.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Sorted by step. A node that is no member has members below it.
    pub(super) nodes: Box<[Node]>,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) step: Step,
    /// Whether the path that ends here is in the set.
    pub(crate) member: bool,
    pub(crate) below: FieldSet,
}

// === impl Node ===

impl Node {
    fn is_needed(&self) -> bool {
        self.member || !self.below.is_empty()
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.below.is_empty()
    }
}

// === impl FieldSet ===

impl FieldSet {
    /// The nodes in any order, each step once at most.
    pub(super) fn of_nodes(mut nodes: Vec<Node>) -> Self {
        nodes.retain(Node::is_needed);
        nodes.sort_by(|one, other| one.step.cmp(&other.step));
        Self { nodes: nodes.into() }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn node(&self, step: &Step) -> Option<&Node> {
        let found = self.nodes.binary_search_by(|node| node.step.cmp(step));
        found.ok().map(|index| &self.nodes[index])
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Node> {
        let compare = |node: &Node| match &node.step {
            Step::Field(field) => (**field).cmp(name),
            // Fields come first.
            _ => Ordering::Greater,
        };
        self.nodes.binary_search_by(compare).ok().map(|index| &self.nodes[index])
    }

    /// Returns whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns how many paths are in it.
    pub fn len(&self) -> usize {
        self.nodes.iter().map(|node| usize::from(node.member) + node.below.len()).sum()
    }

    /// Returns whether this very path is in it.
    pub fn contains(&self, path: &FieldPath) -> bool {
        self.reach(path.steps()).is_some_and(|node| node.member)
    }

    /// Returns whether the path is in it, or lies inside a leaf of it: who owns
    /// a list or map as a whole owns all that is in it.
    pub fn covers(&self, path: &FieldPath) -> bool {
        let leaf = |end: usize| {
            self.reach(&path.steps()[..end]).is_some_and(|node| node.member && node.is_leaf())
        };
        self.contains(path) || (1..path.steps().len()).any(leaf)
    }

    fn reach(&self, steps: &[Step]) -> Option<&Node> {
        let (first, rest) = steps.split_first()?;
        let node = self.node(first)?;
        if rest.is_empty() { Some(node) } else { node.below.reach(rest) }
    }

    /// Adds a path. The object itself is in no set.
    pub fn insert(&mut self, path: &FieldPath) {
        self.insert_steps(path.steps());
    }

    fn insert_steps(&mut self, steps: &[Step]) {
        let Some((first, rest)) = steps.split_first() else { return };
        let found = self.nodes.binary_search_by(|node| node.step.cmp(first));
        let index = found.unwrap_or_else(|index| {
            let mut nodes = std::mem::take(&mut self.nodes).into_vec();
            let below = Self::default();
            nodes.insert(index, Node { step: first.clone(), member: false, below });
            self.nodes = nodes.into();
            index
        });
        let node = &mut self.nodes[index];
        node.member |= rest.is_empty();
        node.below.insert_steps(rest);
    }

    /// Returns the paths of either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.merge(other, |one, other| one || other)
    }

    /// Returns the paths of this one that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.merge(other, |one, other| one && !other)
    }

    /// Returns the paths of both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.merge(other, |one, other| one && other)
    }

    fn merge(&self, other: &Self, keep: impl Fn(bool, bool) -> bool + Copy) -> Self {
        let nothing = Self::default();
        let mut nodes = Vec::with_capacity(self.nodes.len().max(other.nodes.len()));
        let (mut ours, mut theirs) = (self.nodes.iter().peekable(), other.nodes.iter().peekable());
        loop {
            let order = match (ours.peek(), theirs.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(one), Some(other)) => one.step.cmp(&other.step),
            };
            let one = if order.is_le() { ours.next() } else { None };
            let other = if order.is_ge() { theirs.next() } else { None };
            let Some(Node { step, .. }) = one.or(other) else { break };
            let is_member = |node: Option<&Node>| node.is_some_and(|node| node.member);
            let member = keep(is_member(one), is_member(other));
            let one = one.map_or(&nothing, |node| &node.below);
            let below = one.merge(other.map_or(&nothing, |node| &node.below), keep);
            if member || !below.is_empty() {
                nodes.push(Node { step: step.clone(), member, below });
            }
        }
        Self { nodes: nodes.into() }
    }
}

impl<'a> FromIterator<&'a FieldPath> for FieldSet {
    fn from_iter<I: IntoIterator<Item = &'a FieldPath>>(paths: I) -> Self {
        let mut set = Self::default();
        paths.into_iter().for_each(|path| set.insert(path));
        set
    }
}

impl fmt::Debug for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.paths().iter().map(ToString::to_string)).finish()
    }
}
