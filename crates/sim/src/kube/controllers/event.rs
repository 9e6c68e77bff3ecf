//! Events, by which controllers and kubelets say what they did.

use serde_json::{Value, json};

use super::attempt;
use crate::kube::Kube;
use crate::kube::api::Write;
use crate::kube::event_kind::EVENTS;
use crate::kube::object::{self, uid};

/// What an event says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    /// The object.
    pub(crate) object: &'a Value,
    /// `Normal` or `Warning`.
    pub(crate) kind: &'a str,
    /// One word.
    pub(crate) reason: &'a str,
    /// A sentence.
    pub(crate) message: &'a str,
    /// Who says it.
    pub(crate) source: &'a str,
}

/// Records an event, or counts one up that says the same.
pub(crate) fn record(kube: &Kube, about: &About<'_>) {
    let namespace = match object::namespace(about.object) {
        "" => "default",
        namespace => namespace,
    };
    let now = kube.clock().stamp();
    let same = |event: &Value| {
        event["involvedObject"]["uid"] == uid(about.object)
            && event["reason"] == about.reason
            && event["message"] == about.message
    };
    let write = Write::by(about.source);
    if let Some(event) = kube.all(&EVENTS, namespace).into_iter().find(|event| same(event)) {
        let mut event = (*event).clone();
        event["count"] = json!(event["count"].as_u64().unwrap_or(1) + 1);
        event["lastTimestamp"] = json!(now);
        let place = kube.place(&EVENTS, namespace, object::name(&event));
        attempt(place.and_then(|place| kube.update(&place, event, &write)));
        return;
    }
    let Ok(place) = kube.place(&EVENTS, namespace, "") else { return };
    attempt(kube.create(&place, event(about, namespace, &now), &write));
}

fn event(about: &About<'_>, namespace: &str, now: &str) -> Value {
    let metadata = &about.object["metadata"];
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "generateName": format!("{}.", object::name(about.object)), "namespace": namespace },
        "involvedObject": {
            "kind": about.object["kind"], "apiVersion": about.object["apiVersion"],
            "name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
        "type": about.kind, "reason": about.reason, "message": about.message, "count": 1,
        "firstTimestamp": now, "lastTimestamp": now, "source": { "component": about.source },
        "reportingComponent": about.source, "reportingInstance": "", "eventTime": null,
    })
}
