//! Nodes, volumes, namespaces, and what extends the API.

use super::{Facts, Status};

pub(super) fn node(facts: Facts<'_>) -> Status {
    match facts.condition("Ready") {
        Some(ready) if ready.is("True") => Status::Ready,
        Some(ready) => Status::in_progress(ready.says()),
        None => Status::in_progress("its kubelet has not said anything yet"),
    }
}

/// A claim of a class that waits for its first pod stays pending without one:
/// only the caller knows whether there is to be a pod.
pub(super) fn claim(facts: Facts<'_>) -> Status {
    match facts.text("/status/phase") {
        Some("Bound") => Status::Ready,
        Some("Lost") => Status::failed("its volume is gone"),
        _ => Status::in_progress("it has no volume yet"),
    }
}

/// The scheduler notes the node on a claim once a pod needs it.
pub(super) fn is_unused_claim(facts: Facts<'_>) -> bool {
    let annotations = facts.0.at("/metadata/annotations");
    let chosen = annotations.and_then(|all| all.get("volume.kubernetes.io/selected-node"));
    facts.0.kind().is("", "PersistentVolumeClaim")
        && facts.text("/metadata/deletionTimestamp").is_none()
        && facts.text("/status/phase") == Some("Pending")
        && chosen.is_none()
}

pub(super) fn volume(facts: Facts<'_>) -> Status {
    match facts.text("/status/phase") {
        Some("Available" | "Bound") => Status::Ready,
        Some("Released") => Status::unknown("its claim is gone, and nobody has reclaimed it"),
        Some("Failed") => {
            let message = facts.text("/status/message").unwrap_or("it could not be reclaimed");
            Status::failed(message)
        }
        _ => Status::in_progress("nobody has seen it yet"),
    }
}

pub(super) fn namespace(facts: Facts<'_>) -> Status {
    match facts.text("/status/phase") {
        Some("Active") => Status::Ready,
        Some("Terminating") => Status::Terminating { because: "it is being deleted".to_owned() },
        _ => Status::in_progress("it is not active yet"),
    }
}

pub(super) fn definition(facts: Facts<'_>) -> Status {
    if let Some(names) = facts.condition("NamesAccepted").filter(|names| names.is("False")) {
        return Status::failed(names.says());
    }
    match facts.condition("Established") {
        Some(established) if established.is("True") => Status::Ready,
        Some(established) if established.reason() != "Installing" => {
            Status::failed(established.says())
        }
        _ => Status::in_progress("the API does not serve it yet"),
    }
}

pub(super) fn api_service(facts: Facts<'_>) -> Status {
    match facts.condition("Available") {
        Some(available) if available.is("True") => Status::Ready,
        Some(available) => Status::in_progress(available.says()),
        None => Status::in_progress("the API has not asked its server yet"),
    }
}
