//! The plan as a whole.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde::Serialize;

use super::addon::{AddonPlan, addons};
use super::extra::{ManifestPlan, ProofPlan, manifests};
use super::firewall::{FirewallPlan, firewall};
use super::label::LabelSet;
use super::network::NetworkPlan;
use super::node::{Hardware, NodePlan, PlacementGroup, nodes, placement_groups};
use super::san::{San, sans};
use super::system::SystemPlan;
use super::timeout::Timeouts;
use crate::cluster::{Cloud, CloudKind, Cluster, HealthCheck, HealthProtocol, Hetzner};
use crate::read::Spanned;
use crate::scalar::{
    Architecture, ClusterName, Duration, Euro, LoadBalancerType, Location, Version,
};
use events::ClusterId;

/// Everything that a cluster file means, decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The cluster's name.
    pub cluster: ClusterName,
    /// The cluster's identity; nil, and left out, before the first run has made it.
    #[serde(skip_serializing_if = "is_unknown")]
    pub id: ClusterId,
    /// Where it runs.
    pub cloud: CloudKind,
    /// The Talos version.
    pub talos: Version,
    /// The Kubernetes version.
    pub kubernetes: Version,
    /// The architectures that an image is needed for.
    pub architectures: Vec<Architecture>,
    /// The networks.
    pub network: NetworkPlan,
    /// The nodes, control planes first.
    pub nodes: Vec<NodePlan>,
    /// Which servers are kept apart.
    pub placement_groups: Vec<PlacementGroup>,
    /// Whether servers get a public IPv4 address.
    #[serde(rename = "publicIPv4")]
    pub public_ipv4: bool,
    /// Whether servers get a public IPv6 network.
    #[serde(rename = "publicIPv6")]
    pub public_ipv6: bool,
    /// The load balancer in front of the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer: Option<LoadBalancerPlan>,
    /// The firewall around the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firewall: Option<FirewallPlan>,
    /// How the API is reached.
    pub endpoint: Endpoint,
    /// What the API's certificate is valid for.
    pub sans: Vec<San>,
    /// What machine configs say besides.
    #[serde(skip_serializing_if = "SystemPlan::is_default")]
    pub system: SystemPlan,
    /// The labels of everything.
    pub labels: LabelSet,
    /// The addons, in the order in which they are needed.
    pub addons: Vec<AddonPlan>,
    /// What is applied besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub manifests: Vec<ManifestPlan>,
    /// What the network of pods is proven with.
    #[serde(skip_serializing_if = "ProofPlan::is_default")]
    pub proof: ProofPlan,
    /// How long gates may wait.
    pub timeouts: Timeouts,
    /// How long everything has to stay healthy.
    pub stability_window: Duration,
    /// The most it may cost a month.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_monthly_eur: Option<Euro>,
}

/// How the API is reached from outside and by the nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Endpoint {
    /// By a name.
    Hostname(String),
    /// Through the load balancer, at the public address that it will get.
    LoadBalancer(String),
    /// Through a load balancer without a public address.
    PrivateLoadBalancer(Ipv4Addr),
    /// By an address that the control planes share.
    Vip(Ipv4Addr),
    /// At the only control plane.
    Node(Ipv4Addr),
}

/// The load balancer in front of the API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerPlan {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub balancer_type: LoadBalancerType,
    /// Its location.
    pub location: Location,
    /// Its private address.
    pub address: Ipv4Addr,
    /// Whether it has a public address, which no firewall guards.
    pub public_interface: bool,
    /// How it asks whether a control plane answers.
    pub protocol: HealthProtocol,
    /// How often it asks.
    pub interval: Duration,
    /// How long it waits for an answer.
    pub timeout: Duration,
    /// How often an answer may be missing.
    pub retries: u32,
}

impl Plan {
    /// Plans a cluster that was read without errors.
    ///
    /// # Panics
    /// Never for a cluster from [`crate::read`]: validation has proven that
    /// its networks have room.
    pub fn of(cluster: &Cluster, id: ClusterId) -> Self {
        let network =
            NetworkPlan::of(cluster).expect("validation has proven that the network has room");
        let nodes = nodes(cluster, &network, id);
        let load_balancer = load_balancer(cluster, &network);
        Self {
            cluster: cluster.name.value.clone(),
            id,
            cloud: cluster.cloud.kind(),
            talos: cluster.talos.version.value.clone(),
            kubernetes: cluster.kubernetes.version.value.clone(),
            architectures: architectures(&nodes),
            placement_groups: placement_groups(&nodes),
            public_ipv4: is_public(cluster, |hetzner| hetzner.public_ipv4.as_ref()),
            public_ipv6: is_public(cluster, |hetzner| hetzner.public_ipv6.as_ref()),
            endpoint: endpoint(cluster, &nodes, load_balancer.as_ref()),
            sans: sans(cluster, &nodes, load_balancer.as_ref()),
            network,
            nodes,
            load_balancer,
            firewall: firewall(cluster),
            system: SystemPlan::of(cluster),
            labels: LabelSet::of_cluster(cluster, id),
            addons: addons(cluster),
            manifests: manifests(cluster),
            proof: ProofPlan::of(cluster),
            timeouts: Timeouts::of(cluster),
            stability_window: cluster
                .stability_window
                .as_ref()
                .map_or(Timeouts::STABILITY_WINDOW, |window| window.value),
            max_monthly_eur: cluster.max_monthly_eur.as_ref().map(|limit| limit.value),
        }
    }
}

