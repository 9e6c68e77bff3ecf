//! What makes pods.

use super::{Facts, Status};

/// Numbers that have to be reached, in the order in which people should hear
/// of them.
fn reached(wanted: i64, counts: &[(i64, &str)]) -> Option<Status> {
    let (count, what) = counts.iter().find(|(count, _)| *count < wanted)?;
    Some(Status::in_progress(format!("{count} of {wanted} pods are {what}")))
}

fn surplus(wanted: i64, count: i64) -> Option<Status> {
    let more = count - wanted;
    (more > 0).then(|| Status::in_progress(format!("{more} old pods are still there")))
}

pub(super) fn deployment(facts: Facts<'_>) -> Status {
    let progressing = facts.condition("Progressing");
    if let Some(stuck) = progressing.filter(|one| one.reason() == "ProgressDeadlineExceeded") {
        return Status::failed(stuck.says());
    }
    if facts.number("/status/observedGeneration").is_none() {
        return Status::in_progress("its controller has not seen it yet");
    }
    let wanted = facts.number("/spec/replicas").unwrap_or(1);
    let updated = facts.count("/status/updatedReplicas");
    if facts.is_true("/spec/paused") && updated < wanted {
        return Status::in_progress(format!("its rollout is paused with {updated} of {wanted}"));
    }
    let counts = [
        (facts.count("/status/replicas"), "made"),
        (updated, "up to date"),
        (facts.count("/status/availableReplicas"), "available"),
        (facts.count("/status/readyReplicas"), "ready"),
    ];
    if let Some(missing) = reached(wanted, &counts) {
        return with_failure(facts, missing);
    }
    if let Some(old) = surplus(wanted, facts.count("/status/replicas")) {
        return old;
    }
    match facts.condition("Available") {
        Some(available) if available.is("True") => Status::Ready,
        Some(available) => Status::in_progress(available.says()),
        // A scale to zero is complete without one in some versions.
        None if wanted == 0 => Status::Ready,
        None => Status::in_progress("it has no condition Available yet"),
    }
}

/// Pods that cannot even be made have their reason in a condition.
fn with_failure(facts: Facts<'_>, missing: Status) -> Status {
    match facts.condition("ReplicaFailure").filter(|failure| failure.is("True")) {
        Some(failure) => Status::in_progress(failure.says()),
        None => missing,
    }
}

pub(super) fn replica_set(facts: Facts<'_>) -> Status {
    let wanted = facts.number("/spec/replicas").unwrap_or(1);
    let counts = [
        (facts.count("/status/replicas"), "made"),
        (facts.count("/status/availableReplicas"), "available"),
        (facts.count("/status/readyReplicas"), "ready"),
    ];
    match reached(wanted, &counts) {
        Some(missing) => with_failure(facts, missing),
        None => surplus(wanted, facts.count("/status/replicas")).unwrap_or(Status::Ready),
    }
}

pub(super) fn daemon_set(facts: Facts<'_>) -> Status {
    if facts.number("/status/observedGeneration").is_none() {
        return Status::in_progress("its controller has not seen it yet");
    }
    let Some(wanted) = facts.number("/status/desiredNumberScheduled") else {
        return Status::in_progress("it is not known yet how many nodes need a pod");
    };
    let updated = facts.count("/status/updatedNumberScheduled");
    // Updated only when somebody deletes the old pods: nothing to wait for.
    let on_delete = facts.text("/spec/updateStrategy/type") == Some("OnDelete");
    let counts = [
        (facts.count("/status/currentNumberScheduled"), "made"),
        (if on_delete { wanted } else { updated }, "up to date"),
        (facts.count("/status/numberAvailable"), "available"),
        (facts.count("/status/numberReady"), "ready"),
    ];
    reached(wanted, &counts).unwrap_or(Status::Ready)
}

pub(super) fn stateful_set(facts: Facts<'_>) -> Status {
    if facts.number("/status/observedGeneration").is_none() {
        return Status::in_progress("its controller has not seen it yet");
    }
    let wanted = facts.number("/spec/replicas").unwrap_or(1);
    let ready = facts.count("/status/readyReplicas");
    let counts = [
        (facts.count("/status/replicas"), "made"),
        (ready, "ready"),
        // Old versions do not tell how many have been ready for long enough.
        (facts.number("/status/availableReplicas").unwrap_or(ready), "available"),
    ];
    if let Some(missing) = reached(wanted, &counts) {
        return missing;
    }
    if let Some(old) = surplus(wanted, facts.count("/status/replicas")) {
        return old;
    }
    if facts.text("/spec/updateStrategy/type") == Some("OnDelete") {
        return Status::Ready;
    }
    let partition = facts.count("/spec/updateStrategy/rollingUpdate/partition");
    let to_update = (wanted - partition).max(0);
    let current = facts.text("/status/currentRevision") == facts.text("/status/updateRevision");
    let updated = facts.count("/status/updatedReplicas");
    if !current && updated < to_update {
        return Status::in_progress(format!("{updated} of {to_update} pods are up to date"));
    }
    if !current && partition == 0 {
        return Status::in_progress("its revision is not settled yet");
    }
    Status::Ready
}

pub(super) fn job(facts: Facts<'_>) -> Status {
    let is_true = |name| facts.condition(name).filter(|one| one.is("True"));
    if is_true("Complete").is_some() {
        return Status::Ready;
    }
    if let Some(failed) = is_true("Failed") {
        return Status::failed(failed.says());
    }
    if facts.is_true("/spec/suspend") {
        return match is_true("Suspended") {
            Some(_) => Status::Ready,
            None => Status::in_progress("its controller has not suspended it yet"),
        };
    }
    if facts.text("/status/startTime").is_none() {
        return Status::in_progress("it has not started");
    }
    let wanted = facts.number("/spec/completions").unwrap_or(1);
    let (done, failed) = (facts.count("/status/succeeded"), facts.count("/status/failed"));
    let because = format!("{done} of {wanted} pods have succeeded, {failed} have failed");
    Status::in_progress(because)
}

/// Whether it can read its metrics and change the size; not whether the size
/// is right.
pub(super) fn autoscaler(facts: Facts<'_>) -> Status {
    for name in ["AbleToScale", "ScalingActive"] {
        match facts.condition(name) {
            None => return Status::in_progress("its controller has not said anything yet"),
            // Somebody has scaled the target to zero.
            Some(active) if active.reason() == "ScalingDisabled" => return Status::Ready,
            Some(condition) if !condition.is("True") => {
                return Status::in_progress(condition.says());
            }
            Some(_) => {}
        }
    }
    Status::Ready
}

/// It protects from the moment its controller has counted the pods.
pub(super) fn disruption_budget(facts: Facts<'_>) -> Status {
    match facts.number("/status/observedGeneration") {
        Some(_) => Status::Ready,
        None => Status::in_progress("its controller has not seen it yet"),
    }
}
