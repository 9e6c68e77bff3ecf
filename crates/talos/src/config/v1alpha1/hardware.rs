//! The parts about disks and network cards.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Serialize;

use crate::config::{
    Addressing, DiskKey, DiskSelector, Encryption, InstallDisk, Interface, Link, Node,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InstallPart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_selector: Option<SelectorPart<'a>>,
    image: &'a str,
    wipe: bool,
    #[serde(rename = "grubUseUKICmdline", skip_serializing_if = "Option::is_none")]
    grub_use_uki_cmdline: Option<bool>,
}

#[derive(Serialize)]
struct SelectorPart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    disk_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    serial: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wwid: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InterfacePart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    interface: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_selector: Option<DevicePart>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    addresses: &'a [IpNet],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    routes: Vec<Route>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dhcp: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    vip: Option<Vip>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DevicePart {
    #[serde(skip_serializing_if = "Option::is_none")]
    hardware_addr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    physical: Option<bool>,
}

#[derive(Serialize)]
struct Route {
    network: &'static str,
    gateway: IpAddr,
}

#[derive(Serialize)]
struct Vip {
    ip: IpAddr,
}

#[derive(Serialize)]
pub(super) struct EncryptionPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<PartitionPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ephemeral: Option<PartitionPart>,
}

#[derive(Serialize)]
struct PartitionPart {
    provider: &'static str,
    keys: [KeyPart; 1],
}

#[derive(Serialize)]
struct KeyPart {
    #[serde(rename = "nodeID", skip_serializing_if = "Option::is_none")]
    node_id: Option<Nothing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tpm: Option<Nothing>,
    slot: u32,
}

/// An empty mapping.
#[derive(Serialize)]
struct Nothing {}

impl<'a> InstallPart<'a> {
    pub(super) fn of(node: &'a Node, grub_use_uki_cmdline: Option<bool>) -> Self {
        let (disk, disk_selector) = match &node.install.disk {
            InstallDisk::Device(disk) => (Some(disk.as_str()), None),
            InstallDisk::Selector(selector) => (None, Some(SelectorPart::of(selector))),
        };
        let image = &node.install.image;
        Self { disk, disk_selector, image, wipe: false, grub_use_uki_cmdline }
    }
}

impl<'a> SelectorPart<'a> {
    fn of(selector: &'a DiskSelector) -> Self {
        let at_least = selector.min_size.map(|bytes| format!(">= {bytes}B"));
        Self {
            size: at_least.or_else(|| selector.max_size.map(|bytes| format!("<= {bytes}B"))),
            disk_type: selector.disk_type.as_deref(),
            model: selector.model.as_deref(),
            serial: selector.serial.as_deref(),
            wwid: selector.wwid.as_deref(),
        }
    }
}

impl<'a> InterfacePart<'a> {
    pub(super) fn of(interface: &'a Interface) -> Self {
        let device = |hardware_addr, physical| Some(DevicePart { hardware_addr, physical });
        let (name, device_selector) = match &interface.link {
            Link::Name(name) => (Some(name.as_str()), None),
            // Talos looks for the letters as Linux writes them, and finds no card
            // where they are capitals.
            Link::Hardware(mac) => (None, device(Some(mac.to_ascii_lowercase()), None)),
            Link::Physical => (None, device(None, Some(true))),
        };
        let (addresses, gateway) = match &interface.addressing {
            Addressing::Dhcp => (&[][..], None),
            Addressing::Fixed { addresses, gateway } => (addresses.as_slice(), *gateway),
        };
        Self {
            interface: name,
            device_selector,
            addresses,
            routes: gateway.into_iter().map(Route::to).collect(),
            dhcp: interface.addressing == Addressing::Dhcp,
            vip: interface.vip.map(|ip| Vip { ip }),
        }
    }
}

impl Route {
    fn to(gateway: IpAddr) -> Self {
        let network = if gateway.is_ipv4() { "0.0.0.0/0" } else { "::/0" };
        Self { network, gateway }
    }
}

impl EncryptionPart {
    pub(super) fn of(encryption: Encryption) -> Option<Self> {
        let Encryption { state, ephemeral } = encryption;
        let part = Self {
            state: state.map(PartitionPart::of),
            ephemeral: ephemeral.map(PartitionPart::of),
        };
        (encryption != Encryption::default()).then_some(part)
    }
}

impl PartitionPart {
    fn of(key: DiskKey) -> Self {
        let key = KeyPart {
            node_id: (key == DiskKey::NodeId).then_some(Nothing {}),
            tpm: (key == DiskKey::Tpm).then_some(Nothing {}),
            slot: 0,
        };
        Self { provider: "luks2", keys: [key] }
    }
}
