//! Storage plugins, which register with the kubelet of each node.

use serde_json::{Value, json};

use super::agent::Agent;
use crate::kube::api::{Patch, Write};
use crate::kube::controllers::{CLAIMS, claim_names};
use crate::kube::object::{has_condition, items, name, namespace};
use crate::kube::resource::Key;

const CSI_NODES: Key = Key::new("storage.k8s.io", "csinodes");
pub(super) const ATTACHMENTS: Key = Key::new("storage.k8s.io", "volumeattachments");
const DRIVER: &str = "csi.hetzner.cloud";

impl Agent {
    /// Says whether all volumes of a pod are attached to this node.
    pub(super) fn has_volumes(&self, pod: &Value) -> bool {
        let claims = self.kube.all(&CLAIMS, namespace(pod));
        let attached = self.kube.all(&ATTACHMENTS, "");
        let is_here = |volume: &str| {
            attached.iter().any(|one| {
                one["spec"]["source"]["persistentVolumeName"] == volume
                    && one["spec"]["nodeName"] == self.node.name.as_str()
                    && one["status"]["attached"] == true
            })
        };
        claim_names(pod).all(|wanted| {
            let claim = claims.iter().find(|claim| name(claim) == wanted);
            claim.and_then(|claim| claim["spec"]["volumeName"].as_str()).is_some_and(is_here)
        })
    }

    /// Says which storage plugins there are on the node: the one whose pod
    /// runs here.
    pub(super) fn report_storage(&self) {
        let plugin = |pod: &Value| {
            let labels = &pod["metadata"]["labels"];
            labels["app.kubernetes.io/name"] == "hcloud-csi"
                && labels["app.kubernetes.io/component"] == "node"
        };
        let running =
            self.pods().iter().any(|pod| plugin(pod) && has_condition(pod, "Ready", "True"));
        let registered = running && !self.trouble.borrow().no_storage_plugin;
        let Ok(place) = self.kube.place(&CSI_NODES, "", &self.node.name) else { return };
        let known = self.kube.get(&place).ok();
        let listed = known.as_ref().is_some_and(|node| !items(&node["spec"]["drivers"]).is_empty());
        if known.is_some() && listed == registered {
            return;
        }
        let driver = json!({ "name": DRIVER, "nodeID": self.node.name,
            "topologyKeys": ["csi.hetzner.cloud/location"], "allocatable": { "count": 16 } });
        let drivers = if registered { vec![driver] } else { Vec::new() };
        let node = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
            "metadata": { "name": self.node.name }, "spec": { "drivers": drivers } });
        let write = Write { force: true, ..Write::by("kubelet") };
        // The next look tries again.
        let _ = self.kube.patch(&place, &Patch::Apply(node), &write);
    }
}
