//! Hetzner Cloud.

use crate::read::{Fields, Kind, Pick, Shape, Span, Spanned, optional, required};
use crate::scalar::{Cidr, Location, Scalar};

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

pub(super) static HETZNER: Shape = Shape {
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

impl Hetzner {
    pub(super) fn decode(fields: Fields<'_>) -> Self {
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
    pub(super) fn stand_in() -> Self {
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
        self.network.as_ref().map_or_else(Cidr::stand_in, |network| network.value)
    }
}
