//! Groups of equal nodes: the control plane and the pools.

use std::net::Ipv4Addr;

use serde::Serialize;

use super::install::{INSTALL, Install};
use super::proxmox::PROXMOX_FEATURE;
use crate::read::{Field, Fields, Kind, Pick, Shape, Span, Spanned, optional, required};
use crate::scalar::{
    Bytes, Cidr, DnsName, Duration, ImageName, LabelKey, LabelValue, LoadBalancerType, Location,
    PoolName, ResourceName, Scalar, ServerType, Taint, Within, Word,
};

/// The nodes that run etcd and the Kubernetes API.
#[derive(Clone, Debug)]
pub struct ControlPlane {
    /// How many; 1 or 3, rarely 5.
    pub count: Option<Spanned<Within<1, 100>>>,
    /// What the nodes are like.
    pub group: NodeGroup,
    /// Whether ordinary pods may run there.
    pub schedulable: Option<Spanned<bool>>,
    /// An address that the control planes share.
    pub vip: Option<Spanned<Ipv4Addr>>,
    /// A name that leads to the API.
    pub hostname: Option<Spanned<DnsName>>,
    /// The load balancer in front of the API.
    pub load_balancer: Option<LoadBalancer>,
}

/// A group of equal worker nodes.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Its name, part of its nodes' names.
    pub name: Spanned<PoolName>,
    /// How many nodes.
    pub count: Option<Spanned<Within<0, 1000>>>,
    /// What the nodes are like.
    pub group: NodeGroup,
    /// The pool's part of Hetzner's network.
    pub subnet: Option<Spanned<Cidr>>,
}

/// What the nodes of a group are like.
#[derive(Clone, Debug)]
pub struct NodeGroup {
    /// Where the settings start.
    pub at: Span,
    /// The server type (Hetzner).
    pub server_type: Option<Spanned<ServerType>>,
    /// The location (Hetzner).
    pub location: Option<Spanned<Location>>,
    /// What is tried if the type is sold out, in this order (Hetzner).
    pub fallbacks: Vec<Fallback>,
    /// Cores (Proxmox).
    pub cores: Option<Spanned<Within<1, 512>>>,
    /// Memory (Proxmox).
    pub memory: Option<Spanned<Bytes>>,
    /// Size of the disk (Proxmox).
    pub disk: Option<Spanned<Bytes>>,
    /// Hosts, where not all of the cloud's (Proxmox).
    pub hosts: Vec<Spanned<ResourceName>>,
    /// The address of the first node; the others follow (Proxmox).
    pub first_address: Option<Spanned<Ipv4Addr>>,
    /// Labels of the nodes.
    pub labels: Vec<(Spanned<LabelKey>, Spanned<LabelValue>)>,
    /// Taints of the nodes.
    pub taints: Vec<Spanned<Taint>>,
    /// Where Talos is installed, where not as for all nodes.
    pub install: Option<Install>,
    /// The image that Talos is installed from, where not as for all nodes.
    pub installer: Option<Spanned<ImageName>>,
}

/// What is tried if a server type is sold out.
#[derive(Clone, Debug)]
pub struct Fallback {
    /// Where it is written.
    pub at: Span,
    /// Another type, in the same location unless that changes too.
    pub server_type: Option<Spanned<ServerType>>,
    /// Another location, with the same type unless that changes too.
    pub location: Option<Spanned<Location>>,
}

/// The load balancer in front of the API.
#[derive(Clone, Debug)]
pub struct LoadBalancer {
    /// Where the settings start.
    pub at: Span,
    /// Whether there is one.
    pub enabled: Option<Spanned<bool>>,
    /// Whether it has a public address.
    pub public: Option<Spanned<bool>>,
    /// Its type.
    pub balancer_type: Option<Spanned<LoadBalancerType>>,
    /// How it finds out which control planes answer.
    pub health_check: Option<HealthCheck>,
}

/// How a load balancer finds out which control planes answer.
#[derive(Clone, Debug)]
pub struct HealthCheck {
    /// How it asks.
    pub protocol: Option<Spanned<HealthProtocol>>,
    /// How often.
    pub interval: Option<Spanned<Duration>>,
    /// How long it waits for an answer.
    pub timeout: Option<Spanned<Duration>>,
    /// How many checks in a row decide that a target is unhealthy, or healthy again.
    pub retries: Option<Spanned<Within<1, 5>>>,
}

/// How a load balancer asks whether a control plane answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthProtocol {
    /// It expects an answer of the API over TLS.
    Http,
    /// It expects an open port, which a hung API still has.
    Tcp,
}

