//! The disks and network cards of a machine.

use serde::{Deserialize, Serialize};

use super::super::{Client, ClientError, Reason};
use super::{Kind, Resource};

const DISKS: Kind = Kind { namespace: "runtime", name: "Disks.block.talos.dev" };
const SYSTEM_DISKS: Kind = Kind { namespace: "runtime", name: "SystemDisks.block.talos.dev" };
const LINKS: Kind = Kind { namespace: "network", name: "LinkStatuses.net.talos.dev" };

/// A network card, or something like it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// Its name, such as `eth0`.
    pub name: String,
    /// Its address on the wire.
    pub hardware_address: String,
    /// What it carries: `ether` for cards, `loopback` for the machine itself.
    pub medium: String,
    /// What it is made of by software, such as `bond`; empty for a real card.
    pub kind: String,
    /// Whether it is connected.
    pub up: bool,
}

/// A disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// Its name, such as `sda`.
    pub name: String,
    /// Its device, such as `/dev/sda`.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its model.
    pub model: String,
    /// Its serial number.
    pub serial: String,
    /// Its world-wide id.
    pub wwid: String,
    /// Whether it can only be read.
    pub readonly: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LinkSpec {
    hardware_addr: String,
    #[serde(rename = "type")]
    medium: String,
    kind: String,
    link_state: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiskSpec {
    dev_path: String,
    size: u64,
    model: String,
    serial: String,
    wwid: String,
    readonly: bool,
}

/// The disk that Talos runs from.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SystemDiskSpec {
    #[serde(rename = "devPath")]
    dev_path: String,
}

impl Client {
    /// Lists the network cards, and what is like them.
    pub async fn links(&self) -> Result<Vec<Link>, ClientError> {
        self.ask("list the network links", async {
            self.list(LINKS).await?.into_iter().map(Link::of).collect()
        })
        .await
    }

    /// Returns the path of the disk that Talos runs from; none in a container.
    pub async fn system_disk(&self) -> Result<Option<String>, ClientError> {
        self.ask("look for the system disk", async {
            let found = self.list(SYSTEM_DISKS).await?.into_iter().next();
            let spec = found.map(|it| it.read::<SystemDiskSpec>()).transpose()?;
            Ok(spec.map(|it| it.dev_path).filter(|path| !path.is_empty()))
        })
        .await
    }

    /// Lists the disks.
    pub async fn disks(&self) -> Result<Vec<Disk>, ClientError> {
        self.ask("list the disks", async {
            self.list(DISKS).await?.into_iter().map(Disk::of).collect()
        })
        .await
    }
}

impl Link {
    /// Whether Talos takes it for a real network card, as the selector
    /// `physical: true` of a machine config does.
    pub fn is_physical(&self) -> bool {
        self.medium == "ether" && self.kind.is_empty()
    }

    fn of(resource: Resource) -> Result<Self, Reason> {
        let spec: LinkSpec = resource.read()?;
        Ok(Self {
            name: resource.id,
            hardware_address: spec.hardware_addr,
            medium: spec.medium,
            kind: spec.kind,
            up: spec.link_state,
        })
    }
}

impl Disk {
    fn of(resource: Resource) -> Result<Self, Reason> {
        let spec: DiskSpec = resource.read()?;
        Ok(Self {
            name: resource.id,
            path: spec.dev_path,
            size: spec.size,
            model: spec.model,
            serial: spec.serial,
            wwid: spec.wwid,
            readonly: spec.readonly,
        })
    }
}
