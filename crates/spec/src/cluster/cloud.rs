//! Where the cluster runs.

use std::net::Ipv4Addr;

use serde::Serialize;

use super::talos::{INSTALL, Install};
use crate::read::{Fields, Kind, Pick, Shape, Span, Spanned, optional, required};
use crate::scalar::{
    Cidr, HttpsUrl, Location, Mac, PoolName, ResourceName, Scalar, Text, Within, Word,
};

/// Where the cluster runs.
#[derive(Clone, Debug)]
pub enum Cloud {
    /// Hetzner Cloud.
    Hetzner(Hetzner),
    /// Proxmox VE.
    Proxmox(Box<Proxmox>),
    /// Machines that exist already and boot Talos.
    Machines(Machines),
}

/// The kind of a cloud, without its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CloudKind {
    /// Hetzner Cloud.
    Hetzner,
    /// Proxmox VE.
    Proxmox,
    /// Machines that exist already.
    Machines,
}

/// Hetzner Cloud.
#[derive(Clone, Debug)]
pub struct Hetzner {
    /// Where the settings start.
    pub at: Span,
    /// The location of nodes that name none themselves.
    pub location: Spanned<Location>,
    /// The private network.
    pub network: Option<Spanned<Cidr>>,
    /// Whether nodes get a public IPv4 address.
    pub public_ipv4: Option<Spanned<bool>>,
    /// Whether nodes get a public IPv6 network.
    pub public_ipv6: Option<Spanned<bool>>,
}

/// A Proxmox VE cluster.
#[derive(Clone, Debug)]
pub struct Proxmox {
    /// Where the settings start.
    pub at: Span,
    /// The API.
    pub endpoint: Spanned<HttpsUrl>,
    /// The SHA-256 fingerprint of the API's certificate, where no public authority signed it.
    pub fingerprint: Option<Spanned<Text>>,
    /// The hosts that VMs are spread over.
    pub hosts: Vec<Spanned<ResourceName>>,
    /// The storage for the VMs' disks.
    pub storage: Spanned<ResourceName>,
    /// The storage that the image is downloaded into; it must allow content `import`.
    pub import_storage: Option<Spanned<ResourceName>>,
    /// The bridge that the VMs are plugged into.
    pub bridge: Option<Spanned<ResourceName>>,
    /// The VLAN tag.
    pub vlan: Option<Spanned<Within<1, 4094>>>,
    /// The network behind the bridge.
    pub network: Spanned<Cidr>,
    /// Its gateway.
    pub gateway: Spanned<Ipv4Addr>,
    /// Resolvers.
    pub nameservers: Vec<Spanned<Ipv4Addr>>,
    /// The numbers that VMs may get.
    pub vmids: VmIds,
    /// The CPU model that guests see.
    pub cpu: Option<Spanned<Text>>,
    /// The topology region that nodes are labelled with.
    pub region: Option<Spanned<ResourceName>>,
}

/// A range of VM numbers, both ends included.
#[derive(Clone, Debug)]
pub struct VmIds {
    /// Where the range is written.
    pub at: Span,
    /// The lowest.
    pub from: Spanned<Within<100, 999_999_999>>,
    /// The highest.
    pub to: Spanned<Within<100, 999_999_999>>,
}

/// Machines that exist already and boot Talos into maintenance mode.
#[derive(Clone, Debug)]
pub struct Machines {
    /// Where the settings start.
    pub at: Span,
    /// The network that the machines share.
    pub network: Spanned<Cidr>,
    /// Its gateway.
    pub gateway: Option<Spanned<Ipv4Addr>>,
    /// Resolvers.
    pub nameservers: Vec<Spanned<Ipv4Addr>>,
    /// The machines.
    pub nodes: Vec<Machine>,
}

/// One machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its host name.
    pub name: Spanned<ResourceName>,
    /// Its address.
    pub address: Spanned<Ipv4Addr>,
    /// The pool it belongs to, or `control-plane`.
    pub pool: Spanned<PoolName>,
    /// The MAC address that proves that it is the machine that is meant.
    pub mac: Option<Spanned<Mac>>,
    /// Where Talos is installed, where the machine differs from the others.
    pub install: Option<Install>,
}

pub(crate) static CLOUD: Shape = Shape {
    name: "Cloud",
    doc: "Where the cluster runs.",
    groups: &[&[
        optional(
            "hetzner",
            Kind::Map(&HETZNER),
            "Hetzner Cloud. The token comes from the environment or a file.",
        ),
        optional(
            "proxmox",
            Kind::Map(&PROXMOX),
            "Proxmox VE 8.4 or newer. The API token comes from the environment or a file.",
        ),
        optional(
            "machines",
            Kind::Map(&MACHINES),
            "Machines that exist already and wait in Talos maintenance mode.",
        ),
    ]],
    pick: Pick::One,
};

