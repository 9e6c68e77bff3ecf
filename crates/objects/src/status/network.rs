//! What leads to pods.

use serde_json::Value;

use super::{Facts, Status};

pub(super) fn service(facts: Facts<'_>) -> Status {
    if facts.text("/spec/type") != Some("LoadBalancer") {
        return Status::Ready;
    }
    addressed(facts, "its load balancer has no address yet")
}

pub(super) fn ingress(facts: Facts<'_>) -> Status {
    addressed(facts, "no controller has given it an address yet")
}

fn addressed(facts: Facts<'_>, otherwise: &str) -> Status {
    let addresses = facts.0.items("/status/loadBalancer/ingress");
    let known = addresses.iter().any(|one| one["ip"].is_string() || one["hostname"].is_string());
    if known { Status::Ready } else { Status::in_progress(otherwise) }
}

pub(super) fn gateway(facts: Facts<'_>) -> Status {
    taken_up(facts, "Programmed")
}

pub(super) fn gateway_class(facts: Facts<'_>) -> Status {
    taken_up(facts, "Accepted")
}

fn taken_up(facts: Facts<'_>, name: &str) -> Status {
    match facts.condition(name) {
        Some(condition) if condition.is("True") => Status::Ready,
        Some(condition) => Status::in_progress(condition.says()),
        None => Status::in_progress("no controller has taken it up yet"),
    }
}

/// A route is what every gateway that it wants to be at says of it.
pub(super) fn route(facts: Facts<'_>) -> Status {
    let parents = facts.0.items("/status/parents");
    if parents.len() < facts.0.items("/spec/parentRefs").len() {
        return Status::in_progress("not every gateway has taken it up yet");
    }
    match parents.iter().find_map(refusal) {
        Some(refusal) => Status::in_progress(refusal),
        None => Status::Ready,
    }
}

fn refusal(parent: &Value) -> Option<String> {
    let conditions = parent["conditions"].as_array()?;
    let told =
        |condition: &&Value| condition["type"] == "Accepted" || condition["type"] == "ResolvedRefs";
    let no = conditions.iter().filter(told).find(|condition| condition["status"] != "True")?;
    let gateway = parent["parentRef"]["name"].as_str().unwrap_or("its gateway");
    let message = no["message"].as_str().or_else(|| no["reason"].as_str()).unwrap_or_default();
    Some(format!("{gateway} says: {message}"))
}
