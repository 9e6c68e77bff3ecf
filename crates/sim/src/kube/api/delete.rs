//! Ending objects.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Place, State, Write};
use crate::clock::stamp;
use crate::kube::object;
use crate::kube::refusal::Refusal;

/// How an object is to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// What becomes of the objects that it owns.
    pub propagation: Option<Propagation>,
    /// How many seconds a pod has; its own answer where absent.
    pub grace: Option<u64>,
    /// What must be true of it.
    pub preconditions: Preconditions,
}

/// What becomes of the objects that an object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They go after it.
    Background,
    /// They go before it.
    Foreground,
    /// They stay, without an owner.
    Orphan,
}

/// What must be true of an object that is to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// It is this one.
    pub uid: Option<String>,
    /// It has not changed.
    pub resource_version: Option<String>,
}

/// What came of a request to end an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Deleted {
    /// It is gone; this is what it was.
    Gone(Value),
    /// Somebody holds it back; this is what it is now.
    Ending(Value),
}

impl State {
    /// Ends an object, at once or as soon as nobody holds it back.
    pub(crate) fn delete(
        &mut self,
        place: &Place,
        options: &DeleteOptions,
        write: &Write,
    ) -> Result<Deleted, Refusal> {
        let current = self.get(place)?;
        options.preconditions.check(place, &current)?;
        let mut after = (*current).clone();
        hold(&mut after, options.propagation);
        let grace = grace(place, &current, options.grace);
        let held = !object::finalizers(&after).is_empty()
            || grace > 0
            || place.resource.kind == "Namespace";
        if !held {
            if !write.dry_run {
                self.take(place.key(), &place.namespace, &place.name);
            }
            return Ok(Deleted::Gone(place.shown(&current)));
        }
        self.mark(place, &current, &mut after, grace);
        if !write.dry_run && after != *current {
            after = (*self.keep(place.key(), after)).clone();
        }
        Ok(Deleted::Ending(place.shown(&after)))
    }

    fn mark(&self, place: &Place, current: &Value, after: &mut Value, grace: u64) {
        let left = current["metadata"]["deletionGracePeriodSeconds"].as_u64();
        if object::is_terminating(current) && left.is_some_and(|left| left <= grace) {
            return;
        }
        let end = self.clock.now() + Duration::from_secs(grace);
        let generation = current["metadata"]["generation"].as_u64();
        let metadata = object::metadata(after);
        metadata.insert("deletionTimestamp".to_owned(), stamp(end).into());
        metadata.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
        if let (true, Some(generation)) = (place.resource.generation, generation) {
            metadata.insert("generation".to_owned(), (generation + 1).into());
        }
        if place.resource.kind == "Namespace" {
            after["status"]["phase"] = json!("Terminating");
        }
    }
}

impl Preconditions {
    fn check(&self, place: &Place, current: &Value) -> Result<(), Refusal> {
        let pairs = [
            ("UID", &self.uid, object::uid(current)),
            ("ResourceVersion", &self.resource_version, object::meta(current, "resourceVersion")),
        ];
        for (what, wanted, live) in pairs {
            if let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted != live) {
                let why = format!(
                    "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {live}"
                );
                return Err(Refusal::conflict(&place.resource.key, &place.name, &why));
            }
        }
        Ok(())
    }
}

/// Adds the finalizer by which the garbage collector knows what to do.
fn hold(after: &mut Value, propagation: Option<Propagation>) {
    let finalizer = match propagation {
        Some(Propagation::Foreground) => "foregroundDeletion",
        Some(Propagation::Orphan) => "orphan",
        Some(Propagation::Background) | None => return,
    };
    let mut finalizers = object::finalizers(after);
    if !finalizers.iter().any(|one| one == finalizer) {
        finalizers.push(finalizer.to_owned());
        object::metadata(after).insert("finalizers".to_owned(), finalizers.into());
    }
}

/// Only a pod that a node runs is given time.
fn grace(place: &Place, current: &Value, asked: Option<u64>) -> u64 {
    if place.resource.kind != "Pod" || place.resource.custom {
        return 0;
    }
    let over = ["Succeeded", "Failed"].iter().any(|phase| current["status"]["phase"] == *phase);
    if over || current["spec"]["nodeName"].as_str().is_none() {
        return 0;
    }
    asked.or(current["spec"]["terminationGracePeriodSeconds"].as_u64()).unwrap_or(30)
}
