//! Who may reach the nodes from outside.

use std::fmt;

use serde::Serialize;

use crate::read::{Fields, Kind, Pick, Shape, Span, Spanned, optional, required};
use crate::scalar::{Complaint, Format, Json, Scalar, SourceRange, Text, Word};

/// Who may reach the nodes from outside.
#[derive(Clone, Debug)]
pub struct Firewall {
    /// Where the settings start.
    pub at: Span,
    /// Who may reach the Talos API, port 50000.
    pub talos_api: Option<Sources>,
    /// Who may reach the Kubernetes API of the nodes themselves, port 6443.
    pub kubernetes_api: Option<Sources>,
    /// Further openings.
    pub extra: Vec<FirewallException>,
}

/// Sources with the key they were written under.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The key.
    pub at: Span,
    /// The sources.
    pub ranges: Vec<Spanned<SourceRange>>,
}

/// A further opening in the firewall.
#[derive(Clone, Debug)]
pub struct FirewallException {
    /// What it is for.
    pub description: Option<Spanned<Text>>,
    /// The protocol.
    pub protocol: Spanned<Protocol>,
    /// The port or range of ports.
    pub port: Option<Spanned<PortRange>>,
    /// Who may come in.
    pub sources: Vec<Spanned<SourceRange>>,
    /// Where the opening starts.
    pub at: Span,
}

/// A protocol that Hetzner's firewall knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants are the protocols' own names")]
pub enum Protocol {
    Tcp,
    Udp,
    Icmp,
    Esp,
    Gre,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// One port, or all ports between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    first: u16,
    last: u16,
}

pub(crate) static FIREWALL: Shape = Shape {
    name: "Firewall",
    doc: "Who may reach the nodes from outside. Nodes reach each other over the private network, which no firewall touches; nor does one touch a load balancer.",
    groups: &[&[
        optional(
            "talosAPI",
            Kind::Scalars(SourceRange::FORMAT),
            "Who may reach the Talos API, port 50000. A node in maintenance mode takes a config from anybody who can. `my-ip` is what `--my-ip` says; it is not looked up. Default: [my-ip].",
        ),
        optional(
            "kubernetesAPI",
            Kind::Scalars(SourceRange::FORMAT),
            "Who may reach the Kubernetes API of the nodes themselves, port 6443. A public load balancer is open to everybody all the same: Hetzner's firewalls do not apply to it. Default: [my-ip].",
        ),
        optional("extra", Kind::Maps(&EXTRA), "Further openings."),
    ]],
    pick: Pick::Any,
};

static EXTRA: Shape = Shape {
    name: "FirewallException",
    doc: "A further opening in the firewall.",
    groups: &[&[
        optional("description", Kind::Scalar(Text::FORMAT), "What it is for."),
        required("protocol", Kind::Scalar(Protocol::FORMAT), "The protocol."),
        optional(
            "port",
            Kind::Scalar(PortRange::FORMAT),
            "A port, or a range such as `\"30000-32767\"`. Only for tcp and udp.",
        ),
        required("sources", Kind::Scalars(SourceRange::FORMAT), "Who may come in."),
    ]],
    pick: Pick::Any,
};

impl Firewall {
    pub(crate) fn decode(fields: Fields<'_>) -> Self {
        let firewall = Self {
            at: fields.at(),
            talos_api: Sources::decode(&fields, "talosAPI"),
            kubernetes_api: Sources::decode(&fields, "kubernetesAPI"),
            extra: fields.maps("extra").into_iter().map(FirewallException::decode).collect(),
        };
        fields.finish();
        firewall
    }
}

impl Sources {
    fn decode(fields: &Fields<'_>, key: &'static str) -> Option<Self> {
        let ranges = fields.list(key);
        fields.key_span(key).map(|at| Self { at, ranges })
    }
}

impl FirewallException {
    fn decode(fields: Fields<'_>) -> Self {
        let exception = Self {
            description: fields.optional("description"),
            protocol: fields.required("protocol"),
            port: fields.optional("port"),
            sources: fields.list("sources"),
            at: fields.at(),
        };
        fields.finish();
        exception
    }
}

impl Word for Protocol {
    const WHAT: &'static str = "protocol";
    const ALL: &'static [Self] = &[Self::Tcp, Self::Udp, Self::Icmp, Self::Esp, Self::Gre];
    const WORDS: &'static [&'static str] = &["tcp", "udp", "icmp", "esp", "gre"];
}

impl PortRange {
    /// Returns a range of one port.
    pub const fn one(port: u16) -> Self {
        Self { first: port, last: port }
    }
}

impl std::fmt::Display for PortRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.first == self.last {
            return write!(f, "{}", self.first);
        }
        write!(f, "{}-{}", self.first, self.last)
    }
}

impl Serialize for PortRange {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Scalar for PortRange {
    const FORMAT: Format = Format {
        name: "a port or a range of ports",
        example: "`\"443\"` or `\"30000-32767\"`",
        json: Json::Text { pattern: "^[0-9]{1,5}(-[0-9]{1,5})?$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| {
            text.parse::<u16>().ok().filter(|port| *port > 0 && !text.starts_with('+'))
        };
        match (port(first), port(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Self { first, last }),
            (Some(_), Some(_)) => {
                Err(Complaint::label("the first port must not be above the last"))
            }
            _ => Err(Complaint::label(Self::FORMAT.expected())),
        }
    }

    fn stand_in() -> Self {
        Self::one(1)
    }
}
