//! Changing parts of objects.

use serde_json::{Value, json};

use super::update::check_preconditions;
use super::{Place, State, Write};
use crate::kube::merge::{self, Operation};
use crate::kube::object;
use crate::kube::refusal::{Problem, Refusal};

/// A change, in one of the forms that the API takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch {
    /// A list of steps, after RFC 6902.
    Json(Value),
    /// What differs, after RFC 7386.
    Merge(Value),
    /// What differs, with lists that merge by the keys of their items.
    Strategic(Value),
    /// What the caller wants to be responsible for.
    Apply(Value),
}

impl State {
    /// Changes an object, and says whether it was made by the change.
    pub(crate) fn patch(
        &mut self,
        place: &Place,
        patch: &Patch,
        write: &Write,
    ) -> Result<(Value, bool), Refusal> {
        if let Patch::Apply(config) = patch {
            return self.apply(place, config, write);
        }
        let current = self.get(place)?;
        let mut wanted = place.shown(&current);
        match patch {
            Patch::Json(steps) => merge::json_patch(&mut wanted, steps)?,
            Patch::Merge(part) => merge::merge_patch(&mut wanted, part),
            Patch::Strategic(part) => merge::strategic_patch(&mut wanted, part, place.shape()),
            Patch::Apply(_) => {}
        }
        check_identity(place, &wanted)?;
        // A version in the patch itself is a precondition; the merged object
        // always has one.
        check_preconditions(place, &current, &wanted)?;
        let after = self.settled(place, &current, place.taken(wanted), write)?;
        Ok((self.finish_update(place, &current, after, write, Operation::Update), false))
    }

    fn apply(
        &mut self,
        place: &Place,
        config: &Value,
        write: &Write,
    ) -> Result<(Value, bool), Refusal> {
        let config = checked(place, config, write)?;
        let manager = place.manager(write, Operation::Apply);
        let now = self.clock.stamp();
        let Ok(current) = self.get(place) else {
            return self.apply_new(place, &config, write);
        };
        let uid = object::uid(&config);
        if !uid.is_empty() && uid != object::uid(&current) {
            check_preconditions(place, &current, &config)?;
        }
        let live = place.shown(&current);
        let merged = merge::apply(&live, &config, &manager, write.force, &now, place.shape())?;
        // Conflicts of managers are told before one of versions.
        let version = object::meta(&config, "resourceVersion");
        if !["", "0", object::meta(&current, "resourceVersion")].contains(&version) {
            return Err(Refusal::modified(&place.resource.key, &place.name));
        }
        let after = self.settled(place, &current, place.taken(merged), write)?;
        Ok((self.finish_update(place, &current, after, write, Operation::Apply), false))
    }

    fn apply_new(
        &mut self,
        place: &Place,
        config: &Value,
        write: &Write,
    ) -> Result<(Value, bool), Refusal> {
        if !place.subresource.is_empty() {
            return Err(Refusal::not_found(&place.resource.key, &place.name));
        }
        if !object::uid(config).is_empty() {
            let why =
                "uid mismatch: the provided object specified uid, and no existing object was found";
            return Err(Refusal::conflict(&place.resource.key, &place.name, why));
        }
        let manager = place.manager(write, Operation::Apply);
        let now = self.clock.stamp();
        let mut config = config.clone();
        // Unlike a create, an apply may say which version it is for.
        object::metadata(&mut config).remove("resourceVersion");
        let merged = merge::apply(&json!({}), &config, &manager, true, &now, place.shape())?;
        let (mut object, _) = self.new_object(place, merged.clone(), write)?;
        let owners = merged["metadata"]["managedFields"].clone();
        object::metadata(&mut object).insert("managedFields".to_owned(), owners);
        Ok((self.keep_new(place, object, write)?, true))
    }
}

fn checked(place: &Place, config: &Value, write: &Write) -> Result<Value, Refusal> {
    if write.manager.is_empty() {
        let why = "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
        return Err(Refusal::bad_request(why));
    }
    for field in ["apiVersion", "kind"] {
        if config[field].as_str().is_none() {
            let message = format!("invalid object type: {field} must be set in an apply patch");
            return Err(Refusal::bad_request(message));
        }
    }
    super::create::check_kind(place, config)?;
    if config["metadata"].get("managedFields").is_some_and(|list| !object::items(list).is_empty()) {
        return Err(Refusal::bad_request("metadata.managedFields must be nil"));
    }
    let mut config = config.clone();
    let metadata = object::metadata(&mut config);
    metadata.remove("managedFields");
    metadata.insert("name".to_owned(), place.name.clone().into());
    if place.resource.is_namespaced() {
        metadata.insert("namespace".to_owned(), place.namespace.clone().into());
    }
    Ok(config)
}

/// A patch may not make another object of it.
fn check_identity(place: &Place, wanted: &Value) -> Result<(), Refusal> {
    let same = object::name(wanted) == place.name;
    let home = !place.resource.is_namespaced() || object::namespace(wanted) == place.namespace;
    if same && home {
        return Ok(());
    }
    let field = if same { "metadata.namespace" } else { "metadata.name" };
    let problem = Problem::immutable(field, &wanted["metadata"]["name"]);
    Err(Refusal::invalid(&place.resource, &place.name, &[problem]))
}
