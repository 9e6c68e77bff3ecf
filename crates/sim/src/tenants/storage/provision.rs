//! From a claim to a volume, and away again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ATTACHMENTS, CLASSES, CSI_NODES, DRIVER, VOLUMES};
use crate::kube::controllers::{CLAIMS, SELECTED, is_bound};
use crate::kube::object::{is_terminating, items, map_at, name, namespace, uid};
use crate::kube::{DeleteOptions, Kube, Write};
use crate::tenants::object::{complain, find, replace, report};
use crate::tenants::{Cloud, VolumeOrder};

const PROVISIONER: &str = "csi-provisioner";

/// The cloud sells no smaller volumes.
const LEAST: u64 = 10;

/// Makes the volumes that pods wait for.
pub(super) fn claims(kube: &Kube, cloud: &dyn Cloud, controller: &Value) {
    for claim in kube.all(&CLAIMS, "") {
        let class = claim["spec"]["storageClassName"].as_str().unwrap_or_default();
        let Some(class) = find(kube, &CLASSES, "", class) else { continue };
        let node = claim["metadata"]["annotations"][SELECTED].as_str();
        let Some(node) = node.filter(|_| class["provisioner"] == DRIVER) else { continue };
        if is_bound(&claim) || is_terminating(&claim) {
            continue;
        }
        if let Err(why) = provision(kube, cloud, controller, &class, &claim, node) {
            let name = name(&class);
            let why = format!("failed to provision volume with StorageClass \"{name}\": {why}");
            complain(kube, &claim, "ProvisioningFailed", &why, DRIVER);
        }
    }
}

fn provision(
    kube: &Kube,
    cloud: &dyn Cloud,
    controller: &Value,
    class: &Value,
    claim: &Value,
    node: &str,
) -> Result<(), String> {
    let registered = find(kube, &CSI_NODES, "", node);
    let drivers =
        registered.as_ref().map(|node| items(&node["spec"]["drivers"])).unwrap_or_default();
    if !drivers.iter().any(|driver| driver["name"] == DRIVER) {
        return Err(format!(
            "error generating accessibility requirements: no topology key found on CSINode {node}"
        ));
    }
    let server = cloud.server(node).map(|server| server.location);
    let location =
        server.unwrap_or_else(|| setting(controller, "HCLOUD_VOLUME_DEFAULT_LOCATION").to_owned());
    let volume = format!("pvc-{}", uid(claim));
    let size = gibibytes(&claim["spec"]["resources"]["requests"]["storage"]);
    let order = VolumeOrder {
        name: volume.clone(),
        size: u32::try_from(size).unwrap_or(u32::MAX),
        location: location.clone(),
        labels: labels(controller, claim, &volume),
    };
    let known = find(kube, &VOLUMES, "", &volume);
    if known.is_none() {
        let id = cloud
            .create_volume(order)
            .map_err(|why| format!("rpc error: code = Internal desc = {why}"))?;
        make(kube, persistent_volume(class, claim, &volume, size, id, &location));
    }
    bind(kube, claim, &volume, size);
    Ok(())
}

/// The driver's own labels, and those that it was told to add.
fn labels(controller: &Value, claim: &Value, volume: &str) -> BTreeMap<String, String> {
    let extra = setting(controller, "HCLOUD_VOLUME_EXTRA_LABELS").split(',');
    let own = [
        ("managed-by", "csi-driver"),
        ("pv-name", volume),
        ("pvc-name", name(claim)),
        ("pvc-namespace", namespace(claim)),
    ];
    let all = extra.filter_map(|label| label.split_once('=')).chain(own);
    all.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn setting<'a>(controller: &'a Value, named: &str) -> &'a str {
    let containers = items(&controller["spec"]["containers"]).iter();
    let mut environment = containers.flat_map(|container| items(&container["env"]));
    let found = environment.find(|one| one["name"] == named);
    found.and_then(|one| one["value"].as_str()).unwrap_or_default()
}

fn make(kube: &Kube, volume: Value) {
    let Ok(place) = kube.place(&VOLUMES, "", "") else { return };
    // One that is already there is this one: its name is the claim's identity.
    let _ = kube.create(&place, volume, &Write::by(PROVISIONER));
}

