//! Making objects.

use serde_json::{Value, json};

use super::{Place, State, Strictness, Write};
use crate::kube::merge::{Manager, Operation, record_update};
use crate::kube::object;
use crate::kube::refusal::{Problem, Refusal};
use crate::kube::resource::Key;
use crate::kube::{defaults, schema, status, validation};

pub(crate) const NAMESPACES: Key = Key::core("namespaces");

impl State {
    /// Makes an object.
    pub(crate) fn create(
        &mut self,
        place: &Place,
        body: Value,
        write: &Write,
    ) -> Result<Value, Refusal> {
        let (mut object, mut owned) = self.new_object(place, body, write)?;
        let manager = place.manager(write, Operation::Update);
        let (now, has_status) = (self.clock.stamp(), place.has_status());
        record_update(&Value::Null, &mut owned, &manager, &now, place.shape(), has_status);
        if let Some(owners) = owned["metadata"].get("managedFields") {
            object::metadata(&mut object).insert("managedFields".to_owned(), owners.clone());
        }
        self.keep_new(place, object, write)
    }

    /// Keeps a new object whose owners are written down.
    pub(crate) fn keep_new(
        &mut self,
        place: &Place,
        object: Value,
        write: &Write,
    ) -> Result<Value, Refusal> {
        let key = place.key();
        let name = object::name(&object);
        if self.store.get(key, object::namespace(&object), name).is_some() {
            return Err(Refusal::already_exists(&place.resource.key, name));
        }
        if write.dry_run {
            return Ok(place.shown(&object));
        }
        let kept = self.keep(key, object);
        Ok(place.shown(&kept))
    }

    /// Checks what a caller sent, and fills in what the API server does. The
    /// second object is without what only the server decides, which nobody owns.
    pub(crate) fn new_object(
        &mut self,
        place: &Place,
        body: Value,
        write: &Write,
    ) -> Result<(Value, Value), Refusal> {
        check_kind(place, &body)?;
        let mut object = place.taken(body);
        check_namespace(place, &mut object)?;
        self.name_it(place, &mut object)?;
        self.admit(place, &object)?;
        if !object::meta(&object, "resourceVersion").is_empty() {
            let message = "resourceVersion should not be set on objects to be created".to_owned();
            return Err(Refusal { code: 500, reason: "", message, details: None });
        }
        self.stamp(place, &mut object);
        fit_schema(place, &mut object, write.strictness)?;
        status::reset_new(&place.resource, place.has_status(), &mut object);
        defaults::fill(&place.resource, &mut object);
        let owned = object.clone();
        status::fill_new(self, &place.resource, &mut object)?;
        validation::check_new(&place.resource, &object)?;
        Ok((object, owned))
    }

    fn name_it(&mut self, place: &Place, object: &mut Value) -> Result<(), Refusal> {
        if !object::name(object).is_empty() {
            return Ok(());
        }
        let base = object::meta(object, "generateName").to_owned();
        if base.is_empty() {
            let problem = Problem::required("metadata.name", "name or generateName is required");
            return Err(Refusal::invalid(&place.resource, "", &[problem]));
        }
        let name = self.generated_name(&base);
        object::metadata(object).insert("name".to_owned(), name.into());
        Ok(())
    }

    /// Nothing is made in a namespace that does not exist or is going.
    fn admit(&self, place: &Place, object: &Value) -> Result<(), Refusal> {
        if !place.resource.is_namespaced() {
            return Ok(());
        }
        let namespace = object::namespace(object);
        let Some(found) = self.store.get(&NAMESPACES, "", namespace) else {
            return Err(Refusal::not_found(&NAMESPACES, namespace));
        };
        if object::is_terminating(found) {
            let why = format!(
                "unable to create new content in namespace {namespace} because it is being terminated"
            );
            let mut refusal = Refusal::forbidden(&place.resource.key, object::name(object), &why);
            let cause = json!({ "reason": "NamespaceTerminating", "field": "metadata.namespace",
                "message": format!("namespace {namespace} is being terminated") });
            if let Some(details) = &mut refusal.details {
                details["causes"] = json!([cause]);
            }
            return Err(refusal);
        }
        Ok(())
    }

    fn stamp(&mut self, place: &Place, object: &mut Value) {
        let uid = self.uid();
        let now = self.clock.stamp();
        let metadata = object::metadata(object);
        for foreign in [
            "resourceVersion",
            "selfLink",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "managedFields",
            "generation",
        ] {
            metadata.remove(foreign);
        }
        metadata.insert("uid".to_owned(), uid.into());
        metadata.insert("creationTimestamp".to_owned(), now.into());
        if place.resource.generation {
            metadata.insert("generation".to_owned(), 1.into());
        }
        object::drop_empty(object, "labels");
        object::drop_empty(object, "annotations");
        object::drop_empty(object, "finalizers");
    }
}

impl Place {
    /// Returns who writes here, as `managedFields` has it.
    pub(crate) fn manager(&self, write: &Write, operation: Operation) -> Manager {
        Manager {
            name: write.manager.clone(),
            operation,
            subresource: self.subresource.clone(),
            api_version: self.api_version(),
        }
    }
}

/// A body must be of the kind that the path names, or say nothing of it.
pub(crate) fn check_kind(place: &Place, body: &Value) -> Result<(), Refusal> {
    if !body.is_object() {
        return Err(Refusal::bad_request("the body of the request is not an object"));
    }
    let (kind, version) = (body["kind"].as_str(), body["apiVersion"].as_str());
    let wanted = place.api_version();
    if version.is_some_and(|version| version != wanted) {
        let message = format!(
            "the API version in the data ({}) does not match the expected API version ({wanted})",
            version.unwrap_or_default()
        );
        return Err(Refusal::bad_request(message));
    }
    if kind.is_some_and(|kind| kind != place.resource.kind) {
        let kind = kind.unwrap_or_default();
        let message = format!(
            "{kind} in version \"{}\" cannot be handled as a {}: unknown conversion",
            place.version, place.resource.kind
        );
        return Err(Refusal::bad_request(message));
    }
    Ok(())
}

fn check_namespace(place: &Place, object: &mut Value) -> Result<(), Refusal> {
    let given = object::namespace(object);
    if !place.resource.is_namespaced() {
        object::unset(object, "namespace");
        return Ok(());
    }
    if !given.is_empty() && given != place.namespace {
        let message =
            "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Refusal::bad_request(message));
    }
    let namespace = place.namespace.clone();
    object::metadata(object).insert("namespace".to_owned(), namespace.into());
    Ok(())
}

/// Prunes a custom resource and fills in its schema's defaults.
pub(crate) fn fit_schema(
    place: &Place,
    object: &mut Value,
    strictness: Strictness,
) -> Result<(), Refusal> {
    let Some(found) = place.schema() else { return Ok(()) };
    let unknown = schema::prune(object, found);
    if strictness == Strictness::Strict && !unknown.is_empty() {
        let fields: Vec<String> =
            unknown.iter().map(|path| format!("unknown field \"{path}\"")).collect();
        let message = format!(
            "{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}",
            place.resource.kind,
            place.version,
            place.resource.kind,
            fields.join(", ")
        );
        return Err(Refusal::bad_request(message));
    }
    schema::fill_defaults(object, found);
    Ok(())
}
