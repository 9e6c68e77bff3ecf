//! APIs that others serve: available while somebody answers behind them.

use std::time::Duration;

use serde_json::Value;

use super::object::{Said, find, report};
use super::presence::PODS;
use crate::kube::object::items;
use crate::kube::{Key, Kube};

/// How long the API server takes to look behind an API again.
pub(super) const REACTION: Duration = Duration::from_secs(1);

const APIS: Key = Key::new("apiregistration.k8s.io", "apiservices");
const SERVICES: Key = Key::core("services");

/// The kinds that it follows.
pub(super) const FOLLOWED: &[Key] = &[PODS, SERVICES, APIS];

/// Says of every API whether it is available.
pub(super) fn pass(kube: &Kube) {
    for api in kube.all(&APIS, "") {
        let found = check(kube, &api["spec"]["service"]);
        let (status, reason, message) = match &found {
            Ok(passed) => (true, passed.0, passed.1.to_owned()),
            Err(failed) => (false, failed.0, failed.1.clone()),
        };
        let said = Said { kind: "Available", status, reason, message: &message };
        let mut told = (*api).clone();
        said.plainly(kube, &mut told);
        report(kube, &APIS, &api, told, "kube-apiserver");
    }
}

/// Looks behind an API: a reason and a sentence, whichever way it ends.
fn check(
    kube: &Kube,
    service: &Value,
) -> Result<(&'static str, &'static str), (&'static str, String)> {
    if service.is_null() {
        return Ok(("Local", "Local APIServices are always available"));
    }
    let text = |field: &str| service[field].as_str().unwrap_or_default();
    let (named, home) = (text("name"), text("namespace"));
    let Some(found) = find(kube, &SERVICES, home, named) else {
        let why = format!("service/{named} in \"{home}\" is not present");
        return Err(("ServiceNotFound", why));
    };
    let wanted = service["port"].as_u64().unwrap_or(443);
    let Some(port) = items(&found["spec"]["ports"]).iter().find(|port| port["port"] == wanted)
    else {
        let why = format!("service/{named} in \"{home}\" is not listening on port {wanted}");
        return Err(("ServicePortError", why));
    };
    if kube.endpoint(&found, port, 0).is_none() {
        let port = port["name"].as_str().unwrap_or_default();
        let why = format!(
            "endpoints for service/{named} in \"{home}\" have no addresses with port name \"{port}\""
        );
        return Err(("MissingEndpoints", why));
    }
    Ok(("Passed", "all checks passed"))
}
