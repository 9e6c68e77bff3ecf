//! What an object says in a chain.

use crate::status::unwell;
use crate::{Object, Status};

use super::Pool;

/// Returns whether nothing is the matter with an object. A Service that leads
/// nowhere is ready by its own words.
pub(super) fn is_well(object: &Object, pool: &Pool<'_>) -> bool {
    if object.kind().is("discovery.k8s.io", "EndpointSlice") {
        return endpoints(object).0 > 0;
    }
    Status::of(object).is_ready() && leads_nowhere(object, pool).is_none()
}

pub(super) fn says(object: &Object, pool: &Pool<'_>) -> String {
    match object.kind().kind.as_str() {
        // Its containers speak for themselves.
        "Pod" if !unwell(object).is_empty() => where_it_is(object),
        "EndpointSlice" => match endpoints(object) {
            (_, 0) => "it has no endpoints".to_owned(),
            (ready, all) => format!("{ready} of {all} endpoints are ready"),
        },
        "StorageClass" => class(object),
        _ => match Status::of(object).because() {
            Some(because) => because.to_owned(),
            None => leads_nowhere(object, pool).unwrap_or_else(|| "ready".to_owned()),
        },
    }
}

/// Says why a Service with a selector has nobody behind it. Without one,
/// somebody else makes its endpoints, and nobody knows when they are complete; one
/// that is a name for something outside has none.
fn leads_nowhere(service: &Object, pool: &Pool<'_>) -> Option<String> {
    let selects = service.at("/spec/selector").is_some_and(|selector| !selector.is_null());
    let outside = service.text("/spec/type") == Some("ExternalName");
    if !service.kind().is("", "Service") || !selects || outside {
        return None;
    }
    let slices = pool.slices(service.id());
    let (ready, all) = slices.iter().fold((0, 0), |(ready, all), slice| {
        let (more, total) = endpoints(slice);
        (ready + more, all + total)
    });
    match (slices.len(), ready, all) {
        // Its controller makes one even where no pod matches.
        (0, ..) if pool.has_looked_for_slices(service.id()) => {
            Some("it has no EndpointSlice: nobody has looked for its pods yet".to_owned())
        }
        (0, ..) => None,
        (_, 0, 0) => Some("its selector matches no pod".to_owned()),
        (_, 0, all) => Some(format!("none of its {all} endpoints is ready")),
        _ => None,
    }
}

/// How many endpoints are ready, of how many. An unknown state counts as ready,
/// as the API says.
fn endpoints(slice: &Object) -> (usize, usize) {
    let all = slice.items("/endpoints");
    let ready = all.iter().filter(|one| one["conditions"]["ready"] != false).count();
    (ready, all.len())
}

fn class(class: &Object) -> String {
    let provisioner = class.text("/provisioner").unwrap_or("nobody");
    match class.text("/volumeBindingMode") {
        Some("WaitForFirstConsumer") => {
            format!("{provisioner} makes its volumes, once a pod needs one")
        }
        _ => format!("{provisioner} makes its volumes, at once"),
    }
}

fn where_it_is(pod: &Object) -> String {
    let phase = pod.text("/status/phase").unwrap_or("Unknown").to_lowercase();
    match pod.text("/spec/nodeName") {
        Some(node) => format!("{phase} on {node}"),
        None => format!("{phase}, without a node"),
    }
}
