//! Where an object is: the path of a request, read.

use std::sync::Arc;

use serde_json::Value;

use crate::kube::event_kind::{self, storage_key};
use crate::kube::merge::Shape;
use crate::kube::resource::{Key, Resource};

/// An object, a part of one, or all objects of a kind.
#[derive(Clone, Debug)]
pub struct Place {
    /// The kind.
    pub resource: Arc<Resource>,
    /// The version that the caller speaks.
    pub version: String,
    /// The namespace; empty for none, or for all.
    pub namespace: String,
    /// The name; empty for all.
    pub name: String,
    /// The part of the object; empty for the whole.
    pub subresource: String,
}

impl Place {
    /// Returns what the store calls the kind.
    pub(crate) fn key(&self) -> &Key {
        storage_key(&self.resource.key)
    }

    /// Returns what manifests carry here as `apiVersion`.
    pub(crate) fn api_version(&self) -> String {
        self.resource.api_version(&self.version)
    }

    /// Returns how objects of the kind merge.
    pub(crate) fn shape(&self) -> Shape<'_> {
        if self.resource.custom {
            Shape::custom(self.schema())
        } else {
            Shape::builtin(&self.resource.kind)
        }
    }

    /// Returns the schema of a custom resource.
    pub(crate) fn schema(&self) -> Option<&Value> {
        self.resource.version(&self.version)?.schema.as_ref()
    }

    /// Says whether the kind has a status of its own in this version.
    pub(crate) fn has_status(&self) -> bool {
        self.resource.version(&self.version).is_some_and(|version| version.status)
    }

    /// Returns the same kind of place with another name.
    pub(crate) fn named(&self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self.clone() }
    }

    /// Writes a stored object in the version that the caller speaks.
    pub(crate) fn shown(&self, stored: &Value) -> Value {
        let mut object = stored.clone();
        if self.resource.key.group == "events.k8s.io" {
            event_kind::from_core(&mut object);
        }
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion".to_owned(), self.api_version().into());
            fields.insert("kind".to_owned(), self.resource.kind.clone().into());
        }
        object
    }

    /// Reads an object that a caller sent, as the store keeps it.
    pub(crate) fn taken(&self, mut object: Value) -> Value {
        if self.resource.key.group == "events.k8s.io" {
            event_kind::to_core(&mut object);
        }
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion".to_owned(), self.resource.preferred().into());
            fields.insert("kind".to_owned(), self.resource.kind.clone().into());
        }
        object
    }
}
