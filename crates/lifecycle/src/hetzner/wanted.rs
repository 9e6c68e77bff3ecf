//! What a plan wants at Hetzner, as wishes. Pure: the same plan wants the same.

use std::net::IpAddr;

use clouds::Labels;
use clouds::hetzner::{
    AddSubnet, AddTarget, Architecture, AttachLoadBalancer, CreateFirewall, CreateLoadBalancer,
    CreateNetwork, CreatePlacementGroup, CreateServer, CreateSshKey, Direction, Firewall,
    HealthCheck, HttpCheck, Id, Image, Kind, LoadBalancer, Network, Ours, PlacementGroup,
    PublicAddresses, Rule, Service, SshKey,
};
use events::Role;
use ipnet::IpNet;
use spec::plan::{FirewallRule, Hardware, LabelSet, LoadBalancerPlan, NodePlan, Offer, Plan};
use spec::{HealthProtocol, SourceRange};

/// The port of the Kubernetes API, on nodes and on the load balancer.
pub(crate) const API_PORT: u16 = 6443;

/// What a plan wants at Hetzner.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<'a> {
    plan: &'a Plan,
    /// The public addresses of this machine, for `my-ip`.
    mine: &'a [IpAddr],
}

/// What a server is made with, beside its plan.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) image: Id<Image>,
    pub(crate) ssh_key: Id<SshKey>,
    pub(crate) firewall: Ours<Firewall>,
    pub(crate) placement_group: Option<Id<PlacementGroup>>,
}

impl<'a> Wanted<'a> {
    pub(crate) fn by(plan: &'a Plan, mine: &'a [IpAddr]) -> Self {
        Self { plan, mine }
    }

    /// Every name that the cluster takes.
    pub(crate) fn names(&self) -> Vec<(Kind, String)> {
        let plan = self.plan;
        let cluster = plan.cluster.to_string();
        let mut names = vec![(Kind::Network, cluster.clone()), (Kind::SshKey, cluster)];
        names.extend(plan.firewall.iter().map(|it| (Kind::Firewall, it.name.clone())));
        names.extend(plan.load_balancer.iter().map(|it| (Kind::LoadBalancer, it.name.clone())));
        names
            .extend(plan.placement_groups.iter().map(|it| (Kind::PlacementGroup, it.name.clone())));
        names.extend(plan.nodes.iter().map(|node| (Kind::Server, node.name.clone())));
        names
    }

    pub(crate) fn network(&self) -> CreateNetwork {
        CreateNetwork {
            name: self.plan.cluster.to_string(),
            ip_range: self.plan.network.network.net(),
            labels: self.labels(),
        }
    }

    pub(crate) fn subnets(&self, network: &Ours<Network>, zone: &str) -> Vec<AddSubnet> {
        let parts = &self.plan.network;
        let pools = parts.pools.iter().map(|pool| pool.subnet);
        let all = [parts.control_plane].into_iter().chain(parts.load_balancers).chain(pools);
        let wish = |subnet: spec::Cidr| AddSubnet {
            network: network.clone(),
            ip_range: subnet.net(),
            network_zone: zone.to_owned(),
        };
        all.map(wish).collect()
    }

    pub(crate) fn ssh_key(&self, public_key: &str) -> CreateSshKey {
        let name = self.plan.cluster.to_string();
        CreateSshKey { name, public_key: public_key.to_owned(), labels: self.labels() }
    }

    pub(crate) fn firewall(&self) -> Option<CreateFirewall> {
        let firewall = self.plan.firewall.as_ref()?;
        Some(CreateFirewall {
            name: firewall.name.clone(),
            rules: firewall.rules.iter().map(|rule| self.rule(rule)).collect(),
            labels: self.labels(),
        })
    }

    pub(crate) fn placement_groups(&self) -> Vec<CreatePlacementGroup> {
        let group =
            |name: &String| CreatePlacementGroup { name: name.clone(), labels: self.labels() };
        self.plan.placement_groups.iter().map(|it| group(&it.name)).collect()
    }

