//! The paths of a set.

use super::{FieldPath, FieldSet};
use crate::fields::set::Node;

/// Which paths of a set are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Leaves,
}

impl FieldSet {
    /// Returns its paths, sorted.
    pub fn paths(&self) -> Vec<FieldPath> {
        let mut paths = Vec::with_capacity(self.len());
        self.gather(&FieldPath::default(), Which::All, &mut paths);
        paths
    }

    /// Returns the paths that have no other below them, sorted: the fields that
    /// hold values.
    pub fn leaves(&self) -> Vec<FieldPath> {
        let mut leaves = Vec::new();
        self.gather(&FieldPath::default(), Which::Leaves, &mut leaves);
        leaves
    }

    fn gather(&self, at: &FieldPath, which: Which, paths: &mut Vec<FieldPath>) {
        for node in self.nodes() {
            let path = at.then(node.step.clone());
            if is_meant(node, which) {
                paths.push(path.clone());
            }
            node.below.gather(&path, which, paths);
        }
    }
}

fn is_meant(node: &Node, which: Which) -> bool {
    node.member && (which == Which::All || node.is_leaf())
}
