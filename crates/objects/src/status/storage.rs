//! Volumes, claims for them, and their snapshots.

use super::{Facts, Status};

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

/// An error is tried again by whoever takes the snapshot.
pub(super) fn snapshot(facts: Facts<'_>) -> Status {
    if facts.is_true("/status/readyToUse") {
        return Status::Ready;
    }
    let error = facts.text("/status/error/message").map(str::trim).filter(|text| !text.is_empty());
    Status::in_progress(error.unwrap_or("it is not ready to use yet"))
}