static HETZNER: Shape = Shape {
    name: "Hetzner",
    doc: "Hetzner Cloud.",
    groups: &[&[
        required(
            "location",
            Kind::Scalar(Location::FORMAT),
            "The location of nodes that name none themselves, and of the load balancer.",
        ),
        optional(
            "network",
            Kind::Scalar(Cidr::FORMAT),
            "The private network, /8 to /21. Nodes, services and pods get parts of it. Default: 10.0.0.0/16.",
        ),
        optional(
            "publicIPv4",
            Kind::Scalar(bool::FORMAT),
            "Whether nodes get a public IPv4 address, which costs extra. Default: true.",
        ),
        optional(
            "publicIPv6",
            Kind::Scalar(bool::FORMAT),
            "Whether nodes get a public IPv6 network. Default: true.",
        ),
    ]],
    pick: Pick::Any,
};

static PROXMOX: Shape = Shape {
    name: "Proxmox",
    doc: "Proxmox VE.",
    groups: &[&[
        required(
            "endpoint",
            Kind::Scalar(HttpsUrl::FORMAT),
            "The API, with its port: `https://pve.example.com:8006`.",
        ),
        optional(
            "fingerprint",
            Kind::Scalar(Text::FORMAT),
            "The SHA-256 fingerprint of the API's certificate, where no public authority signed it.",
        ),
        required(
            "hosts",
            Kind::Scalars(ResourceName::FORMAT),
            "The Proxmox hosts that VMs are spread over, in turn.",
        ),
        required(
            "storage",
            Kind::Scalar(ResourceName::FORMAT),
            "The storage for the VMs' disks.",
        ),
        optional(
            "importStorage",
            Kind::Scalar(ResourceName::FORMAT),
            "The storage that the image is downloaded into. It must allow content `import`. Default: local.",
        ),
        optional(
            "bridge",
            Kind::Scalar(ResourceName::FORMAT),
            "The bridge that VMs are plugged into. Default: vmbr0.",
        ),
        optional(
            "vlan",
            Kind::Scalar(Within::<1, 4094>::FORMAT),
            "The VLAN tag of the VMs' network cards.",
        ),
        required(
            "network",
            Kind::Scalar(Cidr::FORMAT),
            "The network behind the bridge.",
        ),
        required(
            "gateway",
            Kind::Scalar(Ipv4Addr::FORMAT),
            "The network's gateway.",
        ),
        optional(
            "nameservers",
            Kind::Scalars(Ipv4Addr::FORMAT),
            "Resolvers for the nodes. Default: the gateway.",
        ),
        required(
            "vmids",
            Kind::Map(&VMIDS),
            "The numbers that VMs may get. A VM's number is the first plus the host part of its address.",
        ),
        optional(
            "cpu",
            Kind::Scalar(Text::FORMAT),
            "The CPU model that guests see, at least x86-64-v2. Default: host.",
        ),
        optional(
            "region",
            Kind::Scalar(ResourceName::FORMAT),
            "The topology region that nodes are labelled with; proxmox-csi needs it. Default: the cluster's name.",
        ),
    ]],
    pick: Pick::Any,
};

static VMIDS: Shape = Shape {
    name: "VmIds",
    doc: "A range of VM numbers, both ends included.",
    groups: &[&[
        required(
            "from",
            Kind::Scalar(Within::<100, 999_999_999>::FORMAT),
            "The lowest number.",
        ),
        required(
            "to",
            Kind::Scalar(Within::<100, 999_999_999>::FORMAT),
            "The highest number.",
        ),
    ]],
    pick: Pick::Any,
};

static MACHINES: Shape = Shape {
    name: "Machines",
    doc: "Machines that exist already.",
    groups: &[&[
        required(
            "network",
            Kind::Scalar(Cidr::FORMAT),
            "The network that the machines share.",
        ),
        optional(
            "gateway",
            Kind::Scalar(Ipv4Addr::FORMAT),
            "The network's gateway. Without it the machines keep what DHCP gives them.",
        ),
        optional(
            "nameservers",
            Kind::Scalars(Ipv4Addr::FORMAT),
            "Resolvers for the nodes.",
        ),
        required("nodes", Kind::Maps(&MACHINE), "The machines."),
    ]],
    pick: Pick::Any,
};

static MACHINE: Shape = Shape {
    name: "Machine",
    doc: "One machine that waits in Talos maintenance mode.",
    groups: &[&[
        required("name", Kind::Scalar(ResourceName::FORMAT), "Its host name."),
        required("address", Kind::Scalar(Ipv4Addr::FORMAT), "Its address."),
        required(
            "pool",
            Kind::Scalar(PoolName::FORMAT),
            "The pool it belongs to, or `control-plane`.",
        ),
        optional(
            "mac",
            Kind::Scalar(Mac::FORMAT),
            "Its MAC address: proof that it is the machine that is meant.",
        ),
        optional(
            "install",
            Kind::Map(&INSTALL),
            "Where Talos is installed, if not as `talos.install` says.",
        ),
    ]],
    pick: Pick::Any,
};

/// What a machine's `pool` says if it is a control plane.
pub(crate) const CONTROL_PLANE_POOL: &str = "control-plane";

