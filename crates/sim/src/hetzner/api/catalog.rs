//! What can be ordered, and what it costs.

use serde_json::{Value, json};

use super::call::{Call, Reply};
use super::list;
use crate::hetzner::catalog::{
    Entry, LOAD_BALANCER_TYPES, LOCATIONS, LoadBalancerType, Location, SERVER_TYPES, ServerType,
    find, pricing,
};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::Refusal;
use crate::hetzner::resources::Server;

/// `GET /locations`
pub(super) fn locations(_: &Project, call: &Call) -> Result<Reply, Refusal> {
    list::answer("locations", &[], LOCATIONS.iter().map(Location::view).collect(), call)
}

/// `GET /locations/{id}`
pub(super) fn location(_: &Project, call: &Call) -> Result<Reply, Refusal> {
    Ok(Reply::ok(json!({ "location": entry::<Location>(call)?.view() })))
}

/// `GET /server_types`
pub(super) fn server_types(project: &Project, call: &Call) -> Result<Reply, Refusal> {
    let views = SERVER_TYPES.iter().map(|it| it.view(&project.knobs)).collect();
    list::answer("server_types", &[], views, call)
}

/// `GET /server_types/{id}`
pub(super) fn server_type(project: &Project, call: &Call) -> Result<Reply, Refusal> {
    Ok(Reply::ok(json!({ "server_type": entry::<ServerType>(call)?.view(&project.knobs) })))
}

/// `GET /load_balancer_types`
pub(super) fn load_balancer_types(_: &Project, call: &Call) -> Result<Reply, Refusal> {
    let views = LOAD_BALANCER_TYPES.iter().map(LoadBalancerType::view).collect();
    list::answer("load_balancer_types", &[], views, call)
}

/// `GET /load_balancer_types/{id}`
pub(super) fn load_balancer_type(_: &Project, call: &Call) -> Result<Reply, Refusal> {
    Ok(Reply::ok(json!({ "load_balancer_type": entry::<LoadBalancerType>(call)?.view() })))
}

/// `GET /pricing`
#[expect(clippy::unnecessary_wraps, reason = "all calls have one form")]
pub(super) fn prices(project: &Project, _: &Call) -> Result<Reply, Refusal> {
    let currency = project.knobs.currency.as_deref().unwrap_or("EUR");
    Ok(Reply::ok(json!({ "pricing": pricing(currency) })))
}

/// `GET /isos`
pub(super) fn isos(_: &Project, call: &Call) -> Result<Reply, Refusal> {
    let iso = |id: i64, name: &str, architecture: &str| {
        json!({
            "id": id,
            "name": name,
            "description": name,
            "type": "public",
            "architecture": architecture,
            "deprecation": null,
        })
    };
    let isos = vec![
        iso(122_630, "talos-metal-amd64.iso", "x86"),
        iso(122_629, "talos-metal-arm64.iso", "arm"),
    ];
    list::answer("isos", &["architecture", "type"], isos, call)
}

/// `GET /primary_ips`: those that came with servers.
pub(super) fn primary_ips(project: &Project, call: &Call) -> Result<Reply, Refusal> {
    let views = project.servers.iter().flat_map(Server::primary_ips).collect();
    list::answer("primary_ips", &["ip"], views, call)
}

/// `GET /floating_ips`: this project has none.
pub(super) fn floating_ips(_: &Project, call: &Call) -> Result<Reply, Refusal> {
    list::answer("floating_ips", &[], Vec::<Value>::new(), call)
}

/// `GET /certificates`: this project has none.
pub(super) fn certificates(_: &Project, call: &Call) -> Result<Reply, Refusal> {
    list::answer("certificates", &[], Vec::<Value>::new(), call)
}

/// `GET /datacenters`: no longer served.
pub(super) fn datacenters(_: &Project, _: &Call) -> Result<Reply, Refusal> {
    Err(Refusal::gone(
        "https://docs.hetzner.cloud/changelog#2025-12-16-phasing-out-datacenters",
        "datacenters were removed; use locations",
    ))
}

fn entry<T: Entry>(call: &Call) -> Result<&'static T, Refusal> {
    find(&call.id().to_string()).ok_or_else(|| Refusal::not_found(T::FIELD, call.id()))
}
