//! Proxmox VE.

use std::net::Ipv4Addr;

use crate::read::{Fields, Kind, Pick, Shape, Span, Spanned, optional, required};
use crate::scalar::{Cidr, ResourceName, Scalar, ServiceUrl, Text, Within};

/// A Proxmox VE cluster.
#[derive(Clone, Debug)]
pub struct Proxmox {
    /// Where the settings start.
    pub at: Span,
    /// The API.
    pub endpoint: Spanned<ServiceUrl>,
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

/// What its keys wait for.
pub(super) const PROXMOX_FEATURE: &str = "Proxmox";

pub(super) static PROXMOX: Shape = Shape {
    name: "Proxmox",
    doc: "Proxmox VE.",
    groups: &[&[
        required(
            "endpoint",
            Kind::Scalar(ServiceUrl::FORMAT),
            "The API, with its port and without a path: `https://pve.example.com:8006`.",
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
        required("storage", Kind::Scalar(ResourceName::FORMAT), "The storage for the VMs' disks."),
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
        required("network", Kind::Scalar(Cidr::FORMAT), "The network behind the bridge."),
        required("gateway", Kind::Scalar(Ipv4Addr::FORMAT), "The network's gateway."),
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
        required("from", Kind::Scalar(Within::<100, 999_999_999>::FORMAT), "The lowest number."),
        required("to", Kind::Scalar(Within::<100, 999_999_999>::FORMAT), "The highest number."),
    ]],
    pick: Pick::Any,
};

impl Proxmox {
    pub(super) fn decode(fields: Fields<'_>) -> Self {
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
        let range =
            Self { at: fields.at(), from: fields.required("from"), to: fields.required("to") };
        fields.finish();
        range
    }
}