/// The settings that control plane and pools share.
/// A key of virtual machines, which only Proxmox has.
const fn vm(key: &'static str, kind: Kind, doc: &'static str) -> Field {
    optional(key, kind, doc).waits_for(PROXMOX_FEATURE, "it is a key of Proxmox: remove it")
}

const GROUP: &[Field] = &[
    optional("type", Kind::Scalar(ServerType::FORMAT), "The server type (Hetzner)."),
    optional(
        "location",
        Kind::Scalar(Location::FORMAT),
        "The location, if not the cloud's. All must lie in one network zone (Hetzner).",
    ),
    optional(
        "fallbacks",
        Kind::Maps(&FALLBACK),
        "What is tried if the type is sold out, in this order (Hetzner).",
    ),
    vm("cores", Kind::Scalar(Within::<1, 512>::FORMAT), "Cores of each VM (Proxmox)."),
    vm("memory", Kind::Scalar(Bytes::FORMAT), "Memory of each VM (Proxmox)."),
    vm("disk", Kind::Scalar(Bytes::FORMAT), "Size of each VM's disk (Proxmox)."),
    vm(
        "hosts",
        Kind::Scalars(ResourceName::FORMAT),
        "The hosts to use, if not all of the cloud's (Proxmox).",
    ),
    vm(
        "firstAddress",
        Kind::Scalar(Ipv4Addr::FORMAT),
        "The address of the first node; the others follow it (Proxmox). Leave room to grow.",
    ),
    optional(
        "labels",
        Kind::Table { keys: LabelKey::FORMAT, values: LabelValue::FORMAT },
        "Labels of the Kubernetes nodes.",
    ),
    optional(
        "taints",
        Kind::Scalars(Taint::FORMAT),
        "Taints of the Kubernetes nodes, as `key=value:Effect`.",
    ),
    optional(
        "install",
        Kind::Map(&INSTALL),
        "Where Talos is installed, if not as `talos.install` says.",
    ),
    optional(
        "installer",
        Kind::Scalar(ImageName::FORMAT),
        "The image that Talos is installed from, if not as `talos.installer` says.",
    ),
];

pub(crate) static CONTROL_PLANE: Shape = Shape {
    name: "ControlPlane",
    doc: "The nodes that run etcd and the Kubernetes API.",
    groups: &[
        &[optional(
            "count",
            Kind::Scalar(Within::<1, 100>::FORMAT),
            "How many: 1, or 3 to survive the loss of one, up to 9. Default: 1; with `machines`, as many as are listed.",
        )],
        GROUP,
        &[
            optional(
                "schedulable",
                Kind::Scalar(bool::FORMAT),
                "Whether ordinary pods may run there. Default: only if there are no workers.",
            ),
            optional(
                "vip",
                Kind::Scalar(Ipv4Addr::FORMAT),
                "An address that the control planes share: one of them answers, and tells its neighbours so (machines).",
            ),
            optional(
                "hostname",
                Kind::Scalar(DnsName::FORMAT),
                "A name that leads to the API; it is put into certificates and the kubeconfig.",
            ),
            optional(
                "loadBalancer",
                Kind::Map(&LOAD_BALANCER),
                "The load balancer in front of the API (Hetzner).",
            ),
        ],
    ],
    pick: Pick::Any,
};

pub(crate) static POOL: Shape = Shape {
    name: "Pool",
    doc: "A group of equal worker nodes.",
    groups: &[
        &[
            required(
                "name",
                Kind::Scalar(PoolName::FORMAT),
                "The pool's name, part of its nodes' names.",
            ),
            optional(
                "count",
                Kind::Scalar(Within::<0, 1000>::FORMAT),
                "How many nodes. With `machines`, as many as are listed.",
            ),
            optional(
                "subnet",
                Kind::Scalar(Cidr::FORMAT),
                "The pool's part of the node network, where its place in the list must not decide it (Hetzner).",
            ),
        ],
        GROUP,
    ],
    pick: Pick::Any,
};

static FALLBACK: Shape = Shape {
    name: "Fallback",
    doc: "What is tried if a server type is sold out: another type, another location, or both.",
    groups: &[&[
        optional(
            "type",
            Kind::Scalar(ServerType::FORMAT),
            "Another type of the same architecture.",
        ),
        optional(
            "location",
            Kind::Scalar(Location::FORMAT),
            "Another location in the same network zone.",
        ),
    ]],
    pick: Pick::Any,
};

