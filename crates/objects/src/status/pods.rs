//! Pods, and what their containers wait for.

use serde_json::Value;

use super::{Facts, Status};
use crate::Object;

/// Where the states of containers stand, in the order in which they start.
const CONTAINERS: [&str; 2] = ["/status/initContainerStatuses", "/status/containerStatuses"];

/// A container that is not well, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ailment {
    pub(crate) container: String,
    pub(crate) says: String,
    /// Whether it only helps to change something: an image, a setting, a program.
    pub(crate) lasting: bool,
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
    match ailments(facts.0).into_iter().next() {
        Some(Ailment { container, says, lasting: true }) => {
            Status::failed(format!("container {container}: {says}"))
        }
        Some(Ailment { container, says, lasting: false }) => {
            Status::in_progress(format!("container {container}: {says}"))
        }
        None => Status::in_progress(waits_for(facts)),
    }
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
        None => ailments(pod).first().map_or_else(
            || "it has failed".to_owned(),
            |ailment| format!("container {}: {}", ailment.container, ailment.says),
        ),
    }
}

/// Returns the containers that are not well, the first to start first.
pub(crate) fn ailments(pod: &Object) -> Vec<Ailment> {
    let statuses = CONTAINERS.iter().flat_map(|place| pod.items(place));
    statuses.filter_map(ailment).collect()
}

fn ailment(container: &Value) -> Option<Ailment> {
    let name = container["name"].as_str().unwrap_or_default().to_owned();
    let waiting = &container["state"]["waiting"];
    if let Some(reason) = waiting["reason"].as_str() {
        // These only say that it is not its turn yet.
        if matches!(reason, "PodInitializing" | "ContainerCreating") {
            return None;
        }
        let says = join(reason, waiting["message"].as_str(), last_end(container));
        return Some(Ailment { container: name, says, lasting: is_lasting(reason) });
    }
    let ended = &container["state"]["terminated"];
    let code = ended["exitCode"].as_i64().filter(|code| *code != 0)?;
    let says = join(ended["reason"].as_str().unwrap_or("Error"), Some(&exit(code)), None);
    Some(Ailment { container: name, says, lasting: false })
}

fn is_lasting(reason: &str) -> bool {
    reason.starts_with("Err")
        || reason.starts_with("Invalid")
        || reason.ends_with("Error")
        || reason.ends_with("BackOff")
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
