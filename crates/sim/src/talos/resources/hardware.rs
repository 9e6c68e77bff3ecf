//! Resources that follow from what the machine is.

use prost::Message;
use serde_json::json;
use talos_proto::specs::VolumeStatusSpec;

use super::{Described, describe::Known, store::described};
use crate::talos::NodeFacts;

/// What Talos keeps of a disk for itself, in bytes: where it starts from, and
/// its configuration.
const SYSTEM_PARTITIONS: u64 = 2_300 << 20;
/// The number of a volume that is in use.
const READY: i32 = 6;

pub(super) fn platform(known: &Known<'_>) -> Vec<Described> {
    let facts = known.facts;
    // It may say to be another machine than it is.
    let instance = known.knobs.claims_instance.as_ref().unwrap_or(&facts.instance_id);
    let provider = match facts.platform.as_str() {
        NodeFacts::CLOUD => format!("hcloud://{instance}"),
        _ => String::new(),
    };
    let spec = json!({
        "platform": facts.platform,
        "hostname": facts.hostname,
        "region": facts.region,
        "zone": facts.zone,
        "instanceType": facts.instance_type,
        "instanceId": instance,
        "providerId": provider,
    });
    vec![described("PlatformMetadatas.talos.dev", "platformmetadata", &spec)]
}

pub(super) fn links(known: &Known<'_>) -> Vec<Described> {
    let facts = known.facts;
    let macs = std::iter::once(&facts.mac).chain(&facts.more_macs);
    macs.enumerate().map(|(number, mac)| card(number, mac)).collect()
}

fn card(number: usize, mac: &str) -> Described {
    let spec = json!({
        // The machine itself is the first link.
        "index": number + 2,
        "type": "ether",
        "linkIndex": 0,
        "flags": "UP,BROADCAST,RUNNING,MULTICAST,LOWER_UP",
        "hardwareAddr": mac,
        "permanentAddr": mac,
        "broadcastAddr": "ff:ff:ff:ff:ff:ff",
        "mtu": 1500,
        "queueDisc": "pfifo_fast",
        "operationalState": "up",
        "kind": "",
        "slaveKind": "",
        "driver": "virtio_net",
        "linkState": true,
        "port": "Other",
        "duplex": "Unknown",
    });
    described("LinkStatuses.net.talos.dev", &format!("eth{number}"), &spec)
}

pub(super) fn hardware_address(known: &Known<'_>) -> Vec<Described> {
    let spec = json!({ "name": "eth0", "hardwareAddr": known.facts.mac });
    vec![described("HardwareAddresses.net.talos.dev", "first", &spec)]
}

pub(super) fn disks(known: &Known<'_>) -> Vec<Described> {
    known.facts.disks.iter().map(disk).collect()
}

pub(super) fn system_disk(known: &Known<'_>) -> Vec<Described> {
    let system = known.facts.disks.iter().find(|disk| disk.system);
    let described = system.map(|disk| {
        let spec = json!({ "diskID": disk.name, "devPath": disk.device() });
        described("SystemDisks.block.talos.dev", "system-disk", &spec)
    });
    described.into_iter().collect()
}

/// What is left of the disk for images, logs and etcd, once Talos has it.
pub(super) fn volumes(known: &Known<'_>) -> Vec<Described> {
    let system = known.facts.disks.iter().find(|disk| disk.system);
    let Some(disk) = system.filter(|_| known.state.config.is_some()) else { return Vec::new() };
    let size = disk.size.saturating_sub(SYSTEM_PARTITIONS);
    let proto = VolumeStatusSpec {
        phase: READY,
        location: format!("{}4", disk.device()),
        parent_location: disk.device(),
        partition_index: 4,
        size,
        pretty_size: format!("{} GB", size / 1_000_000_000),
    };
    let spec = json!({
        "phase": "ready",
        "type": "partition",
        "location": proto.location,
        "parentLocation": proto.parent_location,
        "partitionIndex": proto.partition_index,
        "size": proto.size,
        "prettySize": proto.pretty_size,
    });
    let described = described("VolumeStatuses.block.talos.dev", "EPHEMERAL", &spec);
    vec![described.with_proto(proto.encode_to_vec())]
}

fn disk(disk: &crate::talos::Disk) -> Described {
    let spec = json!({
        "dev_path": disk.device(),
        "size": disk.size,
        "pretty_size": format!("{} GB", disk.size / 1_000_000_000),
        "io_size": 512,
        "sector_size": 512,
        "readonly": false,
        "cdrom": false,
        "model": disk.model,
        "serial": disk.serial,
        "sub_system": "/sys/class/block",
        "transport": "virtio",
        "rotational": true,
    });
    described("Disks.block.talos.dev", &disk.name, &spec)
}