fn is_unknown(id: &ClusterId) -> bool {
    *id == ClusterId::NIL
}

fn architectures(nodes: &[NodePlan]) -> Vec<Architecture> {
    let of_node = |node: &NodePlan| match &node.hardware {
        Hardware::Server { offers, .. } => {
            offers.first().map(|offer| offer.server_type.architecture())
        }
        Hardware::Vm { .. } => Some(Architecture::Amd64),
        // The machine booted Talos already; it needs no image from us.
        Hardware::Machine { .. } => None,
    };
    nodes.iter().filter_map(of_node).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether servers get a public address of a kind; they do unless the file says otherwise.
fn is_public(cluster: &Cluster, wanted: impl Fn(&Hetzner) -> Option<&Spanned<bool>>) -> bool {
    match &cluster.cloud {
        Cloud::Hetzner(hetzner) => wanted(hetzner).is_none_or(|wanted| wanted.value),
        Cloud::Proxmox(_) | Cloud::Machines(_) => false,
    }
}

fn load_balancer(cluster: &Cluster, network: &NetworkPlan) -> Option<LoadBalancerPlan> {
    let Cloud::Hetzner(hetzner) = &cluster.cloud else {
        return None;
    };
    let address = NetworkPlan::node_address(network.load_balancers?, 1)?;
    wants_load_balancer(cluster).then(|| planned_balancer(cluster, hetzner, address))
}

/// Whether there is a load balancer: there is unless the file says otherwise.
pub(crate) fn wants_load_balancer(cluster: &Cluster) -> bool {
    let asked = cluster.control_plane.load_balancer.as_ref();
    asked.and_then(|balancer| balancer.enabled.as_ref()).is_none_or(|enabled| enabled.value)
}

/// Whether a load balancer would have a public address.
pub(crate) fn has_public_balancer(cluster: &Cluster) -> bool {
    let asked = cluster.control_plane.load_balancer.as_ref();
    wants_load_balancer(cluster)
        && asked.and_then(|asked| asked.public.as_ref()).is_none_or(|public| public.value)
}

fn planned_balancer(cluster: &Cluster, hetzner: &Hetzner, address: Ipv4Addr) -> LoadBalancerPlan {
    let asked = cluster.control_plane.load_balancer.as_ref();
    let check = asked.and_then(|balancer| balancer.health_check.as_ref());
    LoadBalancerPlan {
        name: format!("{}-api", cluster.name.value),
        balancer_type: asked
            .and_then(|balancer| balancer.balancer_type.as_ref())
            .map_or(LoadBalancerType::Lb11, |balancer_type| balancer_type.value),
        location: hetzner.location.value,
        address,
        public_interface: has_public_balancer(cluster),
        protocol: check
            .and_then(|check| check.protocol.as_ref())
            .map_or(HealthProtocol::Http, |it| it.value),
        interval: check
            .and_then(|check| check.interval.as_ref())
            .map_or(HealthCheck::INTERVAL, |it| it.value),
        timeout: check
            .and_then(|check| check.timeout.as_ref())
            .map_or(HealthCheck::TIMEOUT, |it| it.value),
        retries: check
            .and_then(|check| check.retries.as_ref())
            .map_or(HealthCheck::RETRIES, |it| it.get()),
    }
}

fn endpoint(
    cluster: &Cluster,
    nodes: &[NodePlan],
    balancer: Option<&LoadBalancerPlan>,
) -> Endpoint {
    let first = nodes.first().map_or(Ipv4Addr::LOCALHOST, |node| node.address);
    match (&cluster.control_plane.hostname, balancer, &cluster.control_plane.vip) {
        (Some(name), _, _) => Endpoint::Hostname(name.value.to_string()),
        (None, Some(balancer), _) if balancer.public_interface => {
            Endpoint::LoadBalancer(balancer.name.clone())
        }
        (None, Some(balancer), _) => Endpoint::PrivateLoadBalancer(balancer.address),
        (None, None, Some(vip)) => Endpoint::Vip(vip.value),
        (None, None, None) => Endpoint::Node(first),
    }
}
