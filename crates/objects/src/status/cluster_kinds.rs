//! Nodes, services, claims, namespaces, and what extends the API.

use super::{Facts, Status};

pub(super) fn node(facts: Facts<'_>) -> Status {
    match facts.condition("Ready") {
        Some(ready) if ready.is("True") => Status::Ready,
        Some(ready) => Status::in_progress(ready.says()),
        None => Status::in_progress("its kubelet has not said anything yet"),
    }
}

pub(super) fn service(facts: Facts<'_>) -> Status {
    if facts.text("/spec/type") != Some("LoadBalancer") {
        return Status::Ready;
    }
    let addresses = facts.0.items("/status/loadBalancer/ingress");
    let known = addresses.iter().any(|one| one["ip"].is_string() || one["hostname"].is_string());
    if known { Status::Ready } else { Status::in_progress("its load balancer has no address yet") }
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
