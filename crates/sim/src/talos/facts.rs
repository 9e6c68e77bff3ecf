//! What a node is before anybody configures it.

use std::net::Ipv4Addr;

use base64::{Engine, prelude::BASE64_STANDARD_NO_PAD};
use sha2::{Digest, Sha256};

/// The facts of one machine: what its platform and its hardware say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFacts {
    /// The name that the platform gives it; a configuration may choose another.
    pub hostname: String,
    /// The address that it listens on.
    pub address: Ipv4Addr,
    /// Its address in the private network; data only, nothing listens there.
    pub private_address: Option<Ipv4Addr>,
    /// What Talos calls what it runs on, such as `hcloud` or `metal`.
    pub platform: String,
    /// The platform's id of the machine.
    pub instance_id: String,
    /// The platform's name of its size, such as `cax11`.
    pub instance_type: String,
    /// The network zone, such as `eu-central`.
    pub region: String,
    /// The location, such as `fsn1-dc14`.
    pub zone: String,
    /// The address of its first network card.
    pub mac: String,
    /// The addresses of its other network cards.
    pub more_macs: Vec<String>,
    /// The processor, `amd64` or `arm64`.
    pub arch: String,
    /// Its memory, in mebibytes.
    pub memory_mib: u32,
    /// Its disks.
    pub disks: Vec<Disk>,
    /// The version of Talos on its disk.
    pub version: String,
    /// Whether it has been started from its disk, as from a snapshot; one that
    /// was started otherwise installs itself once it has its configuration.
    pub installed: bool,
}

/// One disk of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// The kernel's name, such as `sda`.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its model.
    pub model: String,
    /// Its serial number.
    pub serial: String,
    /// Whether Talos runs from it.
    pub system: bool,
}

/// How a version of Talos talks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Up to 1.12: a maintenance server of its own that knows few calls.
    Separate,
    /// From 1.13 on: one API server that gives everybody the reader's role in
    /// maintenance mode.
    Unified,
}

impl NodeFacts {
    /// What Talos calls servers of Hetzner.
    pub const CLOUD: &'static str = "hcloud";
    /// What Talos calls a machine of somebody's own.
    pub const METAL: &'static str = "metal";

    /// A small cloud server with one disk and Talos already on it.
    pub fn cloud_server(hostname: &str, address: Ipv4Addr) -> Self {
        let [_, _, c, d] = address.octets();
        let instance_id = (u32::from(c) << 8 | u32::from(d)).to_string();
        Self {
            hostname: hostname.to_owned(),
            address,
            private_address: None,
            platform: Self::CLOUD.to_owned(),
            instance_type: "cax11".to_owned(),
            region: "eu-central".to_owned(),
            zone: "fsn1-dc14".to_owned(),
            mac: format!("96:00:00:00:{c:02x}:{d:02x}"),
            more_macs: Vec::new(),
            arch: "arm64".to_owned(),
            memory_mib: 4096,
            disks: vec![Disk::cloud_disk(&instance_id)],
            instance_id,
            version: "v1.14.1".to_owned(),
            installed: true,
        }
    }

    /// A machine of somebody's own, started from a medium and with an empty
    /// disk: there is no platform that knows more of it than it does itself.
    pub fn bare_machine(hostname: &str, address: Ipv4Addr) -> Self {
        Self {
            platform: Self::METAL.to_owned(),
            instance_id: String::new(),
            instance_type: String::new(),
            region: String::new(),
            zone: String::new(),
            arch: "amd64".to_owned(),
            disks: vec![Disk::bare_disk(hostname)],
            installed: false,
            ..Self::cloud_server(hostname, address)
        }
    }

    /// Returns the name that the node gives itself: letters and digits for 32
    /// bytes, which a real one draws by chance.
    pub fn identity(&self) -> String {
        let drawn = Sha256::digest(format!("{} {}", self.address, self.mac));
        BASE64_STANDARD_NO_PAD.encode(drawn).replace(['+', '/'], "0")
    }

    /// Whether its kubelet registers the node with the taints of `nodeTaints`;
    /// before 1.14 Talos puts them onto the Node that is there.
    pub fn registers_with_taints(&self) -> bool {
        release(&self.version) >= (1, 14)
    }

    /// Returns how the node's version of Talos talks.
    pub fn dialect(&self) -> Dialect {
        Dialect::of(&self.version)
    }
}

impl Dialect {
    /// Returns how a version of Talos talks, such as `v1.14.1`.
    pub fn of(version: &str) -> Self {
        if release(version) < (1, 13) { Self::Separate } else { Self::Unified }
    }
}

/// Returns the first two numbers of a version, such as `v1.14.1`.
pub(super) fn release(version: &str) -> (u32, u32) {
    let mut parts = version.trim_start_matches('v').split('.');
    let mut number = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
    (number(), number())
}

impl Disk {
    /// The disk that a small cloud server has.
    pub fn cloud_disk(serial: &str) -> Self {
        Self {
            name: "sda".to_owned(),
            size: 40_959_475_712,
            model: "QEMU HARDDISK".to_owned(),
            serial: serial.to_owned(),
            system: true,
        }
    }

    /// The disk of a machine that Talos has not been installed on.
    pub fn bare_disk(serial: &str) -> Self {
        Self { system: false, ..Self::cloud_disk(serial) }
    }

    /// Returns the path of its device.
    pub fn device(&self) -> String {
        format!("/dev/{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialect_follows_from_the_version() {
        let mut facts = NodeFacts::cloud_server("cp-1", Ipv4Addr::LOCALHOST);
        for (version, dialect) in [
            ("v1.12.1", Dialect::Separate),
            ("v1.13.0-alpha.2", Dialect::Unified),
            ("v1.14.1", Dialect::Unified),
            ("v2.0.0", Dialect::Unified),
        ] {
            version.clone_into(&mut facts.version);
            assert_eq!(facts.dialect(), dialect, "{version}");
        }
    }
}