    pub(crate) fn load_balancer(&self) -> Option<CreateLoadBalancer> {
        let balancer = self.plan.load_balancer.as_ref()?;
        Some(CreateLoadBalancer {
            name: balancer.name.clone(),
            load_balancer_type: balancer.balancer_type.to_string(),
            location: balancer.location.to_string(),
            public_interface: balancer.public_interface,
            service: service(balancer),
            labels: self.labels(),
        })
    }

    pub(crate) fn attached(
        &self,
        balancer: &Ours<LoadBalancer>,
        network: Id<Network>,
    ) -> Option<AttachLoadBalancer> {
        let ip = self.plan.load_balancer.as_ref()?.address;
        Some(AttachLoadBalancer { load_balancer: balancer.clone(), network, ip })
    }

    pub(crate) fn target(&self, balancer: &Ours<LoadBalancer>) -> AddTarget {
        let selector = LabelSet::role_selector(self.plan.id, Role::ControlPlane);
        AddTarget { load_balancer: balancer.clone(), selector }
    }

    /// The server of a node, as each of its offers would have it.
    pub(crate) fn servers(&self, node: &NodePlan, parts: &Parts) -> Vec<CreateServer> {
        let server = |offer: &Offer| CreateServer {
            name: node.name.clone(),
            server_type: offer.server_type.to_string(),
            location: offer.location.to_string(),
            image: parts.image,
            ssh_keys: vec![parts.ssh_key],
            firewalls: vec![parts.firewall.id],
            placement_group: parts.placement_group,
            public: PublicAddresses { ipv4: self.plan.public_ipv4, ipv6: self.plan.public_ipv6 },
            labels: labels(&self.plan.labels.of_node(node)),
        };
        offers(node).iter().map(server).collect()
    }

    /// The labels of an image that these nodes can boot.
    pub(crate) fn image_labels(&self) -> Labels {
        let pairs = [("os", "talos".to_owned()), ("talos_version", self.plan.talos.to_string())];
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn labels(&self) -> Labels {
        labels(&self.plan.labels)
    }

    fn rule(&self, rule: &FirewallRule) -> Rule {
        let sources = rule.sources.iter().flat_map(|source| match source {
            SourceRange::Net(net) => vec![*net],
            SourceRange::MyIp => self.mine.iter().map(|mine| IpNet::from(*mine)).collect(),
        });
        Rule {
            direction: Direction::In,
            protocol: rule.protocol.to_string(),
            port: rule.port.as_ref().map(ToString::to_string),
            source_ips: sources.collect(),
            destination_ips: Vec::new(),
            description: Some(rule.description.clone()),
        }
    }
}

/// What may be ordered for a node, in the order of preference.
pub(crate) fn offers(node: &NodePlan) -> &[Offer] {
    match &node.hardware {
        Hardware::Server { offers, .. } => offers,
        Hardware::Vm { .. } | Hardware::Machine { .. } => &[],
    }
}

/// The architecture as Hetzner names it.
pub(crate) fn architecture(wanted: spec::Architecture) -> Architecture {
    match wanted {
        spec::Architecture::Amd64 => Architecture::X86,
        spec::Architecture::Arm64 => Architecture::Arm,
    }
}

fn labels(set: &LabelSet) -> Labels {
    set.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Without credentials the API answers 401, which only a living API does; a
/// check of the port alone is also passed by one that hangs.
fn service(balancer: &LoadBalancerPlan) -> Service {
    let http = HttpCheck {
        domain: None,
        path: "/version".to_owned(),
        response: None,
        status_codes: vec!["401".to_owned()],
        tls: true,
    };
    let (protocol, http) = match balancer.protocol {
        HealthProtocol::Http => ("http", Some(http)),
        HealthProtocol::Tcp => ("tcp", None),
    };
    Service {
        protocol: "tcp".to_owned(),
        listen_port: API_PORT,
        destination_port: API_PORT,
        proxyprotocol: false,
        health_check: HealthCheck {
            protocol: protocol.to_owned(),
            port: API_PORT,
            interval: balancer.interval.as_secs(),
            timeout: balancer.timeout.as_secs(),
            retries: balancer.retries,
            http,
        },
    }
}