fn persistent_volume(
    class: &Value,
    claim: &Value,
    named: &str,
    size: u64,
    id: i64,
    location: &str,
) -> Value {
    let term =
        json!({ "key": "csi.hetzner.cloud/location", "operator": "In", "values": [location] });
    json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": { "name": named,
            "annotations": { "pv.kubernetes.io/provisioned-by": DRIVER } },
        "spec": {
            "accessModes": claim["spec"]["accessModes"],
            "capacity": { "storage": format!("{size}Gi") },
            "claimRef": { "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "name": name(claim), "namespace": namespace(claim), "uid": uid(claim),
                "resourceVersion": claim["metadata"]["resourceVersion"] },
            "csi": { "driver": DRIVER, "fsType": "ext4", "volumeHandle": id.to_string() },
            "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [term] }] } },
            "persistentVolumeReclaimPolicy": class["reclaimPolicy"].as_str().unwrap_or("Delete"),
            "storageClassName": name(class), "volumeMode": "Filesystem",
        },
        "status": { "phase": "Bound" },
    })
}

/// Gives a claim its volume.
fn bind(kube: &Kube, claim: &Value, volume: &str, size: u64) {
    let by = "kube-controller-manager";
    let mut bound = claim.clone();
    bound["spec"]["volumeName"] = json!(volume);
    let annotations = map_at(&mut bound["metadata"], "annotations");
    for key in ["pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller"] {
        annotations.insert(key.to_owned(), json!("yes"));
    }
    if !replace(kube, &CLAIMS, claim, bound, by) {
        return;
    }
    let Some(claim) = find(kube, &CLAIMS, namespace(claim), name(claim)) else { return };
    let mut told = claim.clone();
    told["status"] = json!({ "phase": "Bound", "accessModes": claim["spec"]["accessModes"],
        "capacity": { "storage": format!("{size}Gi") } });
    report(kube, &CLAIMS, &claim, told, by);
}

/// Ends the volumes whose claims are gone, once they are attached to nothing.
pub(super) fn reclaim(kube: &Kube, cloud: &dyn Cloud) {
    let attachments = kube.all(&ATTACHMENTS, "");
    for volume in kube.all(&VOLUMES, "") {
        let csi = &volume["spec"]["csi"];
        let handle = csi["volumeHandle"].as_str().and_then(|id| id.parse().ok());
        let Some(id) = handle.filter(|_| csi["driver"] == DRIVER) else { continue };
        let claim = &volume["spec"]["claimRef"];
        let text = |field: &str| claim[field].as_str().unwrap_or_default();
        let current = find(kube, &CLAIMS, text("namespace"), text("name"));
        if current.is_some_and(|current| uid(&current) == text("uid")) {
            continue;
        }
        let mut released = (*volume).clone();
        released["status"]["phase"] = json!("Released");
        report(kube, &VOLUMES, &volume, released, "kube-controller-manager");
        let is_attached = attachments
            .iter()
            .any(|one| one["spec"]["source"]["persistentVolumeName"] == name(&volume));
        if is_attached || volume["spec"]["persistentVolumeReclaimPolicy"] != "Delete" {
            continue;
        }
        match cloud.delete_volume(id) {
            Ok(()) => forget(kube, &volume),
            Err(why) => complain(kube, &volume, "VolumeFailedDelete", &why, DRIVER),
        }
    }
}

fn forget(kube: &Kube, volume: &Value) {
    let Ok(place) = kube.place(&VOLUMES, "", name(volume)) else { return };
    // Whoever was faster wanted the same.
    let _ = kube.delete(&place, &DeleteOptions::default(), &Write::by(PROVISIONER));
}

/// Reads a quantity of bytes as whole gibibytes, at least as many as are sold.
fn gibibytes(quantity: &Value) -> u64 {
    const UNITS: [(&str, u64); 8] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
    ];
    let text = quantity.as_str().unwrap_or_default();
    let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit)).unwrap_or(&("", 1));
    let number = text.trim_end_matches(unit.0).parse::<u64>().unwrap_or_default();
    number.saturating_mul(unit.1).div_ceil(1 << 30).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_gibibytes_and_not_too_small() {
        let sizes =
            [("10Gi", 10), ("1Gi", 10), ("12G", 12), ("20481Mi", 21), ("", 10), ("1Ti", 1024)];
        for (text, size) in sizes {
            assert_eq!(gibibytes(&json!(text)), size, "{text}");
        }
    }
}
