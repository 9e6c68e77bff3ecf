//! The wire: `APIGroupDiscoveryList`, and `APIResourceList` of older servers.

use serde::Deserialize;

use super::Resource;
use crate::Kind;

#[derive(Deserialize)]
pub(super) struct GroupList {
    pub(super) kind: String,
    #[serde(default)]
    pub(super) items: Vec<Group>,
}

#[derive(Deserialize)]
pub(super) struct Group {
    #[serde(default)]
    pub(super) metadata: GroupName,
    #[serde(default)]
    pub(super) versions: Vec<GroupVersion>,
}

#[derive(Default, Deserialize)]
pub(super) struct GroupName {
    #[serde(default)]
    pub(super) name: String,
}

#[derive(Deserialize)]
pub(super) struct GroupVersion {
    pub(super) version: String,
    #[serde(default)]
    pub(super) resources: Vec<Served>,
    #[serde(default)]
    pub(super) freshness: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Served {
    resource: String,
    #[serde(default)]
    singular_resource: String,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(rename = "responseKind")]
    kind: Option<ServedKind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct ServedKind {
    #[serde(default)]
    group: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    kind: String,
}

#[derive(Deserialize)]
pub(super) struct ResourceList {
    #[serde(default)]
    pub(super) resources: Vec<ListedResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedResource {
    pub(super) name: String,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    short_names: Vec<String>,
    kind: String,
    namespaced: bool,
    #[serde(default)]
    verbs: Vec<String>,
}

impl Served {
    /// A stale version may list a resource without its kind. The kind's own
    /// group and version are empty where they are those of the list.
    pub(super) fn resource(self, group: &str, version: &str) -> Option<Resource> {
        let kind = self.kind.filter(|kind| !kind.kind.is_empty())?;
        let foreign = (!kind.group.is_empty() && kind.group != group)
            || (!kind.version.is_empty() && kind.version != version);
        (!foreign).then(|| Resource {
            kind: Kind { group: group.to_owned(), version: version.to_owned(), kind: kind.kind },
            plural: self.resource,
            singular: self.singular_resource,
            short_names: self.short_names,
            namespaced: self.scope == "Namespaced",
            verbs: self.verbs,
            place: (0, 0),
        })
    }
}

impl ListedResource {
    pub(super) fn resource(self, group: &str, version: &str) -> Resource {
        let kind = Kind { group: group.to_owned(), version: version.to_owned(), kind: self.kind };
        Resource {
            kind,
            plural: self.name,
            singular: self.singular_name,
            short_names: self.short_names,
            namespaced: self.namespaced,
            verbs: self.verbs,
            place: (0, 0),
        }
    }
}