impl Word for CloudKind {
    const WHAT: &'static str = "cloud";
    const ALL: &'static [Self] = &[Self::Hetzner, Self::Proxmox, Self::Machines];
    const WORDS: &'static [&'static str] = &["hetzner", "proxmox", "machines"];
}

impl CloudKind {
    /// The key in the cluster file.
    pub fn as_str(self) -> &'static str {
        self.word()
    }

    /// Reads the name of a cloud, for flags and questions.
    pub fn parse(text: &str) -> Result<Self, String> {
        <Self as Scalar>::read(text).map_err(|complaint| complaint.label)
    }
}

impl Cloud {
    pub(crate) fn decode(fields: Fields<'_>) -> Self {
        let hetzner = fields.map("hetzner").map(Hetzner::decode);
        let proxmox = fields.map("proxmox").map(Proxmox::decode);
        let machines = fields.map("machines").map(Machines::decode);
        fields.finish();
        match (hetzner, proxmox, machines) {
            (Some(hetzner), _, _) => Self::Hetzner(hetzner),
            (_, Some(proxmox), _) => Self::Proxmox(Box::new(proxmox)),
            (_, _, Some(machines)) => Self::Machines(machines),
            (None, None, None) => Self::Hetzner(Hetzner::stand_in()),
        }
    }

    /// The kind of the cloud.
    pub fn kind(&self) -> CloudKind {
        match self {
            Self::Hetzner(_) => CloudKind::Hetzner,
            Self::Proxmox(_) => CloudKind::Proxmox,
            Self::Machines(_) => CloudKind::Machines,
        }
    }

    /// Where the settings start.
    pub fn at(&self) -> Span {
        match self {
            Self::Hetzner(hetzner) => hetzner.at,
            Self::Proxmox(proxmox) => proxmox.at,
            Self::Machines(machines) => machines.at,
        }
    }
}

impl Hetzner {
    fn decode(fields: Fields<'_>) -> Self {
        let hetzner = Self {
            at: fields.at(),
            location: fields.required("location"),
            network: fields.optional("network"),
            public_ipv4: fields.optional("publicIPv4"),
            public_ipv6: fields.optional("publicIPv6"),
        };
        fields.finish();
        hetzner
    }

    /// What stands in where no cloud could be read.
    fn stand_in() -> Self {
        Self {
            at: Span::NOWHERE,
            location: Spanned::new(Location::Fsn1, Span::NOWHERE),
            network: None,
            public_ipv4: None,
            public_ipv6: None,
        }
    }

    /// The private network.
    pub fn network(&self) -> Cidr {
        self.network
            .as_ref()
            .map_or_else(Cidr::stand_in, |network| network.value)
    }
}

impl Proxmox {
    fn decode(fields: Fields<'_>) -> Self {
        let proxmox = Self {
            at: fields.at(),
            endpoint: fields.required("endpoint"),
            fingerprint: fields.optional("fingerprint"),
            hosts: fields.list("hosts"),
            storage: fields.required("storage"),
            import_storage: fields.optional("importStorage"),
            bridge: fields.optional("bridge"),
            vlan: fields.optional("vlan"),
            network: fields.required("network"),
            gateway: fields.required("gateway"),
            nameservers: fields.list("nameservers"),
            vmids: VmIds::decode(fields.required_map("vmids")),
            cpu: fields.optional("cpu"),
            region: fields.optional("region"),
        };
        fields.finish();
        proxmox
    }
}

impl VmIds {
    fn decode(fields: Fields<'_>) -> Self {
        let range = Self {
            at: fields.at(),
            from: fields.required("from"),
            to: fields.required("to"),
        };
        fields.finish();
        range
    }
}

impl Machines {
    fn decode(fields: Fields<'_>) -> Self {
        let machines = Self {
            at: fields.at(),
            network: fields.required("network"),
            gateway: fields.optional("gateway"),
            nameservers: fields.list("nameservers"),
            nodes: fields
                .maps("nodes")
                .into_iter()
                .map(Machine::decode)
                .collect(),
        };
        fields.finish();
        machines
    }

    /// The machines of a pool, or of the control plane.
    pub fn members<'a>(&'a self, pool: &'a str) -> impl Iterator<Item = &'a Machine> {
        self.nodes
            .iter()
            .filter(move |machine| machine.pool.as_str() == pool)
    }

    pub(crate) fn control_planes(&self) -> u32 {
        count(self.members(CONTROL_PLANE_POOL))
    }

    pub(crate) fn in_pool(&self, pool: &PoolName) -> u32 {
        count(self.members(pool.as_str()))
    }
}

fn count<'a>(machines: impl Iterator<Item = &'a Machine>) -> u32 {
    u32::try_from(machines.count()).unwrap_or(u32::MAX)
}

impl Machine {
    fn decode(fields: Fields<'_>) -> Self {
        let machine = Self {
            name: fields.required("name"),
            address: fields.required("address"),
            pool: fields.required("pool"),
            mac: fields.optional("mac"),
            install: fields.map("install").map(Install::decode),
        };
        fields.finish();
        machine
    }
}
