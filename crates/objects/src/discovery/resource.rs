//! Where the objects of a kind are.

use crate::request::escaped;
use crate::{Cluster, Kind, ObjectId};

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

/// Returns the path below which the version of a kind is served.
pub(crate) fn root(kind: &Kind) -> String {
    root_of(&kind.group, &kind.version)
}

/// Returns the path below which a version of a group is served.
pub(super) fn root_of(group: &str, version: &str) -> String {
    if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
}
