//! Hetzner's storage driver: claims become volumes of the cloud, and volumes
//! follow the pods that use them.
//!
//! ```text
//!  claim + chosen node ─► volume, PersistentVolume ─► VolumeAttachment ─► pod
//!                         gone with its claim  ◄───── detached after it
//! ```

mod attach;
mod provision;

use std::time::Duration;

use super::Cloud;
use super::presence::{Labels, PODS, leader};
use crate::kube::controllers::CLAIMS;
use crate::kube::{Key, Kube};

/// How long the cloud takes to make, attach, detach or delete a volume.
pub(super) const REACTION: Duration = Duration::from_secs(4);

const CONTROLLER: Labels =
    &[("app.kubernetes.io/name", "hcloud-csi"), ("app.kubernetes.io/component", "controller")];
const DRIVER: &str = "csi.hetzner.cloud";
const VOLUMES: Key = Key::core("persistentvolumes");
const ATTACHMENTS: Key = Key::new("storage.k8s.io", "volumeattachments");
const CLASSES: Key = Key::new("storage.k8s.io", "storageclasses");
const CSI_NODES: Key = Key::new("storage.k8s.io", "csinodes");

/// The kinds that it follows.
pub(super) const FOLLOWED: &[Key] = &[PODS, CLAIMS, VOLUMES, ATTACHMENTS, CLASSES, CSI_NODES];

/// Takes the next step with every claim and every volume.
pub(super) fn pass(kube: &Kube, cloud: &dyn Cloud) {
    let Some(controller) = leader(kube, CONTROLLER) else { return };
    provision::claims(kube, cloud, &controller);
    attach::to_pods(kube, cloud);
    attach::release(kube, cloud);
    provision::reclaim(kube, cloud);
}
