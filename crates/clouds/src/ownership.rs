//! Whose something is: the cluster's id on a label, and nothing else.

use std::collections::BTreeMap;

use events::ClusterId;

/// Labels of something in a cloud.
pub type Labels = BTreeMap<String, String>;

/// The label that everything carries that was made for a cluster.
pub const CLUSTER_ID: &str = "seaworthy.dev/cluster-id";

/// The label with the cluster's name: for people, and to find a cluster whose id is lost.
pub(crate) const CLUSTER_NAME: &str = "seaworthy.dev/cluster";

/// Whose something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// It carries our cluster's id.
    Ours,
    /// It does not, whatever its name.
    Foreign {
        /// The id of the cluster that it belongs to, where it carries one.
        claimed_by: Option<String>,
    },
}

impl Ownership {
    /// Returns whose something with these labels is.
    pub fn of(labels: &Labels, cluster: ClusterId) -> Self {
        match labels.get(CLUSTER_ID) {
            // Before the first run there is no cluster that could own anything.
            Some(id) if cluster != ClusterId::NIL && *id == cluster.to_string() => Self::Ours,
            claimed_by => Self::Foreign { claimed_by: claimed_by.cloned() },
        }
    }
}

/// Returns the labels with those that make something the cluster's.
pub(crate) fn claimed(labels: &Labels, cluster: ClusterId) -> Labels {
    let mut labels = labels.clone();
    labels.insert(CLUSTER_ID.to_owned(), cluster.to_string());
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(id: &str) -> Labels {
        Labels::from([(CLUSTER_ID.to_owned(), id.to_owned())])
    }

    #[test]
    fn only_our_id_makes_it_ours() {
        let ours = ClusterId::new(1);
        assert_eq!(Ownership::of(&claimed(&Labels::new(), ours), ours), Ownership::Ours);
        let none = Ownership::of(&Labels::new(), ours);
        assert_eq!(none, Ownership::Foreign { claimed_by: None });
        let other = ClusterId::new(2).to_string();
        let foreign = Ownership::of(&labels(&other), ours);
        assert_eq!(foreign, Ownership::Foreign { claimed_by: Some(other) });
    }

    #[test]
    fn a_cluster_without_an_identity_owns_nothing() {
        let nil = labels(&ClusterId::NIL.to_string());
        assert_ne!(Ownership::of(&nil, ClusterId::NIL), Ownership::Ours);
    }
}
