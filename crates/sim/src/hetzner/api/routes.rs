//! Which path leads to which call.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{MatchedPath, Query, Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{Json, Router};
use http::{Method, Uri};

use super::call::{Call, Changed, Reply};
use super::gate::gate;
use super::{
    actions, catalog, firewalls, generic, images, load_balancers, networks, placement_groups,
    servers, ssh_keys, targets, volumes,
};
use crate::hetzner::desk::{Desk, PART};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::Refusal;
use crate::hetzner::resources::{
    Firewall, Image, LoadBalancer, Network, PlacementGroup, Server, SshKey, Volume,
};
use crate::hetzner::shelf::Resource;
use crate::wire::LostAnswer;
use crate::{Answer, Effect};

type Routes = Router<Arc<Desk>>;
type Read = fn(&Project, &Call) -> Result<Reply, Refusal>;
type Write = fn(&mut Project, &Call) -> Result<Changed, Refusal>;

/// Returns the whole API.
pub(crate) fn router(desk: Arc<Desk>) -> Router {
    let routes = catalog_routes()
        .merge(network_routes())
        .merge(firewall_routes())
        .merge(load_balancer_routes())
        .merge(server_routes())
        .merge(volume_routes())
        .merge(small_routes())
        .route("/actions", get(actions::by_id))
        .route("/actions/{id}", get(actions::get));
    Router::new()
        .nest("/v1", routes)
        .fallback(not_simulated)
        .method_not_allowed_fallback(not_simulated)
        .layer(from_fn_with_state(Arc::clone(&desk), gate))
        .with_state(desk)
}

fn catalog_routes() -> Routes {
    Router::new()
        .route("/locations", get(catalog::locations))
        .route("/locations/{id}", get(catalog::location))
        .route("/server_types", get(catalog::server_types))
        .route("/server_types/{id}", get(catalog::server_type))
        .route("/load_balancer_types", get(catalog::load_balancer_types))
        .route("/load_balancer_types/{id}", get(catalog::load_balancer_type))
        .route("/pricing", get(catalog::prices))
        .route("/isos", get(catalog::isos))
        .route("/primary_ips", get(catalog::primary_ips))
        .route("/floating_ips", get(catalog::floating_ips))
        .route("/certificates", get(catalog::certificates))
        .route("/datacenters", get(catalog::datacenters))
        .route("/datacenters/{id}", get(catalog::datacenters))
}

fn network_routes() -> Routes {
    kept::<Network>()
        .route("/networks", post(networks::create))
        .route("/networks/{id}", put(networks::update))
        .route("/networks/{id}/members", get(networks::members))
        .route("/networks/{id}", delete(generic::delete::<Network>))
        .route(&action::<Network>("add_subnet"), post(networks::add_subnet))
        .route(&action::<Network>("delete_subnet"), post(networks::delete_subnet))
        .route(&action::<Network>("add_route"), post(networks::add_route))
        .route(&action::<Network>("delete_route"), post(networks::delete_route))
        .route(&action::<Network>("change_protection"), post(generic::protect::<Network>))
}

fn firewall_routes() -> Routes {
    kept::<Firewall>()
        .route("/firewalls", post(firewalls::create))
        .route("/firewalls/{id}", put(generic::update::<Firewall>))
        .route("/firewalls/{id}", delete(generic::delete::<Firewall>))
        .route(&action::<Firewall>("set_rules"), post(firewalls::set_rules))
        .route(&action::<Firewall>("apply_to_resources"), post(firewalls::apply))
        .route(&action::<Firewall>("remove_from_resources"), post(firewalls::remove))
}

fn load_balancer_routes() -> Routes {
    type This = LoadBalancer;
    kept::<This>()
        .route("/load_balancers", post(load_balancers::create))
        .route("/load_balancers/{id}", put(generic::update::<This>))
        .route("/load_balancers/{id}", delete(load_balancers::delete))
        .route(&action::<This>("attach_to_network"), post(load_balancers::attach))
        .route(&action::<This>("detach_from_network"), post(load_balancers::detach))
        .route(&action::<This>("add_service"), post(load_balancers::add_service))
        .route(&action::<This>("update_service"), post(load_balancers::update_service))
        .route(&action::<This>("delete_service"), post(load_balancers::delete_service))
        .route(&action::<This>("add_target"), post(targets::add))
        .route(&action::<This>("remove_target"), post(targets::remove))
        .route(&action::<This>("change_protection"), post(generic::protect::<This>))
}

fn server_routes() -> Routes {
    kept::<Server>()
        .route("/servers", post(servers::create))
        .route("/servers/{id}", put(generic::update::<Server>))
        .route("/servers/{id}", delete(servers::delete))
        .route(&action::<Server>("attach_to_network"), post(servers::attach))
        .route(&action::<Server>("detach_from_network"), post(servers::detach))
        .route(&action::<Server>("poweron"), post(servers::on))
        .route(&action::<Server>("poweroff"), post(servers::off))
        .route(&action::<Server>("shutdown"), post(servers::shutdown))
        .route(&action::<Server>("reboot"), post(servers::reboot))
        .route(&action::<Server>("reset"), post(servers::reset))
        .route(&action::<Server>("request_console"), post(servers::console))
        .route(&action::<Server>("create_image"), post(images::create))
        .route(&action::<Server>("change_protection"), post(generic::protect::<Server>))
}

