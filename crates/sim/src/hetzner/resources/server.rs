//! Servers.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::{Image, LoadBalancer, PlacementGroup, PrivateNet, Volume};
use crate::hetzner::catalog::{Location, ServerType};
use crate::hetzner::machines::{Machine, PrivateAddress};
use crate::hetzner::project::{News, Project};
use crate::hetzner::shelf::{Card, Resource, Shelf};

/// A server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) card: Card,
    pub(crate) status: Status,
    pub(crate) kind: &'static ServerType,
    pub(crate) location: &'static Location,
    pub(crate) image: Image,
    /// Where its machine listens, whether or not that is its public address.
    pub(crate) address: Ipv4Addr,
    /// The ids of its public addresses, where it has them.
    pub(crate) ipv4: Option<i64>,
    pub(crate) ipv6: Option<i64>,
    pub(crate) private: Vec<PrivateNet>,
    pub(crate) placement_group: Option<i64>,
    pub(crate) user_data: Option<String>,
    pub(crate) behind: Behind,
}

/// Whether there is more to a server than an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// A machine, which is told of changes.
    Machine,
    /// Nothing: it belongs to somebody else's story.
    Nothing,
}

/// The power of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Initializing,
    Off,
    Starting,
    Running,
    Stopping,
    Deleting,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Initializing => "initializing",
            Self::Off => "off",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Deleting => "deleting",
        }
    }
}

impl Server {
    /// Returns what its machine is told.
    pub(crate) fn machine(&self) -> Machine {
        let attached = self.private.iter().filter(|it| it.attached);
        let private = attached.map(|it| PrivateAddress {
            network: it.network,
            ip: it.ip,
            mac: it.mac.clone(),
        });
        Machine {
            id: self.card.id,
            name: self.card.name.clone(),
            address: self.address,
            public_ipv4: self.ipv4.map(|_| self.address),
            private: private.collect(),
            labels: self.card.labels.clone(),
            image: self.image.facts(),
            user_data: self.user_data.clone(),
            server_type: self.kind.name.to_owned(),
            location: self.location.name.to_owned(),
            network_zone: self.location.network_zone.to_owned(),
        }
    }

    pub(crate) fn is_in(&self, network: i64) -> bool {
        self.private.iter().any(|it| it.network == network && it.attached)
    }

    fn news(&self, news: fn(Machine) -> News) -> Option<News> {
        (self.behind == Behind::Machine).then(|| news(self.machine()))
    }

    fn public_net(&self, project: &Project) -> Value {
        let Card { id, .. } = self.card;
        let firewalls = project.firewalls.iter().filter(|it| it.covers(self));
        json!({
            "ipv4": self.ipv4.map(|ip| json!({
                "id": ip,
                "ip": self.address,
                "blocked": false,
                "dns_ptr": format!("static.{}.example.com", self.address),
            })),
            "ipv6": self.ipv6.map(|ip| json!({
                "id": ip,
                "ip": format!("2001:db8:{id:x}::/64"),
                "blocked": false,
                "dns_ptr": [],
            })),
            "floating_ips": [],
            "firewalls": firewalls.map(|it| it.on_server(id, project)).collect::<Vec<_>>(),
        })
    }

    /// Returns its public addresses as the resources that they are, too.
    pub(crate) fn primary_ips(&self) -> Vec<Value> {
        let Card { id, created, .. } = self.card;
        let one = |ip: Option<i64>, kind: &str, address: String| {
            ip.map(|ip| {
                json!({
                    "id": ip,
                    "name": format!("primary_ip-{ip}"),
                    "type": kind,
                    "ip": address,
                    "labels": {},
                    "created": created,
                    "protection": { "delete": false },
                    "dns_ptr": [],
                    "assignee_id": id,
                    "assignee_type": "server",
                    "auto_delete": true,
                    "blocked": false,
                    "location": self.location.view(),
                })
            })
        };
        let ipv4 = one(self.ipv4, "ipv4", self.address.to_string());
        let ipv6 = one(self.ipv6, "ipv6", format!("2001:db8:{id:x}::/64"));
        ipv4.into_iter().chain(ipv6).collect()
    }
}

impl Project {
    /// Changes a server's power, and has its machine told.
    pub(crate) fn power(&mut self, id: i64, status: Status) {
        let Some(server) = self.servers.find_mut(id) else { return };
        let was = std::mem::replace(&mut server.status, status);
        let news = match status {
            Status::Running => server.news(News::Runs),
            Status::Off if was != Status::Initializing => server.news(News::Stopped),
            _ => None,
        };
        self.news.extend(news);
    }

    /// Has the machine of a running server told what has changed.
    pub(crate) fn tell_again(&mut self, id: i64) {
        let running = self.servers.find(id).filter(|it| it.status == Status::Running);
        self.news.extend(running.and_then(|server| server.news(News::Runs)));
    }

    /// Takes a server away, with all that refers to it.
    pub(crate) fn remove_server(&mut self, id: i64) {
        let Some(server) = self.servers.remove(id) else { return };
        self.addresses.give_back(server.address);
        self.news.extend(server.news(News::Gone));
        server.removed(self);
    }
}

impl Resource for Server {
    const KIND: &'static str = "server";
    const PLURAL: &'static str = "servers";
    const FILTERS: &'static [&'static str] = &["status"];

    fn card(&self) -> &Card {
        &self.card
    }

    fn card_mut(&mut self) -> &mut Card {
        &mut self.card
    }

    fn shelf(project: &Project) -> &Shelf<Self> {
        &project.servers
    }

    fn shelf_mut(project: &mut Project) -> &mut Shelf<Self> {
        &mut project.servers
    }

    fn view(&self, project: &Project) -> Value {
        let private = self.private.iter().filter(|it| it.attached);
        let group = self.placement_group.and_then(|id| project.view::<PlacementGroup>(id).ok());
        json!({
            "id": self.card.id,
            "name": self.card.name,
            "labels": self.card.labels,
            "created": self.card.created,
            "protection": { "delete": self.card.protected, "rebuild": self.card.protected },
            "status": self.status.name(),
            "public_net": self.public_net(project),
            "private_net": private.map(|it| json!({
                "network": it.network,
                "ip": it.ip,
                "alias_ips": [],
                "mac_address": it.mac,
            })).collect::<Vec<_>>(),
            "server_type": self.kind.view(&project.knobs),
            "location": self.location.view(),
            "image": self.image.shown(),
            "iso": null,
            "rescue_enabled": false,
            "locked": project.is_busy::<Self>(self.card.id),
            "backup_window": null,
            "outgoing_traffic": 0,
            "ingoing_traffic": 0,
            "included_traffic": 20_u64 << 40,
            "primary_disk_size": self.kind.disk,
            "volumes": Volume::of(self, project),
            "load_balancers": LoadBalancer::with_target(self.card.id, project),
            "placement_group": group,
        })
    }

    fn removed(self, project: &mut Project) {
        let id = self.card.id;
        for firewall in project.firewalls.iter_mut() {
            firewall.applied.retain(|it| *it != super::Applied::Server(id));
        }
        for balancer in project.load_balancers.iter_mut() {
            balancer.forget_server(id);
        }
        for volume in project.volumes.iter_mut().filter(|it| it.server == Some(id)) {
            volume.server = None;
        }
        project.healths.forget_server(id);
    }
}
