//! Pods that no API has asked for: the static ones of a control plane, which
//! its kubelet shows to the API once both are there.

use serde_json::{Value, json};

use crate::kube::Kube;
use crate::kube::api::Write;
use crate::kube::controllers::{NODES, PODS};
use crate::kube::object::uid;
use crate::kube::resource::Key;

const NAMESPACES: Key = Key::core("namespaces");
const NAMESPACE: &str = "kube-system";
const CONTROL_PLANE: [&str; 3] = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];

impl Kube {
    /// Shows the static pods of a control plane once its node has registered.
    pub async fn mirror_static_pods(&self, node: &str, version: &str) {
        let mut revision = self.revision();
        loop {
            revision.borrow_and_update();
            if self.mirror(node, version).is_some() {
                return;
            }
            if revision.changed().await.is_err() {
                return;
            }
        }
    }

    /// Makes the pods; nothing where there is no place for them yet.
    fn mirror(&self, node: &str, version: &str) -> Option<()> {
        let owner = self.get(&self.place(&NODES, "", node).ok()?).ok()?;
        self.get(&self.place(&NAMESPACES, "", NAMESPACE).ok()?).ok()?;
        let place = self.place(&PODS, NAMESPACE, "").ok()?;
        for name in CONTROL_PLANE {
            // One that is there from an earlier life of the node stays.
            let _ = self.create(&place, pod(name, &owner, node, version), &Write::by("kubelet"));
        }
        Some(())
    }
}

fn pod(name: &str, owner: &Value, node: &str, version: &str) -> Value {
    let owner = json!({ "apiVersion": "v1", "kind": "Node", "name": node, "uid": uid(owner),
        "controller": true });
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("{name}-{node}"), "namespace": NAMESPACE, "ownerReferences": [owner],
            "labels": { "component": name, "k8s-app": name, "tier": "control-plane" },
            "annotations": { "kubernetes.io/config.mirror": version,
                "kubernetes.io/config.source": "http" },
        },
        "spec": {
            "nodeName": node, "hostNetwork": true, "restartPolicy": "Always",
            "priorityClassName": "system-cluster-critical",
            "tolerations": [{ "effect": "NoExecute", "operator": "Exists" }],
            "containers": [{ "name": name, "image": format!("registry.k8s.io/{name}:{version}") }],
        },
    })
}
