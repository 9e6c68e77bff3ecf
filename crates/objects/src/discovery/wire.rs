//! The wire: `APIGroupDiscoveryList`, and what older servers have instead:
//! `APIVersions`, `APIGroupList` and `APIResourceList`.

use serde::Deserialize;

use super::Resource;
use crate::Kind;

const STALE: &str = "Stale";
const NAMESPACED: &str = "Namespaced";

/// What `/api` and `/apis` say.
#[derive(Deserialize)]
#[serde(tag = "kind")]
pub(super) enum Index {
    /// All at once.
    #[serde(rename = "APIGroupDiscoveryList")]
    Aggregated {
        #[serde(default)]
        items: Vec<Group>,
    },
    /// The versions of the core group.
    #[serde(rename = "APIVersions")]
    Core { versions: Vec<String> },
    /// The other groups.
    #[serde(rename = "APIGroupList")]
    Groups { groups: Vec<ListedGroup> },
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
    freshness: String,
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

/// A group and its versions, the API's own choice first.
#[derive(Deserialize)]
pub(super) struct ListedGroup {
    pub(super) name: String,
    #[serde(default)]
    pub(super) versions: Vec<ListedVersion>,
}

#[derive(Deserialize)]
pub(super) struct ListedVersion {
    pub(super) version: String,
}

#[derive(Deserialize)]
pub(super) struct ResourceList {
    // Go writes an empty list as null.
    #[serde(default)]
    resources: Option<Vec<ListedResource>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedResource {
    name: String,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    short_names: Vec<String>,
    /// Empty where it is that of the list, as is the version.
    #[serde(default)]
    group: String,
    #[serde(default)]
    version: String,
    kind: String,
    namespaced: bool,
    #[serde(default)]
    verbs: Vec<String>,
}

// === impl Group ===

impl Group {
    pub(super) fn new(name: String, versions: Vec<GroupVersion>) -> Self {
        Self { metadata: GroupName { name }, versions }
    }
}

// === impl GroupVersion ===

impl GroupVersion {
    /// A version of which its own list was asked for.
    pub(super) fn heard(version: String, list: ResourceList) -> Self {
        let listed = list.resources.unwrap_or_default().into_iter();
        let resources = listed.filter(|one| !one.name.contains('/')).map(Served::from).collect();
        Self { version, resources, freshness: "Current".to_owned() }
    }

    /// A version that did not answer.
    pub(super) fn unheard(version: String) -> Self {
        Self { version, resources: Vec::new(), freshness: STALE.to_owned() }
    }

    pub(super) fn is_stale(&self) -> bool {
        self.freshness == STALE
    }
}

// === impl ListedGroup ===

impl ListedGroup {
    pub(super) fn core(versions: Vec<String>) -> Self {
        let versions = versions.into_iter().map(|version| ListedVersion { version }).collect();
        Self { name: String::new(), versions }
    }
}

// === impl Served ===

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
            namespaced: self.scope == NAMESPACED,
            verbs: self.verbs,
            place: (0, 0),
        })
    }
}

impl From<ListedResource> for Served {
    fn from(listed: ListedResource) -> Self {
        let (group, version, kind) = (listed.group, listed.version, listed.kind);
        Self {
            resource: listed.name,
            singular_resource: listed.singular_name,
            short_names: listed.short_names,
            kind: Some(ServedKind { group, version, kind }),
            scope: if listed.namespaced { NAMESPACED.to_owned() } else { "Cluster".to_owned() },
            verbs: listed.verbs,
        }
    }
}
