//! Ordering and changing networks.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::Deserialize;

use super::call::{Call, Changed, Reply};
use super::generic::{self, check, started};
use super::list;
use crate::hetzner::action::{Reference, Step};
use crate::hetzner::catalog::LOCATIONS;
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::resources::{LoadBalancer, Network, PrivateNet, Route, Server, Subnet};
use crate::hetzner::selector::Labels;

#[derive(Deserialize)]
struct SubnetOrder {
    #[serde(rename = "type")]
    kind: String,
    ip_range: Option<String>,
    network_zone: String,
}

#[derive(Deserialize)]
struct RouteOrder {
    destination: String,
    gateway: String,
}

/// `POST /networks`
pub(super) fn create(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        name: String,
        ip_range: String,
        #[serde(default)]
        subnets: Vec<SubnetOrder>,
        #[serde(default)]
        routes: Vec<RouteOrder>,
        labels: Option<Labels>,
        expose_routes_to_vswitch: Option<bool>,
    }
    let Order { name, ip_range, subnets, routes, labels, expose_routes_to_vswitch } =
        call.read()?;
    let ip_range = private_range(&ip_range)?;
    let card = project.new_card::<Network>(&name, labels)?;
    let id = card.id;
    let mut network = Network {
        card,
        ip_range,
        subnets: Vec::new(),
        routes: Vec::new(),
        exposes_routes: expose_routes_to_vswitch == Some(true),
    };
    for order in subnets {
        let subnet = order.fit_into(&network)?;
        network.subnets.push(subnet);
    }
    for order in routes {
        let route = order.fit_into(&network)?;
        network.routes.push(route);
    }
    project.networks.put(network);
    generic::created::<Network>(project, id, None)
}

/// `PUT /networks/{id}`: what all have, and whether routes reach a vSwitch.
pub(super) fn update(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Update {
        expose_routes_to_vswitch: Option<bool>,
    }
    let Update { expose_routes_to_vswitch } = call.read()?;
    generic::update::<Network>(project, call)?;
    let network = project.networks.get_mut(call.id())?;
    network.exposes_routes = expose_routes_to_vswitch.unwrap_or(network.exposes_routes);
    generic::updated::<Network>(project, call.id())
}

/// `GET /networks/{id}/members`
pub(super) fn members(project: &Project, call: &Call) -> Result<Reply, Refusal> {
    let members = project.networks.get(call.id())?.members(project);
    list::answer("members", &["type", "status", "subnet"], members, call)
}

/// `POST /networks/{id}/actions/add_subnet`
pub(super) fn add_subnet(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let order: SubnetOrder = call.read()?;
    check::<Network>(project, call.id())?;
    let subnet = order.fit_into(project.networks.get(call.id())?)?;
    Ok(changing(project, call.id(), "add_subnet", |network| network.subnets.push(subnet)))
}

/// `POST /networks/{id}/actions/delete_subnet`
pub(super) fn delete_subnet(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        ip_range: String,
    }
    let Order { ip_range } = call.read()?;
    check::<Network>(project, call.id())?;
    let network = project.networks.get(call.id())?;
    let wanted = network.subnets.iter().find(|it| it.ip_range.to_string() == ip_range);
    let range = wanted.ok_or_else(|| Refusal::not_found("subnet", &ip_range))?.ip_range;
    if is_lived_in(project, call.id(), range) {
        let message = "cannot remove the subnet while something is attached to it";
        return Err(Code::ServiceError.because(message));
    }
    Ok(changing(project, call.id(), "delete_subnet", move |network| {
        network.subnets.retain(|it| it.ip_range != range);
    }))
}

/// `POST /networks/{id}/actions/add_route`
pub(super) fn add_route(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let order: RouteOrder = call.read()?;
    check::<Network>(project, call.id())?;
    let route = order.fit_into(project.networks.get(call.id())?)?;
    Ok(changing(project, call.id(), "add_route", |network| network.routes.push(route)))
}

/// `POST /networks/{id}/actions/delete_route`
pub(super) fn delete_route(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let route = call.read::<RouteOrder>()?.route()?;
    check::<Network>(project, call.id())?;
    if !project.networks.get(call.id())?.routes.contains(&route) {
        return Err(Refusal::not_found("route", route.destination));
    }
    Ok(changing(project, call.id(), "delete_route", move |network| {
        network.routes.retain(|it| *it != route);
    }))
}

/// Changes a network when an action has ended.
fn changing(
    project: &mut Project,
    id: i64,
    command: &'static str,
    change: impl FnOnce(&mut Network) + Send + 'static,
) -> Changed {
    let takes = project.delays.change_network;
    let step = Step::new(command, &[Reference::to::<Network>(id)], takes);
    started::<Network>(
        project,
        id,
        step.then(move |project| {
            if let Some(network) = project.networks.find_mut(id) {
                change(network);
            }
        }),
    )
}

impl SubnetOrder {
    fn fit_into(self, network: &Network) -> Result<Subnet, Refusal> {
        match self.kind.as_str() {
            "cloud" | "server" => {}
            "vswitch" => return Err(Refusal::not_implemented("a subnet of type vswitch")),
            _ => return Err(Refusal::invalid("type", "must be cloud, server or vswitch")),
        }
        if !LOCATIONS.iter().any(|it| it.network_zone == self.network_zone) {
            return Err(Refusal::invalid("network_zone", "does not exist"));
        }
        let ip_range = match self.ip_range {
            Some(text) => range("ip_range", &text)?,
            None => network.free_range()?,
        };
        let subnet = Subnet { kind: self.kind, ip_range, network_zone: self.network_zone };
        network.check_subnet(&subnet)?;
        Ok(subnet)
    }
}

impl RouteOrder {
    fn route(&self) -> Result<Route, Refusal> {
        let gateway = self.gateway.parse::<Ipv4Addr>();
        Ok(Route {
            destination: range("destination", &self.destination)?,
            gateway: gateway.map_err(|_| Refusal::invalid("gateway", "must be an address"))?,
        })
    }

    fn fit_into(&self, network: &Network) -> Result<Route, Refusal> {
        let route = self.route()?;
        network.check_route(&route)?;
        Ok(route)
    }
}

fn is_lived_in(project: &Project, network: i64, range: Ipv4Net) -> bool {
    let lives = |it: &PrivateNet| it.network == network && range.contains(&it.ip);
    let servers = project.servers.iter().flat_map(|it: &Server| it.private.iter());
    let balancers = project.load_balancers.iter().flat_map(|it: &LoadBalancer| it.private.iter());
    servers.chain(balancers).any(lives)
}

/// Reads a network without host bits.
fn range(field: &str, text: &str) -> Result<Ipv4Net, Refusal> {
    let net = text.parse::<Ipv4Net>().ok().filter(|net| net.addr() == net.network());
    net.ok_or_else(|| Refusal::invalid(field, "must be a network in CIDR notation"))
}

/// Reads the range of a network: private, and not too small.
fn private_range(text: &str) -> Result<Ipv4Net, Refusal> {
    let net = range("ip_range", text)?;
    let private = net.network().is_private() && net.broadcast().is_private();
    if !private || net.prefix_len() > 24 {
        return Err(Refusal::invalid("ip_range", "must be private and at least a /24"));
    }
    Ok(net)
}