static LOAD_BALANCER: Shape = Shape {
    name: "LoadBalancer",
    doc: "The load balancer in front of the API.",
    groups: &[&[
        optional("enabled", Kind::Scalar(bool::FORMAT), "Whether there is one. Default: true."),
        optional(
            "public",
            Kind::Scalar(bool::FORMAT),
            "Whether it has a public address. No firewall applies to a load balancer: everybody reaches a public one, and authentication alone protects the API. Without it the API is reached from the private network. Default: true.",
        ),
        optional("type", Kind::Scalar(LoadBalancerType::FORMAT), "Its type. Default: lb11."),
        optional(
            "healthCheck",
            Kind::Map(&HEALTH_CHECK),
            "How it finds out which control planes answer.",
        ),
    ]],
    pick: Pick::Any,
};

static HEALTH_CHECK: Shape = Shape {
    name: "HealthCheck",
    doc: "How a load balancer finds out which control planes answer.",
    groups: &[&[
        optional(
            "protocol",
            Kind::Scalar(HealthProtocol::FORMAT),
            "How it asks: `http` expects an answer of the API, `tcp` only an open port. Default: http.",
        ),
        optional(
            "interval",
            Kind::Scalar(Duration::FORMAT),
            "How often it asks, 3s to 60s. Default: 3s.",
        ),
        optional(
            "timeout",
            Kind::Scalar(Duration::FORMAT),
            "How long it waits for an answer, 1s to the interval. Default: 2s.",
        ),
        optional(
            "retries",
            Kind::Scalar(Within::<1, 5>::FORMAT),
            "How many checks in a row must fail until a control plane is unhealthy, and pass until it is healthy again, 1 to 5. Default: 2.",
        ),
    ]],
    pick: Pick::Any,
};

impl ControlPlane {
    pub(crate) fn decode(fields: Fields<'_>) -> Self {
        let control_plane = Self {
            count: fields.optional("count"),
            group: NodeGroup::decode(&fields),
            schedulable: fields.optional("schedulable"),
            vip: fields.optional("vip"),
            hostname: fields.optional("hostname"),
            load_balancer: fields.map("loadBalancer").map(LoadBalancer::decode),
        };
        fields.finish();
        control_plane
    }
}

impl Pool {
    pub(crate) fn decode(fields: Fields<'_>) -> Self {
        let pool = Self {
            name: fields.required("name"),
            count: fields.optional("count"),
            group: NodeGroup::decode(&fields),
            subnet: fields.optional("subnet"),
        };
        fields.finish();
        pool
    }
}

impl NodeGroup {
    fn decode(fields: &Fields<'_>) -> Self {
        Self {
            at: fields.at(),
            server_type: fields.optional("type"),
            location: fields.optional("location"),
            fallbacks: fields.maps("fallbacks").into_iter().map(Fallback::decode).collect(),
            cores: fields.optional("cores"),
            memory: fields.optional("memory"),
            disk: fields.optional("disk"),
            hosts: fields.list("hosts"),
            first_address: fields.optional("firstAddress"),
            labels: fields.table("labels"),
            taints: fields.list("taints"),
            install: fields.map("install").map(Install::decode),
            installer: fields.optional("installer"),
        }
    }
}

impl Fallback {
    fn decode(fields: Fields<'_>) -> Self {
        let fallback = Self {
            at: fields.at(),
            server_type: fields.optional("type"),
            location: fields.optional("location"),
        };
        fields.finish();
        fallback
    }
}

impl LoadBalancer {
    fn decode(fields: Fields<'_>) -> Self {
        let balancer = Self {
            at: fields.at(),
            enabled: fields.optional("enabled"),
            public: fields.optional("public"),
            balancer_type: fields.optional("type"),
            health_check: fields.map("healthCheck").map(HealthCheck::decode),
        };
        fields.finish();
        balancer
    }
}

impl HealthCheck {
    /// How often a load balancer asks, if nothing else is said.
    pub const INTERVAL: Duration = Duration::from_secs(3);
    /// How long it waits for an answer.
    pub const TIMEOUT: Duration = Duration::from_secs(2);
    /// How often an answer may be missing.
    pub const RETRIES: u32 = 2;

    fn decode(fields: Fields<'_>) -> Self {
        let check = Self {
            protocol: fields.optional("protocol"),
            interval: fields.optional("interval"),
            timeout: fields.optional("timeout"),
            retries: fields.optional("retries"),
        };
        fields.finish();
        check
    }
}

impl Word for HealthProtocol {
    const WHAT: &'static str = "health check protocol";
    const ALL: &'static [Self] = &[Self::Http, Self::Tcp];
    const WORDS: &'static [&'static str] = &["http", "tcp"];
}
