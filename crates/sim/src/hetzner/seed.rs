//! What a project already holds when a story begins.

use ipnet::Ipv4Net;

use super::catalog::{self, LOAD_BALANCER_TYPES, LOCATIONS, ServerType};
use super::project::Project;
use super::resources::{
    Applied, Behind, Firewall, Image, ImageStatus, LoadBalancer, Network, PrivateNet, Server,
    Status, Subnet, Target, To,
};
use super::selector::{Labels, Selector};
use super::shelf::{Card, Resource};

/// A snapshot that somebody made earlier.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// What it says it is.
    pub description: String,
    /// The processors that it is for.
    pub architecture: Architecture,
    /// The smallest disk that it fits on, in gigabytes.
    pub disk: u32,
    /// Whether it can be used.
    pub status: ImageStatus,
    /// Its labels.
    pub labels: Labels,
}

/// A kind of processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// 64-bit Intel and AMD.
    X86,
    /// 64-bit ARM.
    Arm,
}

/// Somebody else's cluster in the same project: a network, a firewall, servers
/// and a load balancer. No machines stand behind its servers.
#[derive(Clone, Debug)]
pub struct ForeignCluster {
    /// The name that its resources have, or begin with.
    pub name: String,
    /// The labels that all of them carry.
    pub labels: Labels,
    /// How many servers it has.
    pub servers: u32,
}

impl Project {
    pub(crate) fn add_snapshot(&mut self, snapshot: Snapshot) -> i64 {
        let card = self.free_card(String::new(), snapshot.labels);
        let id = card.id;
        self.images.put(Image {
            card,
            description: snapshot.description,
            architecture: match snapshot.architecture {
                Architecture::X86 => "x86",
                Architecture::Arm => "arm",
            },
            status: snapshot.status,
            disk_size: snapshot.disk,
            created_from: None,
        });
        id
    }

    pub(crate) fn remove_snapshots(&mut self) {
        let snapshots = self.images.iter().filter(|image| image.is_snapshot());
        let ids: Vec<i64> = snapshots.map(|image| image.card.id).collect();
        for id in ids {
            self.images.remove(id);
        }
    }

    /// Adds all of a foreign cluster, or what still fits into the addresses.
    pub(crate) fn add_foreign_cluster(&mut self, cluster: &ForeignCluster) {
        let network = self.add_foreign_network(cluster);
        let servers: Vec<i64> = (1..=cluster.servers)
            .filter_map(|number| self.add_foreign_server(cluster, network, number))
            .collect();
        let card = self.free_card(cluster.name.clone(), cluster.labels.clone());
        let applied = servers.into_iter().map(Applied::Server).collect();
        self.firewalls.put(Firewall { card, rules: Vec::new(), applied });
        self.add_foreign_balancer(cluster, network);
    }

    fn add_foreign_network(&mut self, cluster: &ForeignCluster) -> i64 {
        let card = self.free_card(cluster.name.clone(), cluster.labels.clone());
        let id = card.id;
        let ip_range = Ipv4Net::new_assert([10, 200, 0, 0].into(), 16);
        let subnet = Subnet {
            kind: "cloud".to_owned(),
            ip_range: Ipv4Net::new_assert([10, 200, 1, 0].into(), 24),
            network_zone: LOCATIONS[0].network_zone.to_owned(),
        };
        self.networks.put(Network {
            card,
            ip_range,
            subnets: vec![subnet],
            routes: Vec::new(),
            exposes_routes: false,
        });
        id
    }

    fn add_foreign_server(
        &mut self,
        cluster: &ForeignCluster,
        network: i64,
        number: u32,
    ) -> Option<i64> {
        let server_type: &ServerType = catalog::find("cx23")?;
        let image = self.images.iter().find(|it| it.architecture == server_type.architecture)?;
        let image = image.clone();
        let address = self.addresses.take()?;
        let card = self.free_card(format!("{}-{number}", cluster.name), cluster.labels.clone());
        let id = card.id;
        let last = u8::try_from(number.saturating_add(1)).ok()?;
        let net = PrivateNet::reserved(network, [10, 200, 1, last].into(), id);
        let (ipv4, ipv6) = (Some(self.new_id()), Some(self.new_id()));
        self.servers.put(Server {
            card,
            status: Status::Running,
            kind: server_type,
            location: &LOCATIONS[0],
            image,
            address,
            ipv4,
            ipv6,
            private: vec![PrivateNet { attached: true, ..net }],
            placement_group: None,
            user_data: None,
            behind: Behind::Nothing,
        });
        Some(id)
    }

    fn add_foreign_balancer(&mut self, cluster: &ForeignCluster, network: i64) {
        let Some(address) = self.addresses.take() else { return };
        let card = self.free_card(cluster.name.clone(), cluster.labels.clone());
        let net = PrivateNet::reserved(network, [10, 200, 1, 254].into(), card.id);
        let terms = cluster.labels.iter().map(|(key, value)| format!("{key}={value}"));
        let selector = Selector::parse(&terms.collect::<Vec<_>>().join(",")).ok();
        let target = |selector| Target { to: To::Selector(selector), use_private_ip: true };
        let (ipv4, ipv6) = (self.new_id(), self.new_id());
        self.load_balancers.put(LoadBalancer {
            card,
            kind: &LOAD_BALANCER_TYPES[0],
            location: &LOCATIONS[0],
            algorithm: "round_robin".to_owned(),
            address,
            public: true,
            ipv4,
            ipv6,
            private: vec![PrivateNet { attached: true, ..net }],
            services: Vec::new(),
            targets: selector.map(target).into_iter().collect(),
            ready: true,
        });
    }

    fn free_card(&mut self, name: String, labels: Labels) -> Card {
        Card { id: self.new_id(), name, labels, created: self.clock.second(), protected: false }
    }

    /// Takes a server away as if it had never been, and says whether it was.
    pub(crate) fn vanish(&mut self, name: &str) -> bool {
        let found = self.servers.iter().find(|it| it.card().name == name);
        let Some(id) = found.map(|it| it.card().id) else { return false };
        self.remove_server(id);
        true
    }
}
