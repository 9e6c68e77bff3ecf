//! The row of a pod, whose status is told by many fields.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::text::{age, number, or_none, text};
use crate::kube::object::{is_terminating, items, name};

/// Returns the cells of a pod.
pub(super) fn cells(pod: &Value, now: Timestamp) -> Vec<Value> {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    let statuses = items(&status["containerStatuses"]);
    let ready =
        statuses.iter().filter(|one| one["ready"] == true && one["state"].get("running").is_some());
    let restarts: i64 = statuses.iter().map(|one| number(&one["restartCount"])).sum();
    vec![
        json!(name(pod)),
        json!(format!("{}/{}", ready.count(), items(&spec["containers"]).len())),
        json!(state(pod)),
        json!(restarts.to_string()),
        json!(age(&pod["metadata"]["creationTimestamp"], now)),
        json!(or_none(text(&status["podIP"]))),
        json!(or_none(text(&spec["nodeName"]))),
        json!(or_none(text(&status["nominatedNodeName"]))),
        json!("<none>"),
    ]
}

fn state(pod: &Value) -> String {
    let status = &pod["status"];
    let phase = text(&status["phase"]);
    let mut state = status["reason"].as_str().unwrap_or(phase).to_owned();
    for container in items(&status["containerStatuses"]).iter().rev() {
        let inner = &container["state"];
        let reasons = [&inner["waiting"]["reason"], &inner["terminated"]["reason"]];
        if let Some(reason) = reasons.into_iter().find_map(Value::as_str) {
            reason.clone_into(&mut state);
        }
    }
    let over = ["Succeeded", "Failed"].contains(&phase);
    if is_terminating(pod) && !over { "Terminating".to_owned() } else { state }
}
