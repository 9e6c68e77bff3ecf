//! Pods, and what their containers wait for.

use serde_json::Value;

use super::{Ailment, AilmentKind, Facts, Status};
use crate::Object;

/// Where the states of containers stand, in the order in which they start.
const CONTAINERS: [&str; 2] = ["/status/initContainerStatuses", "/status/containerStatuses"];

/// A container that is not well, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unwell {
    pub(crate) container: String,
    pub(crate) says: String,
    /// What only helps to change; none where it may get well by itself.
    pub(crate) lasting: Option<AilmentKind>,
    /// Whether it has ended, and is not to start again.
    pub(crate) ended: bool,
    /// Whether it has ended before, and was started again or is to be.
    pub(crate) ended_before: bool,
}

pub(super) fn pod(facts: Facts<'_>) -> Status {
    match facts.text("/status/phase").unwrap_or_default() {
        "Succeeded" => Status::Ready,
        "Failed" => Status::failed(failure(facts.0)),
        "Running" | "Pending" => alive(facts),
        "" => Status::in_progress("nobody has seen it yet"),
        other => Status::unknown(format!("its phase is {other}")),
    }
}

fn alive(facts: Facts<'_>) -> Status {
    if facts.condition("Ready").is_some_and(|ready| ready.is("True")) {
        return Status::Ready;
    }
    match unwell(facts.0).into_iter().next() {
        Some(one) if one.lasting.is_some() => Status::failed(one.line()),
        Some(one) => Status::in_progress(one.line()),
        None => Status::in_progress(waits_for(facts)),
    }
}

/// What ails a pod. One that has a controller is replaced when it fails, and
/// one of a Job may crash a few times before it succeeds.
pub(super) fn ailment(facts: Facts<'_>) -> Option<Ailment> {
    let owned = !facts.0.items("/metadata/ownerReferences").is_empty();
    let ready = facts.condition("Ready").is_some_and(|ready| ready.is("True"));
    match facts.text("/status/phase").unwrap_or_default() {
        "Failed" if !owned => Some(Ailment { kind: AilmentKind::Finished, says: failure(facts.0) }),
        "Running" | "Pending" if !ready => unwell_for_long(facts).or_else(|| unschedulable(facts)),
        _ => None,
    }
}

fn unwell_for_long(facts: Facts<'_>) -> Option<Ailment> {
    let restarts = facts.text("/spec/restartPolicy").unwrap_or("Always") == "Always";
    unwell(facts.0).into_iter().find_map(|one| {
        let kind = one.lasting.filter(|kind| restarts || *kind != AilmentKind::CrashLoop)?;
        Some(Ailment { kind, says: one.line() })
    })
}

fn unschedulable(facts: Facts<'_>) -> Option<Ailment> {
    let scheduled = facts.condition("PodScheduled").filter(|one| one.is("False"))?;
    let says = scheduled.says();
    (scheduled.reason() == "Unschedulable")
        .then_some(Ailment { kind: AilmentKind::Unschedulable, says })
}

fn waits_for(facts: Facts<'_>) -> String {
    let unscheduled = facts.condition("PodScheduled").filter(|one| one.is("False"));
    let not_yet = unscheduled
        .or_else(|| facts.condition("ContainersReady").filter(|one| one.is("False")))
        .or_else(|| facts.condition("Ready").filter(|one| one.is("False")));
    match not_yet {
        Some(condition) => condition.says(),
        None if facts.text("/spec/nodeName").is_none() => "it has no node yet".to_owned(),
        None => "it is not ready".to_owned(),
    }
}

fn failure(pod: &Object) -> String {
    let said = pod.text("/status/message").or_else(|| pod.text("/status/reason"));
    match said {
        Some(said) => said.to_owned(),
        None => unwell(pod).first().map_or_else(|| "it has failed".to_owned(), Unwell::line),
    }
}

/// Returns the containers that are not well, the first to start first.
pub(crate) fn unwell(pod: &Object) -> Vec<Unwell> {
    let statuses = CONTAINERS.iter().flat_map(|place| pod.items(place));
    statuses.filter_map(Unwell::of).collect()
}

// === impl Unwell ===

impl Unwell {
    fn of(container: &Value) -> Option<Self> {
        let name = container["name"].as_str().unwrap_or_default().to_owned();
        let waiting = &container["state"]["waiting"];
        if let Some(reason) = waiting["reason"].as_str() {
            // These only say that it is not its turn yet.
            if matches!(reason, "PodInitializing" | "ContainerCreating") {
                return None;
            }
            let last = last_end(container);
            let ended_before = last.is_some();
            let says = join(reason, waiting["message"].as_str(), last);
            let lasting = lasting(reason);
            return Some(Self { container: name, says, lasting, ended: false, ended_before });
        }
        let ended = &container["state"]["terminated"];
        let code = ended["exitCode"].as_i64().filter(|code| *code != 0)?;
        let says = join(ended["reason"].as_str().unwrap_or("Error"), Some(&exit(code)), None);
        // It has ended before, and will be said to be in a loop in a moment.
        let again = container["restartCount"].as_u64().is_some_and(|count| count > 0);
        let lasting = again.then_some(AilmentKind::CrashLoop);
        Some(Self { container: name, says, lasting, ended: true, ended_before: false })
    }

    fn line(&self) -> String {
        format!("container {}: {}", self.container, self.says)
    }
}

/// Reasons of the kubelet for a container that waits.
fn lasting(reason: &str) -> Option<AilmentKind> {
    let image = reason.contains("Image") || reason == "RegistryUnavailable";
    match reason {
        "CrashLoopBackOff" => Some(AilmentKind::CrashLoop),
        _ if image => Some(AilmentKind::ImagePull),
        _ if reason.starts_with("Err") || reason.starts_with("Invalid") => {
            Some(AilmentKind::Config)
        }
        _ if reason.ends_with("Error") || reason.ends_with("BackOff") => Some(AilmentKind::Config),
        _ => None,
    }
}

/// A container in a crash loop waits; why it crashes stands in its last end.
fn last_end(container: &Value) -> Option<String> {
    let last = &container["lastState"]["terminated"];
    let code = last["exitCode"].as_i64()?;
    let reason = last["reason"].as_str().unwrap_or("Error");
    Some(format!("last ended with {reason}, {}", exit(code)))
}

fn exit(code: i64) -> String {
    format!("exit code {code}")
}

fn join(reason: &str, message: Option<&str>, more: Option<String>) -> String {
    let mut text = reason.to_owned();
    for part in message.map(str::to_owned).into_iter().chain(more) {
        text.push_str(": ");
        text.push_str(part.trim());
    }
    text
}
