//! What kinds of object an API serves, and under which names.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

/// A kind of object as the store knows it: all versions of it are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The API group; empty for the core group.
    pub group: Cow<'static, str>,
    /// The lower-case plural, as in paths.
    pub plural: Cow<'static, str>,
}

/// Whether objects live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One name for the whole cluster.
    Cluster,
    /// One name in each namespace.
    Namespaced,
}

/// A kind of object, as discovery tells of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// What the store calls it.
    pub key: Key,
    /// The versions that are served, the preferred one first.
    pub versions: Vec<Version>,
    /// The kind, as in manifests.
    pub kind: String,
    /// The lower-case singular.
    pub singular: String,
    /// Whether objects live in namespaces.
    pub scope: Scope,
    /// What kubectl's users type.
    pub short_names: Vec<String>,
    /// Names for groups of kinds, such as `all`.
    pub categories: Vec<String>,
    /// The parts of an object that have a path of their own.
    pub subresources: Vec<String>,
    /// Whether a change of anything but metadata and status counts.
    pub generation: bool,
    /// Whether it comes from a custom resource definition.
    pub custom: bool,
}

/// One served version of a kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Version {
    /// Such as `v1`.
    pub name: String,
    /// The schema of a custom resource, as its definition has it.
    pub schema: Option<Value>,
    /// A custom resource's `additionalPrinterColumns`.
    pub columns: Vec<Value>,
    /// Where a custom resource keeps its number of replicas.
    pub scale: Option<Value>,
    /// Whether the status has a path of its own.
    pub status: bool,
}

// === impl Key ===

impl Key {
    /// A kind of the core group.
    pub const fn core(plural: &'static str) -> Self {
        Self::new("", plural)
    }

    /// A kind of a group that is known when this is compiled.
    pub const fn new(group: &'static str, plural: &'static str) -> Self {
        Self { group: Cow::Borrowed(group), plural: Cow::Borrowed(plural) }
    }

    /// A kind of any group.
    pub fn of(group: &str, plural: &str) -> Self {
        Self { group: Cow::Owned(group.to_owned()), plural: Cow::Owned(plural.to_owned()) }
    }
}

impl fmt::Display for Key {
    /// Writes it as error messages do: `pods`, `deployments.apps`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.group {
            "" => f.write_str(&self.plural),
            group => write!(f, "{}.{group}", self.plural),
        }
    }
}

// === impl Resource ===

impl Resource {
    /// Returns a served version.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// Returns what manifests carry as `apiVersion`.
    pub fn api_version(&self, version: &str) -> String {
        api_version(&self.key.group, version)
    }

    /// Returns the `apiVersion` of the preferred version.
    pub fn preferred(&self) -> String {
        self.api_version(self.versions.first().map_or("v1", |version| &version.name))
    }

    /// Says whether objects live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// Says whether a part of an object has a path of its own.
    pub fn has(&self, subresource: &str) -> bool {
        self.subresources.iter().any(|name| name == subresource)
    }

    /// Returns the kind of a list of these.
    pub fn list_kind(&self) -> String {
        format!("{}List", self.kind)
    }
}

/// Writes a group and a version as `apiVersion` does.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
