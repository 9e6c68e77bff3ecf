//! Which nodes there are: names, addresses, hardware.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use events::{ClusterId, Role};
use serde::Serialize;

use super::disk::InstallDisk;
use super::network::{NetworkPlan, PoolSubnet};
use crate::cluster::{Cloud, Cluster, Hetzner, Machine, NodeGroup, Proxmox};
use crate::read::Spanned;
use crate::scalar::{
    Bytes, Cidr, ClusterName, ImageName, LabelKey, LabelValue, Location, Mac, PoolName,
    ResourceName, ServerType, Taint,
};

/// A node to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePlan {
    /// Its name: of the server or VM, of the host, and of the Kubernetes node.
    pub name: String,
    /// What it does.
    pub role: Role,
    /// Its pool, if it is a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolName>,
    /// Its private address.
    pub address: Ipv4Addr,
    /// What it runs on.
    pub hardware: Hardware,
    /// The image that Talos is installed from, where it is not Talos' own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installer: Option<ImageName>,
    /// The labels of its Kubernetes node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The taints of its Kubernetes node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
}

/// What a node runs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum Hardware {
    /// A server at Hetzner.
    Server {
        /// What to order: the first that is not sold out.
        offers: Vec<Offer>,
        /// The placement group that keeps it apart from its siblings.
        placement_group: String,
    },
    /// A VM on Proxmox.
    Vm {
        /// The host it runs on.
        host: ResourceName,
        /// Its number.
        vmid: u32,
        /// The MAC address of its network card; none before the cluster has its identity.
        #[serde(skip_serializing_if = "Option::is_none")]
        mac: Option<Mac>,
        /// Its cores.
        cores: u32,
        /// Its memory.
        memory: Bytes,
        /// The size of its disk.
        disk: Bytes,
    },
    /// A machine that exists already.
    Machine {
        /// Its MAC address, where the file says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        mac: Option<Mac>,
        /// The disk that Talos is installed on.
        #[serde(skip_serializing_if = "Option::is_none")]
        install: Option<InstallDisk>,
    },
}

/// A server type in a location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    /// The type.
    pub server_type: ServerType,
    /// The location.
    pub location: Location,
}

/// Servers that Hetzner keeps on different hosts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacementGroup {
    /// Its name.
    pub name: String,
    /// Its servers, at most ten.
    pub members: Vec<String>,
}

/// The most servers that a spread placement group takes.
const GROUP_SIZE: u32 = 10;

/// One group of equal nodes with everything that its nodes share.
struct Group<'a> {
    cluster: &'a Cluster,
    id: ClusterId,
    role: Role,
    /// The pool's name, or `cp`.
    name: &'a str,
    pool: Option<&'a PoolName>,
    settings: &'a NodeGroup,
    subnet: Cidr,
    count: u32,
}

/// The name of a pool's node, counted from one; the control planes' pool is `cp`.
pub(crate) fn pool_node_name(cluster: &ClusterName, pool: &str, number: u32) -> String {
    format!("{cluster}-{pool}-{number}")
}

/// Plans all nodes, control planes first.
pub(super) fn nodes(cluster: &Cluster, network: &NetworkPlan, id: ClusterId) -> Vec<NodePlan> {
    let control_plane = Group {
        cluster,
        id,
        role: Role::ControlPlane,
        name: "cp",
        pool: None,
        settings: &cluster.control_plane.group,
        subnet: network.control_plane,
        count: cluster.control_plane_count(),
    };
    let pools =
        cluster.pools.iter().zip(&network.pools).map(|(pool, PoolSubnet { subnet, .. })| Group {
            cluster,
            id,
            role: Role::Worker,
            name: pool.name.as_str(),
            pool: Some(&pool.name.value),
            settings: &pool.group,
            subnet: *subnet,
            count: cluster.pool_count(pool),
        });
    std::iter::once(control_plane).chain(pools).flat_map(|group| group.nodes()).collect()
}

