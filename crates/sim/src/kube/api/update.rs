//! Changing objects.

use std::sync::Arc;

use serde_json::Value;

use super::create::{check_kind, fit_schema};
use super::{Place, State, Write};
use crate::kube::merge::{Operation, record_update};
use crate::kube::object;
use crate::kube::refusal::{Problem, Refusal};
use crate::kube::{defaults, status, validation};

/// What a caller cannot change.
const SYSTEM: &[&str] = &[
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
    "namespace",
    "generateName",
];

impl State {
    /// Replaces an object, or a part of one.
    pub(crate) fn update(
        &mut self,
        place: &Place,
        body: Value,
        write: &Write,
    ) -> Result<Value, Refusal> {
        check_kind(place, &body)?;
        let given = object::name(&body);
        if given != place.name {
            let message = format!(
                "the name of the object ({given}) does not match the name on the URL ({})",
                place.name
            );
            return Err(Refusal::bad_request(message));
        }
        let current = self.get(place)?;
        check_preconditions(place, &current, &body)?;
        let after = self.settled(place, &current, place.taken(body), write)?;
        Ok(self.finish_update(place, &current, after, write, Operation::Update))
    }

    /// Writes down who owns what, and keeps the object if it has changed.
    pub(crate) fn finish_update(
        &mut self,
        place: &Place,
        current: &Arc<Value>,
        mut after: Value,
        write: &Write,
        operation: Operation,
    ) -> Value {
        if operation == Operation::Update {
            let manager = place.manager(write, operation);
            let now = self.clock.stamp();
            let has_status = place.has_status();
            record_update(current, &mut after, &manager, &now, place.shape(), has_status);
        }
        if write.dry_run || after == **current {
            return place.shown(&after);
        }
        self.keep_changed(place, after)
    }

    /// Returns what an object becomes when a caller wants it to be `wanted`.
    pub(crate) fn settled(
        &mut self,
        place: &Place,
        current: &Value,
        wanted: Value,
        write: &Write,
    ) -> Result<Value, Refusal> {
        let mut after = if place.subresource.is_empty() {
            self.settled_whole(place, current, wanted, write)?
        } else {
            settled_part(place, current, wanted)
        };
        for field in SYSTEM {
            if let Some(value) = current["metadata"].get(*field) {
                object::metadata(&mut after).insert((*field).to_owned(), value.clone());
            } else {
                object::unset(&mut after, field);
            }
        }
        for field in ["labels", "annotations", "finalizers", "ownerReferences"] {
            object::drop_empty(&mut after, field);
        }
        if place.resource.generation && has_new_content(current, &after) {
            let generation = current["metadata"]["generation"].as_u64().unwrap_or_default() + 1;
            object::metadata(&mut after).insert("generation".to_owned(), generation.into());
        }
        if place.resource.kind == "DaemonSet" {
            defaults::fill(&place.resource, &mut after);
        }
        Ok(after)
    }

    fn settled_whole(
        &mut self,
        place: &Place,
        current: &Value,
        mut after: Value,
        write: &Write,
    ) -> Result<Value, Refusal> {
        fit_schema(place, &mut after, write.strictness)?;
        if place.has_status() {
            keep_field(current, &mut after, "status");
        }
        if place.resource.kind == "Namespace" {
            keep_field(current, &mut after, "spec");
        }
        if place.resource.kind == "Service" && !place.resource.custom {
            keep_address(current, &mut after);
        }
        object::metadata(&mut after).insert("uid".to_owned(), object::uid(current).into());
        defaults::fill(&place.resource, &mut after);
        if place.resource.kind == "Service" && !place.resource.custom {
            status::service(self, &place.resource, &mut after)?;
        }
        if place.resource.kind == "CustomResourceDefinition" {
            refresh_definition(current, &mut after, &self.clock.stamp());
        }
        validation::check_change(&place.resource, current, &after)?;
        Ok(after)
    }

