//! What one node is told.

use std::collections::BTreeMap;
use std::net::IpAddr;

use events::Role;
use ipnet::IpNet;

use super::InputError;

/// What one node is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it does.
    pub role: Role,
    /// Its name.
    pub hostname: String,
    /// Where Talos is installed.
    pub install: Install,
    /// The labels of its Kubernetes node.
    pub labels: BTreeMap<String, String>,
    /// The taints of its Kubernetes node: `value:Effect` or `Effect` by the key.
    pub taints: BTreeMap<String, String>,
    /// Its network cards; Talos asks DHCP on all of them where there are none.
    pub interfaces: Vec<Interface>,
    /// Its resolvers; those of DHCP where there are none.
    pub nameservers: Vec<IpAddr>,
    /// Which partitions are encrypted.
    pub encryption: Encryption,
}

/// Where Talos is installed, and from what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Install {
    /// The disk.
    pub disk: InstallDisk,
    /// The installer's image.
    pub image: String,
}

/// The disk that Talos is installed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallDisk {
    /// A device, such as `/dev/sda`.
    Device(String),
    /// The device that fits.
    Selector(DiskSelector),
}

/// What a disk must be like; all that is set must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskSelector {
    /// At least so many bytes.
    pub min_size: Option<u64>,
    /// At most so many bytes.
    pub max_size: Option<u64>,
    /// What it is made of: `ssd`, `nvme`, `hdd` or `sd`.
    pub disk_type: Option<String>,
    /// Its model; `*` matches anything.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// Its world-wide identifier.
    pub wwid: Option<String>,
}

/// A network card and its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Which card.
    pub link: Link,
    /// Where its addresses come from.
    pub addressing: Addressing,
    /// An address that the control planes share: one of them has it.
    pub vip: Option<IpAddr>,
}

/// Which network card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// The one with this name, such as `eth0`.
    Name(String),
    /// The one with this MAC address, in small letters or capitals.
    Hardware(String),
    /// Every one that is no bond, bridge or tunnel: Talos gives all of them the
    /// same addresses, so this is for a machine that has one.
    Physical,
}

/// Where the addresses of a card come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// From DHCP.
    Dhcp,
    /// From here.
    Fixed {
        /// The addresses, each with the size of its network.
        addresses: Vec<IpNet>,
        /// The router to everywhere else.
        gateway: Option<IpAddr>,
    },
}

/// Which partitions are encrypted, and with which key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encryption {
    /// The machine config and its secrets.
    pub state: Option<DiskKey>,
    /// Images, logs, etcd and pods' data.
    pub ephemeral: Option<DiskKey>,
}

/// The key that a partition is encrypted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskKey {
    /// A key made from the node's identity: protects a disk that is taken out.
    NodeId,
    /// A key sealed in the machine's TPM.
    Tpm,
}

impl Node {
    /// A node of which nothing is asked but to be there.
    pub fn new(role: Role, hostname: &str, install: Install) -> Self {
        Self {
            role,
            hostname: hostname.to_owned(),
            install,
            labels: BTreeMap::new(),
            taints: BTreeMap::new(),
            interfaces: Vec::new(),
            nameservers: Vec::new(),
            encryption: Encryption::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), InputError> {
        if !is_hostname(&self.hostname) {
            return Err(InputError::Hostname(self.hostname.clone()));
        }
        match &self.install.disk {
            InstallDisk::Device(disk) if !disk.starts_with("/dev/") => {
                Err(InputError::Disk(disk.clone()))
            }
            InstallDisk::Selector(selector) => selector.check(),
            InstallDisk::Device(_) => Ok(()),
        }
    }
}

impl DiskSelector {
    fn check(&self) -> Result<(), InputError> {
        if *self == Self::default() {
            return Err(InputError::AnyDisk);
        }
        match (self.min_size, self.max_size) {
            (Some(_), Some(_)) => Err(InputError::TwoSizes),
            _ => Ok(()),
        }
    }
}

fn is_hostname(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let dash = |end: Option<&u8>| end == Some(&b'-');
    let bytes = name.as_bytes();
    (1..=63).contains(&bytes.len())
        && bytes.iter().all(|byte| allowed(*byte))
        && !dash(bytes.first())
        && !dash(bytes.last())
}
