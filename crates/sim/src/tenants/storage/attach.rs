//! Volumes follow the pods that use them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ATTACHMENTS, DRIVER, VOLUMES};
use crate::kube::controllers::{CLAIMS, claim_names};
use crate::kube::object::{name, namespace};
use crate::kube::{DeleteOptions, Kube, Write};
use crate::tenants::Cloud;
use crate::tenants::digest::sha256;
use crate::tenants::object::{complain, find, report};
use crate::tenants::presence::PODS;

const ATTACHER: &str = "csi-attacher";

/// A volume that a pod on some node uses.
struct Use {
    volume: Value,
    node: String,
}

/// Attaches the volumes of all pods that need them.
pub(super) fn to_pods(kube: &Kube, cloud: &dyn Cloud) {
    for it in uses(kube) {
        let named = it.attachment();
        let attachment = find(kube, &ATTACHMENTS, "", &named).or_else(|| it.make(kube, &named));
        let Some(attachment) = attachment.filter(|one| one["status"]["attached"] != true) else {
            continue;
        };
        match it.attach(cloud) {
            Ok(()) => {
                let mut told = attachment.clone();
                told["status"] = json!({ "attached": true });
                report(kube, &ATTACHMENTS, &attachment, told, ATTACHER);
            }
            Err(why) => complain(kube, &attachment, "FailedAttachVolume", &why, ATTACHER),
        }
    }
}

/// Detaches the volumes that no pod needs any more.
pub(super) fn release(kube: &Kube, cloud: &dyn Cloud) {
    let needed: Vec<String> = uses(kube).iter().map(Use::attachment).collect();
    for attachment in kube.all(&ATTACHMENTS, "") {
        let ours = attachment["spec"]["attacher"] == DRIVER;
        if !ours || needed.iter().any(|named| named == name(&attachment)) {
            continue;
        }
        let volume = attachment["spec"]["source"]["persistentVolumeName"].as_str();
        let volume = volume.and_then(|volume| find(kube, &VOLUMES, "", volume));
        if let Some(id) = volume.as_ref().and_then(handle) {
            cloud.detach_volume(id);
        }
        let Ok(place) = kube.place(&ATTACHMENTS, "", name(&attachment)) else { continue };
        // Whoever was faster wanted the same.
        let _ = kube.delete(&place, &DeleteOptions::default(), &Write::by(ATTACHER));
    }
}

/// Returns the volumes of all pods that are on a node and not over.
fn uses(kube: &Kube) -> Vec<Use> {
    let pods = kube.all(&PODS, "");
    pods.iter().flat_map(|pod| used_by(kube, pod)).collect()
}

fn used_by(kube: &Kube, pod: &Arc<Value>) -> Vec<Use> {
    let over = ["Succeeded", "Failed"].iter().any(|phase| pod["status"]["phase"] == *phase);
    let Some(node) = pod["spec"]["nodeName"].as_str().filter(|_| !over) else { return Vec::new() };
    let of_claim = |claim: &str| {
        let claim = find(kube, &CLAIMS, namespace(pod), claim)?;
        let volume = find(kube, &VOLUMES, "", claim["spec"]["volumeName"].as_str()?)?;
        (volume["spec"]["csi"]["driver"] == DRIVER).then(|| Use { volume, node: node.to_owned() })
    };
    claim_names(pod).filter_map(of_claim).collect()
}

impl Use {
    /// Returns the name of the attachment, which nobody else can have.
    fn attachment(&self) -> String {
        let handle = self.volume["spec"]["csi"]["volumeHandle"].as_str().unwrap_or_default();
        format!("csi-{}", sha256(&format!("{handle}{DRIVER}{}", self.node)))
    }

    fn make(&self, kube: &Kube, named: &str) -> Option<Value> {
        let attachment = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment",
            "metadata": { "name": named },
            "spec": { "attacher": DRIVER, "nodeName": self.node,
                "source": { "persistentVolumeName": name(&self.volume) } },
        });
        let place = kube.place(&ATTACHMENTS, "", "").ok()?;
        kube.create(&place, attachment, &Write::by("kube-controller-manager")).ok()
    }

    fn attach(&self, cloud: &dyn Cloud) -> Result<(), String> {
        let id = handle(&self.volume).ok_or("the volume has no handle")?;
        let server =
            cloud.server(&self.node).ok_or_else(|| format!("server {} not found", self.node))?;
        match cloud.volume(id).ok_or_else(|| format!("volume {id} not found"))?.server {
            Some(there) if there == server.id => Ok(()),
            Some(other) => Err(format!("volume {id} is attached to server {other}")),
            None => cloud.attach_volume(id, server.id),
        }
    }
}

fn handle(volume: &Value) -> Option<i64> {
    volume["spec"]["csi"]["volumeHandle"].as_str()?.parse().ok()
}
