//! Resources that follow from what the machine is.

use serde_json::json;

use super::{Described, store::described};
use crate::talos::NodeFacts;

/// Describes the platform, the network card and the disks.
pub(super) fn describe(facts: &NodeFacts) -> Vec<Described> {
    let mut all = vec![platform(facts), link(facts), hardware_address(facts)];
    all.extend(facts.disks.iter().map(disk));
    let system = facts.disks.iter().find(|disk| disk.system);
    all.extend(system.map(|disk| {
        let spec = json!({ "diskID": disk.name, "devPath": disk.device() });
        described("SystemDisks.block.talos.dev", "system-disk", &spec)
    }));
    all
}

fn platform(facts: &NodeFacts) -> Described {
    let spec = json!({
        "platform": NodeFacts::PLATFORM,
        "hostname": facts.hostname,
        "region": facts.region,
        "zone": facts.zone,
        "instanceType": facts.instance_type,
        "instanceId": facts.instance_id,
        "providerId": format!("hcloud://{}", facts.instance_id),
    });
    described("PlatformMetadatas.talos.dev", "platformmetadata", &spec)
}

fn link(facts: &NodeFacts) -> Described {
    let spec = json!({
        "index": 2,
        "type": "ether",
        "linkIndex": 0,
        "flags": "UP,BROADCAST,RUNNING,MULTICAST,LOWER_UP",
        "hardwareAddr": facts.mac,
        "permanentAddr": facts.mac,
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
    described("LinkStatuses.net.talos.dev", "eth0", &spec)
}

fn hardware_address(facts: &NodeFacts) -> Described {
    let spec = json!({ "name": "eth0", "hardwareAddr": facts.mac });
    described("HardwareAddresses.net.talos.dev", "first", &spec)
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
