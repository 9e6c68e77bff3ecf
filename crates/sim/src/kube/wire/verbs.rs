//! From a request about objects to its answer.

use std::time::Duration;

use futures::stream;
use http::{Method, Response};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::body::{self, Body};
use super::request::Request;
use super::table;
use crate::kube::api::{Deleted, Patch, Place, Watch, WatchEvent, Write};
use crate::kube::merge;
use crate::kube::object;
use crate::kube::refusal::Refusal;
use crate::kube::{Kube, PodAnswer};

/// How long a watch lasts whose caller does not say.
const WATCH: Duration = Duration::from_mins(45);

/// An answer, and the name of what it changed.
pub(super) type Answered = Result<(Response<Body>, Option<String>), Refusal>;

/// Returns the verb of a request, as the API's own rules name it.
pub(super) fn verb(request: &Request, place: &Place) -> &'static str {
    match (&request.method, place.name.is_empty()) {
        (&Method::GET, _) if request.watches() => "watch",
        (&Method::GET, true) => "list",
        (&Method::GET, false) => "get",
        (&Method::POST, _) => "create",
        (&Method::PUT, _) => "update",
        (&Method::PATCH, _) => "patch",
        (&Method::DELETE, true) => "deletecollection",
        (&Method::DELETE, false) => "delete",
        _ => "unknown",
    }
}

/// Answers a request about objects.
pub(super) fn answer(kube: &Kube, request: &Request, place: &Place) -> Answered {
    if !place.subresource.is_empty() {
        return part(kube, request, place);
    }
    match verb(request, place) {
        "get" => Ok((shown(kube, request, place, &kube.get(place)?), None)),
        "list" => Ok((list(kube, request, place)?, None)),
        "watch" => Ok((watch(kube, request, place)?, None)),
        "create" if place.name.is_empty() => {
            let made = kube.create(place, request.document()?, &request.write()?)?;
            Ok(changed(201, &made))
        }
        "update" if !place.name.is_empty() => {
            Ok(changed(200, &kube.update(place, request.document()?, &request.write()?)?))
        }
        "patch" if !place.name.is_empty() => {
            let (object, made) = kube.patch(place, &request.patch(place)?, &request.write()?)?;
            Ok(changed(if made { 201 } else { 200 }, &object))
        }
        "delete" => delete(kube, request, place),
        "deletecollection" if !has_no_collection(place) => delete_all(kube, request, place),
        _ => Err(Refusal::method_not_allowed()),
    }
}

fn has_no_collection(place: &Place) -> bool {
    place.resource.kind == "Namespace"
        || (place.resource.is_namespaced() && place.namespace.is_empty())
}

/// Answers a request about a part of an object.
fn part(kube: &Kube, request: &Request, place: &Place) -> Answered {
    let verb = verb(request, place);
    match (place.subresource.as_str(), verb) {
        ("status" | "finalize" | "approval", "update") => {
            Ok(changed(200, &kube.update(place, request.document()?, &request.write()?)?))
        }
        ("status" | "approval", "patch") => {
            let (object, _) = kube.patch(place, &request.patch(place)?, &request.write()?)?;
            Ok(changed(200, &object))
        }
        ("status" | "approval", "get") => Ok((body::json(200, &kube.get(place)?), None)),
        ("scale", "get") => Ok((body::json(200, &kube.change(|state| state.scale(place))?), None)),
        ("scale", "update") => {
            Ok(changed(200, &set_scale(kube, place, &request.document()?, &request.write()?)?))
        }
        ("scale", "patch") => patch_scale(kube, request, place),
        ("binding", "create") => {
            let (binding, write) = (request.document()?, request.write()?);
            let done = kube.change(|state| state.bind(place, &binding, &write))?;
            Ok((body::json(201, &done), Some(place.name.clone())))
        }
        ("eviction", "create") => {
            let (eviction, write) = (request.document()?, request.write()?);
            let done = kube.change(|state| state.evict(place, &eviction, &write))?;
            Ok((body::json(201, &done), Some(place.name.clone())))
        }
        ("proxy", "get" | "create") => {
            let PodAnswer { status, content_type, body } =
                kube.proxy(place, &request.passed_on())?;
            Ok((body::with_type(status, content_type, body), None))
        }
        ("log", "get") => Ok((body::text(200, log(&kube.get(place)?)), None)),
        (part, _) => {
            let what = format!("{verb} of {}/{part}", place.resource.key.plural);
            Err(Refusal::not_implemented(&what))
        }
    }
}

/// Writes what the containers of a pod have said.
fn log(pod: &Value) -> String {
    let statuses = pod["status"]["containerStatuses"].as_array();
    let crashed = |one: &Value| !one["lastState"]["terminated"].is_null();
    if statuses.is_some_and(|all| all.iter().any(crashed)) {
        return "starting\npanic: the simulated program ends right after its start\n".to_owned();
    }
    "started\n".to_owned()
}

fn set_scale(kube: &Kube, place: &Place, scale: &Value, write: &Write) -> Result<Value, Refusal> {
    kube.change(|state| state.set_scale(place, scale, write))
}

fn patch_scale(kube: &Kube, request: &Request, place: &Place) -> Answered {
    let mut scale = kube.change(|state| state.scale(place))?;
    match request.patch(place)? {
        Patch::Json(steps) => merge::json_patch(&mut scale, &steps)?,
        Patch::Merge(part) | Patch::Strategic(part) => merge::merge_patch(&mut scale, &part),
        Patch::Apply(_) => return Err(Refusal::not_implemented("apply of a scale")),
    }
    Ok(changed(200, &set_scale(kube, place, &scale, &request.write()?)?))
}

