//! Private networks.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde_json::{Value, json};

use super::{Attached, LoadBalancer, PrivateNet, Server, attached_to};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::Refusal;
use crate::hetzner::shelf::{Card, Resource, Shelf};

/// A private network with its subnets and routes.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) card: Card,
    pub(crate) ip_range: Ipv4Net,
    pub(crate) subnets: Vec<Subnet>,
    pub(crate) routes: Vec<Route>,
    /// Whether a vSwitch would learn the routes.
    pub(crate) exposes_routes: bool,
}

/// A part of a network from which servers get addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subnet {
    pub(crate) kind: String,
    pub(crate) ip_range: Ipv4Net,
    pub(crate) network_zone: String,
}

/// Where packets to a destination go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) destination: Ipv4Net,
    pub(crate) gateway: Ipv4Addr,
}

/// An address that Hetzner keeps for itself in every network.
const RESERVED: Ipv4Addr = Ipv4Addr::new(172, 31, 1, 1);

impl Network {
    /// Returns the first address, which is the router's.
    pub(crate) fn gateway(&self) -> Ipv4Addr {
        self.ip_range.hosts().next().unwrap_or(self.ip_range.addr())
    }

    pub(crate) fn is_reserved(&self, ip: Ipv4Addr) -> bool {
        ip == RESERVED || ip == self.gateway()
    }

    /// Refuses a subnet that does not fit in.
    pub(crate) fn check_subnet(&self, subnet: &Subnet) -> Result<(), Refusal> {
        let refuse = |message: &str| Err(Refusal::invalid("ip_range", message));
        let range = subnet.ip_range;
        if range.prefix_len() > 30 {
            refuse("must be at least a /30")
        } else if !self.ip_range.contains(&range) {
            refuse("must lie within the network's range")
        } else if self.subnets.iter().any(|it| overlap(it.ip_range, range)) {
            refuse("overlaps with another subnet")
        } else if self.routes.iter().any(|it| overlap(it.destination, range)) {
            refuse("overlaps with a route's destination")
        } else if self.subnets.iter().any(|it| it.network_zone != subnet.network_zone) {
            Err(Refusal::invalid("network_zone", "must be that of the other subnets"))
        } else {
            Ok(())
        }
    }

    /// Returns the first /24 that is still free.
    pub(crate) fn free_range(&self) -> Result<Ipv4Net, Refusal> {
        let candidates = self.ip_range.subnets(24).into_iter().flatten();
        let mut free = candidates.filter(|range| {
            !self.subnets.iter().any(|it| overlap(it.ip_range, *range))
                && !self.routes.iter().any(|it| overlap(it.destination, *range))
        });
        free.next().ok_or_else(|| Refusal::invalid("ip_range", "no free range is left"))
    }

    /// Refuses a route that does not fit in.
    pub(crate) fn check_route(&self, route: &Route) -> Result<(), Refusal> {
        let refuse = |message: &str| Err(Refusal::invalid("destination", message));
        if self.subnets.iter().any(|it| overlap(it.ip_range, route.destination)) {
            refuse("overlaps with a subnet")
        } else if self.routes.iter().any(|it| overlap(it.destination, route.destination)) {
            refuse("overlaps with another route")
        } else if route.destination.contains(&self.gateway())
            || route.destination.contains(&RESERVED)
        {
            refuse("contains a reserved address")
        } else if !self.ip_range.contains(&route.gateway) || self.is_reserved(route.gateway) {
            Err(Refusal::invalid("gateway", "must be an address of the network"))
        } else if self.routes.len() >= 100 {
            refuse("a network holds at most 100 routes")
        } else {
            Ok(())
        }
    }
}

impl Network {
    /// Returns what is in the network, or about to be, as a client sees it.
    pub(crate) fn members(&self, project: &Project) -> Vec<Value> {
        let servers = project.servers.iter().flat_map(|it| self.member(it));
        let balancers = project.load_balancers.iter().flat_map(|it| self.member(it));
        servers.chain(balancers).collect()
    }

    fn member<T: Attached>(&self, resource: &T) -> Vec<Value> {
        let ours = resource.private().iter().filter(|net| net.network == self.card.id);
        let member = |net: &PrivateNet| {
            let subnet = self.subnets.iter().find(|subnet| subnet.ip_range.contains(&net.ip));
            json!({
                "type": T::KIND,
                "id": resource.card().id,
                "ip": net.ip,
                "status": if net.attached { "ok" } else { "attaching" },
                "alias_ips": [],
                "subnet": subnet.map(|subnet| subnet.ip_range),
            })
        };
        ours.map(member).collect()
    }
}

impl Subnet {
    fn view(&self, gateway: Ipv4Addr) -> Value {
        json!({
            "type": self.kind,
            "ip_range": self.ip_range,
            "network_zone": self.network_zone,
            "gateway": gateway,
            "vswitch_id": null,
        })
    }
}

impl Resource for Network {
    const KIND: &'static str = "network";
    const PLURAL: &'static str = "networks";

    fn card(&self) -> &Card {
        &self.card
    }

    fn card_mut(&mut self) -> &mut Card {
        &mut self.card
    }

    fn shelf(project: &Project) -> &Shelf<Self> {
        &project.networks
    }

    fn shelf_mut(project: &mut Project) -> &mut Shelf<Self> {
        &mut project.networks
    }

    fn view(&self, project: &Project) -> Value {
        let gateway = self.gateway();
        let routes = self.routes.iter();
        json!({
            "id": self.card.id,
            "name": self.card.name,
            "labels": self.card.labels,
            "created": self.card.created,
            "protection": { "delete": self.card.protected },
            "ip_range": self.ip_range,
            "subnets": self.subnets.iter().map(|it| it.view(gateway)).collect::<Vec<_>>(),
            "routes": routes
                .map(|it| json!({ "destination": it.destination, "gateway": it.gateway }))
                .collect::<Vec<_>>(),
            "servers": attached_to::<Server>(project, self.card.id),
            "load_balancers": attached_to::<LoadBalancer>(project, self.card.id),
            "expose_routes_to_vswitch": self.exposes_routes,
        })
    }

    /// Whatever is attached gets detached.
    fn removed(self, project: &mut Project) {
        for server in project.servers.iter_mut() {
            server.private.retain(|it| it.network != self.card.id);
        }
        for balancer in project.load_balancers.iter_mut() {
            balancer.private.retain(|it| it.network != self.card.id);
        }
    }
}

fn overlap(a: Ipv4Net, b: Ipv4Net) -> bool {
    a.contains(&b) || b.contains(&a)
}
