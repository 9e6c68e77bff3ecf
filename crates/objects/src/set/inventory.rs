//! What remembers the members of a set: an object in the cluster, as the
//! specification of `ApplySets` has it, so that `kubectl apply --prune
//! --applyset` and we can take sets over from each other.
//!
//! The parent says which kinds in which namespaces to look for members in, and
//! every member carries the parent's id as a label. A set belongs to one tool
//! at a time: taking over that of another one must be asked for, and to give
//! ours away its annotation `applyset.kubernetes.io/tooling` is changed.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::adopt::PART_OF;
use crate::{ApiError, Kind, Object, ObjectId, Resource};

const ID: &str = "applyset.kubernetes.io/id";
const TOOLING: &str = "applyset.kubernetes.io/tooling";
const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
/// What kubectl wrote before [`KINDS`], and still reads.
const RESOURCES: &str = "applyset.kubernetes.io/contains-group-resources";
const NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";

/// What we call ourselves there.
const TOOL: &str = "seaworthy";
const TOOL_AND_VERSION: &str = concat!("seaworthy/v", env!("CARGO_PKG_VERSION"));

/// A named set in a cluster: the object that remembers its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inventory {
    parent: ObjectId,
    id: String,
}

/// What an inventory says of its members: where to look for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// Group and kind.
    pub(super) kinds: BTreeSet<(String, String)>,
    pub(super) namespaces: BTreeSet<String>,
}

/// Why an inventory cannot be used. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// The text names no object that can be one.
    #[error("`{0}` is not an inventory such as `shop`, `secret/shop` or `configmap/shop`")]
    Name(String),
    /// There is none.
    #[error("there is no inventory {0}")]
    Absent(Box<ObjectId>),
    /// The object is there, and is something else.
    #[error("{0} is there already and is no inventory; choose another name")]
    SomethingElse(Box<ObjectId>),
    /// The set belongs to another tool.
    #[error("{parent} is an inventory of {tool}")]
    AnotherTool {
        /// The inventory.
        parent: Box<ObjectId>,
        /// The tool that it says.
        tool: String,
    },
    /// The parent does not say where to look for members. Taken for empty, it
    /// would be narrowed, and they would be forgotten.
    #[error(
        "{0} does not say of which kinds its members are; set its annotation {KINDS}, such as to \
         `ConfigMap,Deployment.apps`"
    )]
    NoKinds(Box<ObjectId>),
    /// The parent says where to look in names that nobody knows.
    #[error(
        "{parent} has members of {resource}, which the API does not serve; set its annotation {KINDS}"
    )]
    UnknownResource {
        /// The inventory.
        parent: Box<ObjectId>,
        /// The name that it says, such as `widgets.example.com`.
        resource: String,
    },
    /// A manifest says itself that the object is in a set.
    #[error("{0} already has the label {PART_OF}; leave it out of the manifest")]
    Labelled(Box<ObjectId>),
    /// The API said no.
    #[error(transparent)]
    Api(#[from] ApiError),
}

impl Inventory {
    /// Reads `NAME`, `secret/NAME` or `configmap/NAME`; without a kind it is a
    /// secret, as with kubectl.
    pub fn parse(text: &str, namespace: &str) -> Result<Self, InventoryError> {
        let (kind, name) = text.split_once('/').unwrap_or(("secret", text));
        let kind = match kind {
            "secret" | "secrets" => "Secret",
            "configmap" | "configmaps" => "ConfigMap",
            _ => return Err(InventoryError::Name(text.to_owned())),
        };
        if name.is_empty() || name.contains('/') {
            return Err(InventoryError::Name(text.to_owned()));
        }
        let kind = Kind::new("v1", kind).expect("a kind of the core group");
        let parent = kind.named(Some(namespace), name);
        Ok(Self { id: id(&parent), parent })
    }

    /// Returns the object that remembers the members.
    pub fn parent(&self) -> &ObjectId {
        &self.parent
    }

