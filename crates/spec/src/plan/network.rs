//! Which addresses are for what.

use std::net::Ipv4Addr;

use serde::Serialize;

use crate::cluster::{Cloud, Cluster, Hetzner};
use crate::scalar::{Cidr, PoolName};

/// The networks of a cluster; nodes, pods and services never share an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPlan {
    /// The network that the nodes are in.
    pub network: Cidr,
    /// Its part for nodes and load balancers.
    pub nodes: Cidr,
    /// Addresses of pods.
    pub pods: Cidr,
    /// Addresses of services.
    pub services: Cidr,
    /// The router, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Ipv4Addr>,
    /// The control planes' subnet.
    pub control_plane: Cidr,
    /// The load balancers' subnet (Hetzner).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancers: Option<Cidr>,
    /// The subnet of each pool, in the order of the file.
    pub pools: Vec<PoolSubnet>,
}

/// The addresses of a pool's nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolSubnet {
    /// The pool.
    pub pool: PoolName,
    /// Its addresses.
    pub subnet: Cidr,
}

/// Hetzner's network at its largest: the whole of `10.0.0.0/8`.
pub(crate) const LARGEST_NETWORK: u8 = 8;

/// An eighth of it is for services, which need a /24 at least.
pub(crate) const SMALLEST_NETWORK: u8 = 21;

/// Kubernetes refuses a larger network for services.
const LARGEST_SERVICE_NETWORK: u8 = 12;

/// The first subnet is the control planes', the second the load balancers'.
pub(crate) const SUBNETS_BEFORE_POOLS: u32 = 2;

/// The first ten addresses of a subnet stay free for the gateway and for VIPs.
const FIRST_NODE: u32 = 10;

const PODS: Cidr = Cidr::assert([10, 244, 0, 0], 16);
const SERVICES: Cidr = Cidr::assert([10, 96, 0, 0], 16);

impl NetworkPlan {
    /// Plans the networks; `None` if Hetzner's network has no room for the parts.
    pub fn of(cluster: &Cluster) -> Option<Self> {
        match &cluster.cloud {
            Cloud::Hetzner(hetzner) => Self::of_hetzner(cluster, hetzner),
            Cloud::Proxmox(proxmox) => {
                Some(Self::flat(cluster, proxmox.network.value, Some(proxmox.gateway.value)))
            }
            Cloud::Machines(machines) => {
                let gateway = machines.gateway.as_ref().map(|gateway| gateway.value);
                Some(Self::flat(cluster, machines.network.value, gateway))
            }
        }
    }

    /// Cuts Hetzner's network into eighths: the third is for nodes, the fourth
    /// for services, and the upper half for pods, as its best-known Terraform
    /// module does, so that clusters can move between the two.
    fn of_hetzner(cluster: &Cluster, hetzner: &Hetzner) -> Option<Self> {
        let network = hetzner.network();
        if !(LARGEST_NETWORK..=SMALLEST_NETWORK).contains(&network.prefix()) {
            return None;
        }
        let nodes = network.part(3, 2);
        let subnets = Subnets::of(nodes);
        let pools = cluster.pools.iter().enumerate().map(|(index, pool)| {
            let subnet = match &pool.subnet {
                Some(subnet) => subnet.value,
                None => subnets.get(SUBNETS_BEFORE_POOLS + u32::try_from(index).ok()?)?,
            };
            Some(PoolSubnet { pool: pool.name.value.clone(), subnet })
        });
        Some(Self {
            network,
            nodes,
            pods: asked(cluster.kubernetes.pod_cidr.as_ref(), network.part(1, 1)),
            services: asked(cluster.kubernetes.service_cidr.as_ref(), service_part(network)),
            gateway: network.host(1),
            control_plane: subnets.get(0)?,
            load_balancers: Some(subnets.get(1)?),
            pools: pools.collect::<Option<_>>()?,
        })
    }

    /// One network for all nodes, as Proxmox bridges and machines have it.
    fn flat(cluster: &Cluster, network: Cidr, gateway: Option<Ipv4Addr>) -> Self {
        Self {
            network,
            nodes: network,
            pods: asked(cluster.kubernetes.pod_cidr.as_ref(), PODS),
            services: asked(cluster.kubernetes.service_cidr.as_ref(), SERVICES),
            gateway,
            control_plane: network,
            load_balancers: None,
            pools: cluster
                .pools
                .iter()
                .map(|pool| PoolSubnet { pool: pool.name.value.clone(), subnet: network })
                .collect(),
        }
    }

    /// The address of a subnet's node, counted from one; `None` if there is no room.
    pub(crate) fn node_address(subnet: Cidr, number: u32) -> Option<Ipv4Addr> {
        subnet.host(FIRST_NODE + number)
    }

    /// How many subnets Hetzner's node network is cut into.
    pub(crate) fn subnet_count(network: Cidr) -> u32 {
        Subnets::of(network.part(3, 2)).count()
    }

    /// How many nodes fit into a subnet.
    pub(crate) fn capacity(subnet: Cidr) -> u32 {
        let addresses = 1_u32.checked_shl(32 - u32::from(subnet.prefix())).unwrap_or(u32::MAX);
        // Neither the first ten, the network address among them, nor the broadcast address.
        addresses.saturating_sub(FIRST_NODE + 2)
    }
}

/// The fourth eighth, or as much of it as Kubernetes takes.
fn service_part(network: Cidr) -> Cidr {
    let eighth = network.part(3, 3);
    eighth.part(LARGEST_SERVICE_NETWORK.saturating_sub(eighth.prefix()), 0)
}

fn asked(cidr: Option<&crate::read::Spanned<Cidr>>, default: Cidr) -> Cidr {
    cidr.map_or(default, |cidr| cidr.value)
}

/// The node network, cut into subnets that hold a hundred nodes where there is room.
struct Subnets {
    nodes: Cidr,
    bits: u8,
}

impl Subnets {
    fn of(nodes: Cidr) -> Self {
        // Hetzner allows a hundred servers in a network: a /25 is enough for
        // any pool, and a /26 is the least that leaves room to grow.
        let prefix = (nodes.prefix() + 6).clamp(25, 26);
        Self { nodes, bits: prefix - nodes.prefix() }
    }

    fn count(&self) -> u32 {
        1 << self.bits
    }

    fn get(&self, index: u32) -> Option<Cidr> {
        (index < self.count()).then(|| self.nodes.part(self.bits, index))
    }
}
