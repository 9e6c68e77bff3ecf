//! Nodes, namespaces, certificates, and what extends the API.

use super::{Facts, Status};

pub(super) fn node(facts: Facts<'_>) -> Status {
    match facts.condition("Ready") {
        Some(ready) if ready.is("True") => Status::Ready,
        Some(ready) => Status::in_progress(ready.says()),
        None => Status::in_progress("its kubelet has not said anything yet"),
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

/// A request is there for its certificate.
pub(super) fn signing_request(facts: Facts<'_>) -> Status {
    let is_true = |name| facts.condition(name).filter(|one| one.is("True"));
    if let Some(refused) = is_true("Denied").or_else(|| is_true("Failed")) {
        return Status::failed(refused.says());
    }
    let issued = facts.text("/status/certificate").is_some_and(|text| !text.is_empty());
    match is_true("Approved") {
        None => Status::in_progress("nobody has approved it yet"),
        Some(_) if issued => Status::Ready,
        Some(_) => Status::in_progress("it is approved, and its signer has not issued it yet"),
    }
}