fn changed(code: u16, object: &Value) -> (Response<Body>, Option<String>) {
    (body::json(code, object), Some(object::name(object).to_owned()))
}

/// Writes one object in the form that the caller likes.
fn shown(kube: &Kube, request: &Request, place: &Place, object: &Value) -> Response<Body> {
    if request.accepts("Table") {
        let revision = object::revision(object);
        let now = kube.clock().now();
        return body::json(
            200,
            &table::table(
                place,
                std::slice::from_ref(object),
                now,
                revision,
                request.query("includeObject"),
            ),
        );
    }
    if request.accepts("PartialObjectMetadata") {
        return body::json(200, &table::metadata_only(object));
    }
    body::json(200, object)
}

fn list(kube: &Kube, request: &Request, place: &Place) -> Result<Response<Body>, Refusal> {
    let listed = kube.list_at(place, &request.list_options(place)?)?;
    let items: Vec<Value> = listed.items.iter().map(|one| place.shown(one)).collect();
    let mut metadata = json!({ "resourceVersion": listed.revision.to_string() });
    if !listed.proceed.is_empty() {
        metadata["continue"] = json!(listed.proceed);
    }
    if let Some(left) = listed.remaining {
        metadata["remainingItemCount"] = json!(left);
    }
    if request.accepts("Table") {
        let now = kube.clock().now();
        let mut table =
            table::table(place, &items, now, listed.revision, request.query("includeObject"));
        table["metadata"] = metadata;
        return Ok(body::json(200, &table));
    }
    if request.accepts("PartialObjectMetadataList") {
        let items: Vec<Value> = items.iter().map(table::metadata_only).collect();
        let list = json!({ "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata, "items": items });
        return Ok(body::json(200, &list));
    }
    let list = json!({ "kind": place.resource.list_kind(), "apiVersion": place.api_version(),
        "metadata": metadata, "items": items });
    Ok(body::json(200, &list))
}

fn watch(kube: &Kube, request: &Request, place: &Place) -> Result<Response<Body>, Refusal> {
    let options = request.watch_options(place)?;
    let watch = kube.watch(place, &options)?;
    let seconds = request.query("timeoutSeconds").parse().map(Duration::from_secs);
    let end = Instant::now() + seconds.unwrap_or(WATCH);
    let form = Form::of(request);
    let include = request.query("includeObject").to_owned();
    let (kube, place) = (kube.clone(), place.clone());
    let show = move |object: &Value| match form {
        Form::Whole => place.shown(object),
        Form::Metadata => table::metadata_only(&place.shown(object)),
        Form::Table => {
            let object = place.shown(object);
            let now = kube.clock().now();
            table::table(
                &place,
                std::slice::from_ref(&object),
                now,
                object::revision(&object),
                &include,
            )
        }
    };
    let telling = Telling { watch, end, bookmarks: options.bookmarks, over: false };
    Ok(body::lines(stream::unfold((telling, show), async |(mut telling, show)| {
        let event = telling.next().await?;
        let line = event.to_value(telling.watch.place(), &show);
        Some((line, (telling, show)))
    })))
}

/// The form in which a watch writes its objects.
#[derive(Clone, Copy)]
enum Form {
    Whole,
    Metadata,
    Table,
}

impl Form {
    fn of(request: &Request) -> Self {
        if request.accepts("Table") {
            Self::Table
        } else if request.accepts("PartialObjectMetadata") {
            Self::Metadata
        } else {
            Self::Whole
        }
    }
}

/// A watch that ends.
struct Telling {
    watch: Watch,
    end: Instant,
    bookmarks: bool,
    over: bool,
}

impl Telling {
    /// Returns the next event; at the end one last bookmark, so that the next
    /// watch can go on from there.
    async fn next(&mut self) -> Option<WatchEvent> {
        if self.over {
            return None;
        }
        if let Ok(event) = tokio::time::timeout_at(self.end, self.watch.next()).await {
            return event;
        }
        self.over = true;
        self.bookmarks.then(|| WatchEvent::Bookmark(self.watch.told(), false))
    }
}

fn delete(kube: &Kube, request: &Request, place: &Place) -> Answered {
    let (options, dry_run) = request.delete_options()?;
    let mut write = request.write()?;
    write.dry_run |= dry_run;
    match kube.delete(place, &options, &write)? {
        Deleted::Ending(object) => Ok(changed(200, &object)),
        Deleted::Gone(object) => {
            let mut details = json!({ "name": place.name, "kind": place.resource.key.plural,
                "uid": object::uid(&object) });
            if !place.resource.key.group.is_empty() {
                details["group"] = json!(place.resource.key.group);
            }
            let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {},
                "status": "Success", "details": details });
            Ok((body::json(200, &status), Some(place.name.clone())))
        }
    }
}

fn delete_all(kube: &Kube, request: &Request, place: &Place) -> Answered {
    let (options, dry_run) = request.delete_options()?;
    let mut write = request.write()?;
    write.dry_run |= dry_run;
    let mut which = request.list_options(place)?;
    which.limit = 0;
    let listed = kube.list_at(place, &which)?;
    for one in &listed.items {
        let place = place.named(object::name(one));
        match kube.delete(&place, &options, &write) {
            Err(refusal) if refusal.code != 404 => return Err(refusal),
            _ => {}
        }
    }
    let items: Vec<Value> = listed.items.iter().map(|one| place.shown(one)).collect();
    let list = json!({ "kind": place.resource.list_kind(), "apiVersion": place.api_version(),
        "metadata": { "resourceVersion": listed.revision.to_string() }, "items": items });
    Ok((body::json(200, &list), Some("*".to_owned())))
}