    /// Keeps a changed object, unless the change was the last thing that held
    /// it back from its end.
    fn keep_changed(&mut self, place: &Place, after: Value) -> Value {
        let grace = after["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or_default();
        let namespace_held = place.resource.kind == "Namespace"
            && !object::items(&after["spec"]["finalizers"]).is_empty();
        let held = !object::finalizers(&after).is_empty() || grace > 0 || namespace_held;
        if object::is_terminating(&after) && !held {
            self.take(place.key(), &place.namespace, &place.name);
            return place.shown(&after);
        }
        let kept = self.keep(place.key(), after);
        place.shown(&kept)
    }
}

/// A write must be about the object that its author has seen.
pub(crate) fn check_preconditions(
    place: &Place,
    current: &Value,
    body: &Value,
) -> Result<(), Refusal> {
    let key = &place.resource.key;
    let (uid, version) = (object::uid(body), object::meta(body, "resourceVersion"));
    if !uid.is_empty() && uid != object::uid(current) {
        let live = object::uid(current);
        let why =
            format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {live}");
        return Err(Refusal::conflict(key, &place.name, &why));
    }
    if version.is_empty() && place.resource.custom {
        let problem = Problem::invalid(
            "metadata.resourceVersion",
            &0.into(),
            "must be specified for an update",
        );
        return Err(Refusal::invalid(&place.resource, &place.name, &[problem]));
    }
    if !version.is_empty() && version != "0" && version != object::meta(current, "resourceVersion")
    {
        return Err(Refusal::modified(key, &place.name));
    }
    Ok(())
}

/// A part's path changes that part alone, and who owns it.
fn settled_part(place: &Place, current: &Value, mut wanted: Value) -> Value {
    let part = match place.subresource.as_str() {
        "finalize" => "spec",
        _ => "status",
    };
    let mut after = current.clone();
    let value = wanted.as_object_mut().and_then(|fields| fields.remove(part));
    if let Some(fields) = after.as_object_mut() {
        match value {
            Some(value) => drop(fields.insert(part.to_owned(), value)),
            None => drop(fields.remove(part)),
        }
    }
    // As on the real API, the status of a built-in kind may take labels and
    // annotations along.
    for field in ["labels", "annotations"] {
        let given = wanted["metadata"].get(field).filter(|_| !place.resource.custom);
        if let Some(given) = given {
            object::metadata(&mut after).insert(field.to_owned(), given.clone());
        }
    }
    if let Some(given) = wanted["metadata"].get("managedFields") {
        object::metadata(&mut after).insert("managedFields".to_owned(), given.clone());
    }
    after
}

fn keep_field(current: &Value, after: &mut Value, field: &str) {
    let Some(fields) = after.as_object_mut() else { return };
    match current.get(field) {
        Some(value) => drop(fields.insert(field.to_owned(), value.clone())),
        None => drop(fields.remove(field)),
    }
}

/// A service keeps its address and ports when the caller does not name them.
fn keep_address(current: &Value, after: &mut Value) {
    if after["spec"]["type"] == "ExternalName" {
        return;
    }
    for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        let spec = object::map_at(after, "spec");
        if let (None, Some(old)) = (spec.get(field), current["spec"].get(field)) {
            spec.insert(field.to_owned(), old.clone());
        }
    }
    let old = object::items(&current["spec"]["ports"]).to_vec();
    for port in after["spec"].get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let same = old.iter().find(|one| one["port"] == port["port"]);
        let number = same.and_then(|one| one.get("nodePort"));
        if let (None, Some(number)) = (port.get("nodePort"), number) {
            port["nodePort"] = number.clone();
        }
    }
}

fn refresh_definition(current: &Value, after: &mut Value, now: &str) {
    status::definition(now, after);
    after["status"]["conditions"] = current["status"]["conditions"].clone();
}

/// Says whether anything but metadata and status differs.
fn has_new_content(current: &Value, after: &Value) -> bool {
    let content = |object: &Value| {
        let mut object = object.clone();
        if let Some(fields) = object.as_object_mut() {
            for field in ["metadata", "status", "apiVersion", "kind"] {
                fields.remove(field);
            }
        }
        object
    };
    content(current) != content(after)
}