fn volume_routes() -> Routes {
    kept::<Volume>()
        .route("/volumes", post(volumes::create))
        .route("/volumes/{id}", put(generic::update::<Volume>))
        .route("/volumes/{id}", delete(generic::delete::<Volume>))
        .route(&action::<Volume>("attach"), post(volumes::attach))
        .route(&action::<Volume>("detach"), post(volumes::detach))
        .route(&action::<Volume>("resize"), post(volumes::resize))
        .route(&action::<Volume>("change_protection"), post(generic::protect::<Volume>))
}

fn small_routes() -> Routes {
    Router::new()
        .merge(kept::<Image>())
        .route("/images/{id}", put(images::update))
        .route("/images/{id}", delete(generic::delete::<Image>))
        .route(&action::<Image>("change_protection"), post(generic::protect::<Image>))
        .merge(kept::<PlacementGroup>())
        .route("/placement_groups", post(placement_groups::create))
        .route("/placement_groups/{id}", put(generic::update::<PlacementGroup>))
        .route("/placement_groups/{id}", delete(generic::delete::<PlacementGroup>))
        .merge(kept::<SshKey>())
        .route("/ssh_keys", post(ssh_keys::create))
        .route("/ssh_keys/{id}", put(generic::update::<SshKey>))
        .route("/ssh_keys/{id}", delete(generic::delete::<SshKey>))
}

/// Everything that can be looked at, and its actions.
fn kept<T: Resource>() -> Routes {
    let all = format!("/{}", T::PLURAL);
    Router::new()
        .route(&all, get(generic::list::<T>))
        .route(&format!("{all}/{{id}}"), get(generic::get::<T>))
        .route(&format!("{all}/actions"), get(actions::of_kind::<T>))
        .route(&format!("{all}/actions/{{id}}"), get(actions::get))
        .route(&format!("{all}/{{id}}/actions"), get(actions::of_one::<T>))
        .route(&format!("{all}/{{id}}/actions/{{action}}"), get(actions::get))
}

fn action<T: Resource>(name: &str) -> String {
    format!("/{}/{{id}}/actions/{name}", T::PLURAL)
}

fn get(read: Read) -> MethodRouter<Arc<Desk>> {
    on(MethodFilter::GET, async move |State(desk): State<Arc<Desk>>, uri: Uri, query: Pairs| {
        let call = Call { ids: ids_in(&uri), query: query.0, body: Bytes::new() };
        desk.look(|project| read(project, &call)).into_response()
    })
}

fn post(write: Write) -> MethodRouter<Arc<Desk>> {
    writing(MethodFilter::POST, write)
}

fn put(write: Write) -> MethodRouter<Arc<Desk>> {
    writing(MethodFilter::PUT, write)
}

fn delete(write: Write) -> MethodRouter<Arc<Desk>> {
    writing(MethodFilter::DELETE, write)
}

type Pairs = Query<Vec<(String, String)>>;

fn writing(method: MethodFilter, write: Write) -> MethodRouter<Arc<Desk>> {
    on(
        method,
        async move |State(desk): State<Arc<Desk>>,
                    method: Method,
                    path: MatchedPath,
                    uri: Uri,
                    body: Bytes| {
            let call = Call { ids: ids_in(&uri), query: Vec::new(), body };
            perform(&desk, &format!("{method} {}", without_version(path.as_str())), &call, write)
        },
    )
}

/// Makes a change, records it, and answers, unless the answer is to get lost.
fn perform(desk: &Arc<Desk>, route: &str, call: &Call, write: Write) -> Response {
    let outcome = desk.change(|project| {
        let refusal = route.contains("/actions/").then(|| project.knobs.refuse_action()).flatten();
        refusal.map_or_else(|| write(project, call), Err)
    });
    let Changed { subject, reply } = match outcome {
        Ok(changed) => changed,
        Err(refusal) => return refusal.into_response(),
    };
    let effect = Effect { part: PART, call: route.to_owned(), subject };
    match desk.effects.happened(effect) {
        Answer::Send => reply.into_response(),
        Answer::Lose => LostAnswer.into_response(),
    }
}

async fn not_simulated(request: Request) -> Response {
    Refusal::not_implemented(&named_route(request.method(), request.uri().path())).into_response()
}

/// Names a call that no route stands for, its action included:
/// `POST /servers/{id}/actions/enable_rescue`.
fn named_route(method: &Method, path: &str) -> String {
    let is_id = |segment: &str| segment.parse::<i64>().is_ok();
    let segments = without_version(path).split('/');
    let named: Vec<_> = segments.map(|it| if is_id(it) { "{id}" } else { it }).collect();
    format!("{method} {}", named.join("/"))
}

fn ids_in(uri: &Uri) -> Vec<i64> {
    uri.path().split('/').filter_map(|segment| segment.parse().ok()).collect()
}

pub(super) fn without_version(path: &str) -> &str {
    path.strip_prefix("/v1").unwrap_or(path)
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        match self.body {
            Some(body) => (self.status, Json(body)).into_response(),
            None => self.status.into_response(),
        }
    }
}
