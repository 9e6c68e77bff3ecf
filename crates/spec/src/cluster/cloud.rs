//! Where the cluster runs.

use serde::Serialize;

use super::hetzner::{HETZNER, Hetzner};
use super::machines::{MACHINES, Machines};
use super::proxmox::{PROXMOX, PROXMOX_FEATURE, Proxmox};
use crate::read::{Fields, Kind, Pick, Shape, Span, optional};
use crate::scalar::{Scalar, Word};

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
        )
        .waits_for(PROXMOX_FEATURE, "use `hetzner` or `machines`"),
        optional(
            "machines",
            Kind::Map(&MACHINES),
            "Machines that exist already and wait in Talos maintenance mode.",
        ),
    ]],
    pick: Pick::One,
};

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
