//! Machines that exist already.

use std::net::Ipv4Addr;

use super::install::{INSTALL, Install};
use crate::read::{Fields, Kind, Pick, Shape, Span, Spanned, optional, required};
use crate::scalar::{Cidr, Mac, PoolName, ResourceName, Scalar};

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

pub(super) static MACHINES: Shape = Shape {
    name: "Machines",
    doc: "Machines that exist already.",
    groups: &[&[
        required("network", Kind::Scalar(Cidr::FORMAT), "The network that the machines share."),
        optional(
            "gateway",
            Kind::Scalar(Ipv4Addr::FORMAT),
            "The network's gateway. Without it the machines keep what DHCP gives them.",
        ),
        optional("nameservers", Kind::Scalars(Ipv4Addr::FORMAT), "Resolvers for the nodes."),
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

impl Machines {
    pub(super) fn decode(fields: Fields<'_>) -> Self {
        let machines = Self {
            at: fields.at(),
            network: fields.required("network"),
            gateway: fields.optional("gateway"),
            nameservers: fields.list("nameservers"),
            nodes: fields.maps("nodes").into_iter().map(Machine::decode).collect(),
        };
        fields.finish();
        machines
    }

    /// The machines of a pool, or of the control plane.
    pub fn members<'a>(&'a self, pool: &'a str) -> impl Iterator<Item = &'a Machine> {
        self.nodes.iter().filter(move |machine| machine.pool.as_str() == pool)
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
