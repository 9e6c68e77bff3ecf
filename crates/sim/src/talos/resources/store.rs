//! Resources as they are kept: with versions, times and events.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use serde_json::Value;
use talos_proto::cosi::resource::{EventType, Metadata, Resource, Spec};
use tokio::sync::broadcast;

use super::{Definition, Wanted, definition};
use crate::talos::timestamp::on_the_wire;

/// How many changes a slow watcher may be behind.
const CHANGES_KEPT: usize = 512;

/// What a resource should say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::talos) struct Described {
    key: Key,
    owner: &'static str,
    yaml: String,
    proto: Vec<u8>,
    annotation: Option<(&'static str, &'static str)>,
}

/// What resources should say, which of them, and since when.
pub(in crate::talos) struct Description<'a> {
    pub(in crate::talos) since: Timestamp,
    pub(in crate::talos) wanted: Wanted<'a>,
    pub(in crate::talos) resources: Vec<Described>,
}

/// A change of one resource.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::talos) struct Change {
    pub(in crate::talos) kind: EventType,
    pub(in crate::talos) resource: Resource,
    pub(in crate::talos) old: Option<Resource>,
}

/// All resources of a node.
#[derive(Debug)]
pub(in crate::talos) struct Resources {
    held: Mutex<BTreeMap<Key, Held>>,
    /// All places of a channel are made at once, so they hold no more than a pointer.
    changes: broadcast::Sender<Arc<Change>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: &'static str,
    namespace: &'static str,
    id: String,
}

#[derive(Clone, Debug)]
struct Held {
    described: Described,
    version: u64,
    created: Timestamp,
    updated: Timestamp,
}

impl Described {
    /// Describes a resource of a type.
    pub(super) fn new(definition: &Definition, id: &str, spec: &Value) -> Self {
        let yaml = serde_saphyr::to_string(spec).expect("a JSON value is always a YAML one");
        let (kind, namespace) = (definition.name, definition.namespace);
        let key = Key { kind, namespace, id: id.to_owned() };
        Self { key, owner: definition.owner, yaml, proto: Vec::new(), annotation: None }
    }

    /// Adds an annotation.
    pub(super) fn annotated(self, key: &'static str, value: &'static str) -> Self {
        Self { annotation: Some((key, value)), ..self }
    }

    /// Adds what the resource says as a protocol message.
    pub(super) fn with_proto(self, proto: Vec<u8>) -> Self {
        Self { proto, ..self }
    }
}

/// Describes a resource by the name of its type.
pub(super) fn described(kind: &str, id: &str, spec: &Value) -> Described {
    Described::new(known(kind), id, spec)
}

fn known(kind: &str) -> &'static Definition {
    definition(kind).expect("only types of the table are described")
}

impl Default for Resources {
    fn default() -> Self {
        Self { held: Mutex::default(), changes: broadcast::Sender::new(CHANGES_KEPT) }
    }
}

impl Resources {
    /// Makes the resources be as described, and tells of each difference.
    ///
    /// The description is made with the resources locked, so that a later one
    /// never comes in before an earlier one.
    pub(in crate::talos) fn reflect<'a>(&self, describe: impl FnOnce() -> Description<'a>) {
        self.reflect_locked(&mut self.held(), describe);
    }

    /// Says whether anybody watches.
    ///
    /// Asked with the resources locked: whoever starts to watch meanwhile has
    /// seen what came before, and what comes after finds them watching.
    pub(in crate::talos) fn are_watched(&self) -> bool {
        let _held = self.held();
        self.changes.receiver_count() > 0
    }

    fn reflect_locked<'a>(
        &self,
        held: &mut BTreeMap<Key, Held>,
        describe: impl FnOnce() -> Description<'a>,
    ) {
        let Description { since, wanted, resources } = describe();
        let mut gone: BTreeMap<_, _> = held.extract_if(.., |key, _| wanted.is(key.kind)).collect();
        for described in resources {
            let before = gone.remove(&described.key);
            let (now, change) = next(described, before, since);
            // Nobody may be watching.
            if let Some(change) = change {
                let _ = self.changes.send(Arc::new(change));
            }
            held.insert(now.described.key.clone(), now);
        }
        for resource in gone.into_values() {
            let resource = resource.resource();
            let change = Change { kind: EventType::Destroyed, resource, old: None };
            let _ = self.changes.send(Arc::new(change));
        }
    }

    /// Returns one resource.
    pub(in crate::talos) fn get(&self, namespace: &str, kind: &str, id: &str) -> Option<Resource> {
        self.list(namespace, kind).into_iter().find(|resource| is(resource, id))
    }

    /// Returns all resources of a type.
    pub(in crate::talos) fn list(&self, namespace: &str, kind: &str) -> Vec<Resource> {
        list(&self.held(), namespace, kind)
    }

    /// Returns all resources of a type as they are now, and every change after
    /// that.
    pub(in crate::talos) fn watch<'a>(
        &self,
        namespace: &str,
        kind: &str,
        describe: impl FnOnce() -> Description<'a>,
    ) -> (Vec<Resource>, broadcast::Receiver<Arc<Change>>) {
        let mut held = self.held();
        self.reflect_locked(&mut held, describe);
        (list(&held, namespace, kind), self.changes.subscribe())
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<Key, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says whether a resource has this id.
fn is(resource: &Resource, id: &str) -> bool {
    resource.metadata.as_ref().is_some_and(|metadata| metadata.id == id)
}

fn list(held: &BTreeMap<Key, Held>, namespace: &str, kind: &str) -> Vec<Resource> {
    let of_type =
        |held: &&Held| held.described.key.namespace == namespace && held.described.key.kind == kind;
    held.values().filter(of_type).map(Held::resource).collect()
}

/// Returns the next state of a resource, and the change where there is one.
fn next(described: Described, before: Option<Held>, now: Timestamp) -> (Held, Option<Change>) {
    match before {
        None => {
            let held = Held { described, version: 1, created: now, updated: now };
            let resource = held.resource();
            (held, Some(Change { kind: EventType::Created, resource, old: None }))
        }
        Some(same) if same.described == described => (same, None),
        Some(old) => {
            let held = Held { described, version: old.version + 1, updated: now, ..old.clone() };
            let resource = held.resource();
            let old = Some(old.resource());
            (held, Some(Change { kind: EventType::Updated, resource, old }))
        }
    }
}

impl Held {
    fn resource(&self) -> Resource {
        let Described { key, owner, yaml, proto, annotation } = &self.described;
        let annotation = annotation.iter().map(|(key, value)| (*key, *value));
        let metadata = Metadata {
            namespace: key.namespace.to_owned(),
            r#type: key.kind.to_owned(),
            id: key.id.clone(),
            version: self.version.to_string(),
            owner: (*owner).to_owned(),
            phase: "running".to_owned(),
            created: Some(on_the_wire(self.created)),
            updated: Some(on_the_wire(self.updated)),
            annotations: annotation.map(|(key, value)| (key.into(), value.into())).collect(),
            ..Metadata::default()
        };
        let spec = Spec { proto_spec: proto.clone(), yaml_spec: yaml.clone() };
        Resource { metadata: Some(metadata), spec: Some(spec) }
    }
}