    /// Returns the value of the label that members carry.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the selector of all members.
    pub fn selector(&self) -> String {
        format!("{PART_OF}={}", self.id)
    }

    pub(super) fn namespace(&self) -> &str {
        self.parent.namespace.as_deref().unwrap_or_default()
    }

    /// Labels objects as members.
    pub(super) fn claim(&self, objects: Vec<Object>) -> Result<Vec<Object>, InventoryError> {
        let label = |object: Object| match object.mark("labels", PART_OF) {
            Some(_) => Err(InventoryError::Labelled(Box::new(object.id().clone()))),
            None => Ok(object.labelled(PART_OF, &self.id)),
        };
        objects.into_iter().map(label).collect()
    }

    /// Returns whether the parent names its kinds as paths do, so that only the
    /// API's catalogue tells them.
    pub(super) fn names_resources(live: &Object) -> bool {
        let has = |key| live.mark("annotations", key).is_some();
        !has(KINDS) && has(RESOURCES)
    }

    /// Reads the parent's annotations; `take_over` is whether it may be another
    /// tool's. `served` is asked where it [names resources](Self::names_resources).
    pub(super) fn read(
        &self,
        live: &Object,
        take_over: bool,
        served: &[Resource],
    ) -> Result<Contents, InventoryError> {
        let is_parent = live.mark("labels", ID) == Some(self.id.as_str());
        let tooling = live.mark("annotations", TOOLING).filter(|_| is_parent);
        let Some(tooling) = tooling else {
            return Err(InventoryError::SomethingElse(Box::new(self.parent.clone())));
        };
        let tool = tooling.rsplit_once('/').map_or(tooling, |(name, _)| name);
        if tool != TOOL && !take_over {
            let (parent, tool) = (Box::new(self.parent.clone()), tool.to_owned());
            return Err(InventoryError::AnotherTool { parent, tool });
        }
        let kinds = match live.mark("annotations", KINDS) {
            Some(kinds) => list(kinds).map(kind).collect(),
            None => self.kinds_of_resources(live, served)?,
        };
        let namespaces = live.mark("annotations", NAMESPACES).unwrap_or_default();
        let namespaces = list(namespaces).chain([self.namespace()]).map(str::to_owned).collect();
        Ok(Contents { kinds, namespaces })
    }

    fn kinds_of_resources(
        &self,
        live: &Object,
        served: &[Resource],
    ) -> Result<BTreeSet<(String, String)>, InventoryError> {
        let parent = || Box::new(self.parent.clone());
        let resources = live.mark("annotations", RESOURCES);
        let resources = resources.ok_or_else(|| InventoryError::NoKinds(parent()))?;
        let kind = |text| {
            let (plural, group) = parts(text);
            let mut served = served.iter();
            match served.find(|one| one.plural == plural && one.kind.group == group) {
                Some(found) => Ok((group.to_owned(), found.kind.kind.clone())),
                None => Err(InventoryError::UnknownResource {
                    parent: parent(),
                    resource: text.to_owned(),
                }),
            }
        };
        list(resources).map(kind).collect()
    }

    /// Returns the parent that says these contents.
    pub(super) fn object(&self, contents: &Contents) -> Object {
        let kinds = contents.kinds.iter().map(|(group, kind)| match group.as_str() {
            "" => kind.clone(),
            group => format!("{kind}.{group}"),
        });
        let mut kinds: Vec<String> = kinds.collect();
        kinds.sort_unstable();
        let own = self.namespace();
        let namespaces = contents.namespaces.iter().map(String::as_str).filter(|name| *name != own);
        let body = json!({
            "apiVersion": self.parent.kind.api_version(),
            "kind": self.parent.kind.kind,
            "metadata": {
                "name": self.parent.name,
                "namespace": self.parent.namespace,
                "labels": { ID: self.id },
                "annotations": {
                    TOOLING: TOOL_AND_VERSION,
                    KINDS: kinds.join(","),
                    NAMESPACES: namespaces.collect::<Vec<_>>().join(","),
                },
            },
        });
        Object::new(body).expect("a parent has all that makes an object")
    }