impl Group<'_> {
    fn nodes(&self) -> Vec<NodePlan> {
        match &self.cluster.cloud {
            Cloud::Hetzner(hetzner) => self.numbered(|number| self.server(hetzner, number)),
            Cloud::Proxmox(proxmox) => self.numbered(|number| self.vm(proxmox, number)),
            Cloud::Machines(machines) => {
                let pool = self.pool.map_or(crate::cluster::CONTROL_PLANE_POOL, PoolName::as_str);
                machines.members(pool).map(|machine| self.machine(machine)).collect()
            }
        }
    }

    fn numbered(&self, hardware: impl Fn(u32) -> Option<(Ipv4Addr, Hardware)>) -> Vec<NodePlan> {
        let node = |number| {
            let (address, hardware) = hardware(number)?;
            let name = pool_node_name(&self.cluster.name, self.name, number);
            Some(self.node(name, address, hardware))
        };
        (1..=self.count).filter_map(node).collect()
    }

    fn server(&self, hetzner: &Hetzner, number: u32) -> Option<(Ipv4Addr, Hardware)> {
        let address = NetworkPlan::node_address(self.subnet, number)?;
        let shard = (number - 1) / GROUP_SIZE + 1;
        let placement_group = format!("{}-{}-spread-{shard}", self.cluster.name.value, self.name);
        Some((address, Hardware::Server { offers: self.offers(hetzner)?, placement_group }))
    }

    /// The type and location asked for, then the fallbacks in their order.
    fn offers(&self, hetzner: &Hetzner) -> Option<Vec<Offer>> {
        let first = Offer {
            server_type: self.settings.server_type.as_ref()?.value.clone(),
            location: self
                .settings
                .location
                .as_ref()
                .map_or(hetzner.location.value, |location| location.value),
        };
        let fallbacks = self.settings.fallbacks.iter().map(|fallback| Offer {
            server_type: fallback
                .server_type
                .as_ref()
                .map_or(&first.server_type, |other| &other.value)
                .clone(),
            location: fallback.location.as_ref().map_or(first.location, |other| other.value),
        });
        Some(std::iter::once(first.clone()).chain(fallbacks).collect())
    }

    fn vm(&self, proxmox: &Proxmox, number: u32) -> Option<(Ipv4Addr, Hardware)> {
        let first = u32::from(self.settings.first_address.as_ref()?.value);
        let address = Ipv4Addr::from(first.checked_add(number - 1)?);
        let hosts =
            if self.settings.hosts.is_empty() { &proxmox.hosts } else { &self.settings.hosts };
        let turn = usize::try_from(number - 1).ok()?.checked_rem(hosts.len())?;
        Some((
            address,
            Hardware::Vm {
                host: hosts[turn].value.clone(),
                vmid: vmid(proxmox, address)?,
                mac: mac(self.id, address),
                cores: self.settings.cores.as_ref()?.get(),
                memory: self.settings.memory.as_ref()?.value,
                disk: self.settings.disk.as_ref()?.value,
            },
        ))
    }

    fn machine(&self, machine: &Machine) -> NodePlan {
        let hardware = Hardware::Machine {
            mac: machine.mac.as_ref().map(|mac| mac.value),
            install: InstallDisk::of(self.cluster, self.settings, machine),
        };
        self.node(machine.name.as_str().to_owned(), machine.address.value, hardware)
    }

    fn node(&self, name: String, address: Ipv4Addr, hardware: Hardware) -> NodePlan {
        let label = |(key, value): &(Spanned<LabelKey>, Spanned<LabelValue>)| {
            (key.as_str().to_owned(), value.as_str().to_owned())
        };
        let installer = self.settings.installer.as_ref().or(self.cluster.talos.installer.as_ref());
        NodePlan {
            name,
            role: self.role,
            pool: self.pool.cloned(),
            address,
            hardware,
            installer: installer.map(|image| image.value.clone()),
            labels: self.settings.labels.iter().map(label).collect(),
            taints: self.settings.taints.iter().map(|taint| taint.value.clone()).collect(),
        }
    }
}

/// A VM's number: the first of the range plus the host part of its address, so
/// that it depends on no other VM.
pub(crate) fn vmid(proxmox: &Proxmox, address: Ipv4Addr) -> Option<u32> {
    proxmox.vmids.from.get().checked_add(proxmox.network.number_of(address)?)
}

/// A MAC address that no other cluster and no other node of this one has.
fn mac(id: ClusterId, address: Ipv4Addr) -> Option<Mac> {
    if id == ClusterId::NIL {
        return None;
    }
    let [first, second, ..] = *id.as_bytes();
    let [_, b, c, d] = address.octets();
    Some(Mac::local([first, second, b, c, d]))
}

/// Which servers share a placement group.
pub(super) fn placement_groups(nodes: &[NodePlan]) -> Vec<PlacementGroup> {
    let mut groups: Vec<PlacementGroup> = Vec::new();
    for node in nodes {
        let Hardware::Server { placement_group, .. } = &node.hardware else {
            continue;
        };
        match groups.iter_mut().find(|group| group.name == *placement_group) {
            Some(group) => group.members.push(node.name.clone()),
            None => groups.push(PlacementGroup {
                name: placement_group.clone(),
                members: vec![node.name.clone()],
            }),
        }
    }
    groups
}
