//! Reading and writing objects as controllers do.

use serde_json::{Value, json};

use crate::kube::api::set_condition;
use crate::kube::controllers::{About, record};
use crate::kube::object::{name, namespace, uid};
use crate::kube::{Key, Kube, Write};

const EVENTS: Key = Key::core("events");

/// Returns an object, if there is one.
pub(super) fn find(kube: &Kube, key: &Key, namespace: &str, name: &str) -> Option<Value> {
    kube.get(&kube.place(key, namespace, name).ok()?).ok()
}

/// Replaces an object where it differs from what was read. One that has changed
/// meanwhile is left for the next look.
pub(super) fn replace(kube: &Kube, key: &Key, before: &Value, after: Value, by: &str) -> bool {
    write(kube, key, "", before, after, by)
}

/// Replaces an object's status where it differs from what was read.
pub(super) fn report(kube: &Kube, key: &Key, before: &Value, after: Value, by: &str) -> bool {
    write(kube, key, "status", before, after, by)
}

fn write(kube: &Kube, key: &Key, part: &str, before: &Value, after: Value, by: &str) -> bool {
    if *before == after {
        return true;
    }
    let Ok(mut place) = kube.place(key, namespace(before), name(before)) else { return false };
    part.clone_into(&mut place.subresource);
    kube.update(&place, after, &Write::by(by)).is_ok()
}

/// What a controller says about an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) kind: &'a str,
    pub(super) status: bool,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
}

impl Said<'_> {
    /// Writes it into an object's status.
    pub(super) fn about(&self, kube: &Kube, object: &mut Value) {
        let mut condition = self.condition(kube);
        condition["observedGeneration"] = object["metadata"]["generation"].clone();
        set_condition(object, condition);
    }

    /// Writes it into the status of a kind whose conditions know no generation.
    pub(super) fn plainly(&self, kube: &Kube, object: &mut Value) {
        set_condition(object, self.condition(kube));
    }

    fn condition(&self, kube: &Kube) -> Value {
        json!({
            "type": self.kind, "status": if self.status { "True" } else { "False" },
            "reason": self.reason, "message": self.message,
            "lastTransitionTime": kube.clock().stamp(),
        })
    }
}

/// Says once what went wrong with an object.
pub(super) fn complain(kube: &Kube, object: &Value, reason: &str, message: &str, source: &str) {
    let home = match namespace(object) {
        "" => "default",
        namespace => namespace,
    };
    let said = |event: &Value| {
        event["involvedObject"]["uid"] == uid(object)
            && event["reason"] == reason
            && event["message"] == message
    };
    if !kube.all(&EVENTS, home).iter().any(|event| said(event)) {
        record(kube, &About { object, kind: "Warning", reason, message, source });
    }
}