    /// Returns whether the parent says just these contents, as ours.
    pub(super) fn says(&self, live: &Object, contents: &Contents) -> bool {
        let wished = self.object(contents);
        let all = [TOOLING, KINDS, NAMESPACES];
        all.iter().all(|key| live.mark("annotations", key) == wished.mark("annotations", key))
    }
}

impl Contents {
    /// Adds where an object is.
    pub(super) fn add(&mut self, id: &ObjectId) {
        self.kinds.insert((id.kind.group.clone(), id.kind.kind.clone()));
        self.namespaces.extend(id.namespace.clone());
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.kinds.extend(other.kinds.iter().cloned());
        both.namespaces.extend(other.namespaces.iter().cloned());
        both
    }
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

/// Reads a name and the group after it.
fn parts(text: &str) -> (&str, &str) {
    text.split_once('.').unwrap_or((text, ""))
}

fn kind(text: &str) -> (String, String) {
    let (kind, group) = parts(text);
    (group.to_owned(), kind.to_owned())
}

/// The id as the specification has it: name, namespace, kind and group.
fn id(parent: &ObjectId) -> String {
    let namespace = parent.namespace.as_deref().unwrap_or_default();
    let (kind, group) = (&parent.kind.kind, &parent.kind.group);
    let hash = Sha256::digest(format!("{}.{namespace}.{kind}.{group}", parent.name));
    format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_kubectl_reads_them() {
        let parent = |text: &str| Inventory::parse(text, "shop").map(|it| it.parent.to_string());
        assert_eq!(parent("web").unwrap(), "secret/web in namespace shop");
        assert_eq!(parent("configmaps/web").unwrap(), "configmap/web in namespace shop");
        for wrong in ["", "pod/web", "secret/", "secret/a/b"] {
            let told = parent(wrong).unwrap_err().to_string();
            assert!(told.contains("is not an inventory such as"), "{told}");
        }
    }

    #[test]
    fn contents_survive_the_way_through_annotations() {
        let inventory = Inventory::parse("web", "shop").unwrap();
        let mut contents = Contents::default();
        let deployment = Kind::new("apps/v1", "Deployment").unwrap();
        contents.add(&deployment.named(Some("other"), "a"));
        contents.add(&Kind::new("v1", "Namespace").unwrap().named(None, "other"));
        let written = inventory.object(&contents);
        assert_eq!(written.mark("annotations", KINDS), Some("Deployment.apps,Namespace"));
        assert_eq!(written.mark("annotations", NAMESPACES), Some("other"));
        assert!(inventory.says(&written, &contents));
        let read = inventory.read(&written, false, &[]).unwrap();
        assert_eq!(read.kinds, contents.kinds);
        assert_eq!(read.namespaces.into_iter().collect::<Vec<_>>(), ["other", "shop"]);
    }

    #[test]
    fn what_is_not_ours_is_not_used() {
        let inventory = Inventory::parse("web", "shop").unwrap();
        let other = Inventory::parse("web", "other").unwrap();
        let contents = Contents::default();
        let told = inventory.read(&other.object(&contents), false, &[]).unwrap_err().to_string();
        assert!(told.ends_with("is no inventory; choose another name"), "{told}");
        let mut kubectls = inventory.object(&contents).into_body();
        kubectls["metadata"]["annotations"][TOOLING] = "kubectl/v1.36.3".into();
        let kubectls = Object::new(kubectls).unwrap();
        let told = inventory.read(&kubectls, false, &[]).unwrap_err().to_string();
        assert!(told.contains("is an inventory of kubectl"), "{told}");
        assert!(inventory.read(&kubectls, true, &[]).is_ok());
        let labelled = inventory.claim(vec![kubectls]).unwrap();
        let told = inventory.claim(labelled).unwrap_err().to_string();
        assert!(told.contains("leave it out of the manifest"), "{told}");
    }
}
