//! Load balancers.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::{PrivateNet, Server, Service};
use crate::hetzner::catalog::{LoadBalancerType, Location};
use crate::hetzner::project::Project;
use crate::hetzner::selector::Selector;
use crate::hetzner::shelf::{Card, Resource, Shelf};

/// A load balancer.
#[derive(Debug)]
pub(crate) struct LoadBalancer {
    pub(crate) card: Card,
    pub(crate) kind: &'static LoadBalancerType,
    pub(crate) location: &'static Location,
    pub(crate) algorithm: String,
    /// Where it listens, whether or not clients see the address.
    pub(crate) address: Ipv4Addr,
    pub(crate) public: bool,
    /// The ids of its public addresses.
    pub(crate) ipv4: i64,
    pub(crate) ipv6: i64,
    pub(crate) private: Vec<PrivateNet>,
    pub(crate) services: Vec<Service>,
    pub(crate) targets: Vec<Target>,
    /// Whether its creation has ended.
    pub(crate) ready: bool,
}

/// Where a load balancer forwards to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) to: To,
    pub(crate) use_private_ip: bool,
}

/// Who is meant by a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Server(i64),
    Selector(Selector),
}

/// A server behind a load balancer, and where it can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backend {
    pub(crate) server: i64,
    pub(crate) address: Ipv4Addr,
}

impl LoadBalancer {
    /// Returns the network that it is attached to.
    pub(crate) fn network(&self) -> Option<i64> {
        self.private.iter().find(|it| it.attached).map(|it| it.network)
    }

    /// Returns the servers that its targets mean.
    pub(crate) fn backends(&self, project: &Project) -> Vec<Backend> {
        let mut backends = Vec::new();
        for server in self.targets.iter().flat_map(|it| self.servers_of(it, project)) {
            let backend = Backend { server: server.card.id, address: server.address };
            if !backends.contains(&backend) {
                backends.push(backend);
            }
        }
        backends
    }

    /// Returns the servers that a target means: with private addresses only
    /// those in the load balancer's network.
    fn servers_of<'a>(&self, target: &Target, project: &'a Project) -> Vec<&'a Server> {
        let network = self.network();
        let reachable = |server: &&Server| {
            if target.use_private_ip {
                network.is_some_and(|network| server.is_in(network))
            } else {
                server.ipv4.is_some()
            }
        };
        let meant = |server: &&Server| match &target.to {
            To::Server(id) => server.card.id == *id,
            To::Selector(selector) => selector.matches(&server.card.labels),
        };
        project.servers.iter().filter(meant).filter(reachable).collect()
    }

    /// Returns the load balancers that forward to a server.
    pub(crate) fn with_target(server: i64, project: &Project) -> Vec<i64> {
        let has = |it: &&Self| it.backends(project).iter().any(|backend| backend.server == server);
        project.load_balancers.iter().filter(has).map(|it| it.card.id).collect()
    }

    pub(crate) fn forget_server(&mut self, id: i64) {
        self.targets.retain(|target| target.to != To::Server(id));
    }

    fn target_view(&self, target: &Target, project: &Project) -> Value {
        let server = |id: i64| {
            json!({
                "type": "server",
                "server": { "id": id },
                "use_private_ip": target.use_private_ip,
                "health_status": self.health_of(id, project),
            })
        };
        match &target.to {
            To::Server(id) => server(*id),
            To::Selector(selector) => {
                let servers = self.servers_of(target, project).into_iter();
                json!({
                    "type": "label_selector",
                    "label_selector": { "selector": selector.as_str() },
                    "use_private_ip": target.use_private_ip,
                    "targets": servers.map(|it| server(it.card.id)).collect::<Vec<_>>(),
                })
            }
        }
    }

    fn health_of(&self, server: i64, project: &Project) -> Vec<Value> {
        let ports = self.services.iter().map(|service| service.listen_port);
        ports.map(|port| project.healths.view(self.card.id, port, server)).collect()
    }
}

impl Resource for LoadBalancer {
    const KIND: &'static str = "load_balancer";
    const PLURAL: &'static str = "load_balancers";

    fn card(&self) -> &Card {
        &self.card
    }

    fn card_mut(&mut self) -> &mut Card {
        &mut self.card
    }

    fn shelf(project: &Project) -> &Shelf<Self> {
        &project.load_balancers
    }

    fn shelf_mut(project: &mut Project) -> &mut Shelf<Self> {
        &mut project.load_balancers
    }

    fn view(&self, project: &Project) -> Value {
        let Card { id, .. } = self.card;
        let private = self.private.iter().filter(|it| it.attached);
        json!({
            "id": id,
            "name": self.card.name,
            "labels": self.card.labels,
            "created": self.card.created,
            "protection": { "delete": self.card.protected },
            "load_balancer_type": self.kind.view(),
            "location": self.location.view(),
            "algorithm": { "type": self.algorithm },
            "public_net": {
                "enabled": self.public,
                "ipv4": {
                    "id": self.ipv4,
                    "blocked": false,
                    "ip": self.public.then_some(self.address),
                    "dns_ptr": self.public.then(|| format!("lb.{}.example.com", self.address)),
                },
                "ipv6": {
                    "id": self.ipv6,
                    "blocked": false,
                    "ip": self.public.then(|| format!("2001:db8:{id:x}::1")),
                    "dns_ptr": self.public.then(|| format!("lb.{id}.example.com")),
                },
            },
            "private_net": private
                .map(|it| json!({ "network": it.network, "ip": it.ip }))
                .collect::<Vec<_>>(),
            "services": self.services.iter().map(Service::view).collect::<Vec<_>>(),
            "targets": self.targets.iter()
                .map(|it| self.target_view(it, project))
                .collect::<Vec<_>>(),
            "included_traffic": 20_u64 << 40,
            "outgoing_traffic": 0,
            "ingoing_traffic": 0,
        })
    }

    fn removed(self, project: &mut Project) {
        project.addresses.give_back(self.address);
        project.healths.forget_balancer(self.card.id);
    }
}
