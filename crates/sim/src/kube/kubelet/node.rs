//! What a kubelet says about its node.

use std::time::Duration;

use serde_json::{Value, json};

use super::agent::{Agent, LEASE, RETRY};
use super::pod::is_network_plugin;
use crate::kube::api::{Patch, Write, set_condition};
use crate::kube::controllers::{About, NODES, record};
use crate::kube::object::{has_condition, items};
use crate::kube::resource::Key;

const LEASES: Key = Key::new("coordination.k8s.io", "leases");
const KUBELET: &str = "kubelet";
const NO_NETWORK: &str = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized";

impl Agent {
    /// Makes the node's object.
    pub(super) fn register(&self) {
        let node = self.node_object();
        if let Ok(place) = self.kube.place(&NODES, "", "") {
            // A node that comes back finds its object there.
            let _ = self.kube.create(&place, node, &Write::by(KUBELET));
        }
        if let Some(node) = self.current() {
            let message =
                format!("Node {} event: Registered Node {0} in Controller", self.node.name);
            let (kind, reason, source) = ("Normal", "RegisteredNode", "node-controller");
            record(&self.kube, &About { object: &node, kind, reason, message: &message, source });
        }
    }

    fn node_object(&self) -> Value {
        let settings = &self.node;
        let mut labels = json!({
            "kubernetes.io/hostname": settings.name, "kubernetes.io/os": "linux",
            "kubernetes.io/arch": settings.architecture,
            "beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": settings.architecture,
        });
        for (key, value) in &settings.labels {
            labels[key] = json!(value);
        }
        let mut taints = settings.taints.clone();
        taints.push(json!({ "key": "node.kubernetes.io/not-ready", "effect": "NoSchedule" }));
        let capacity = json!({
            "cpu": settings.cpus.to_string(), "memory": format!("{}Ki", u64::from(settings.memory_mib) * 1024),
            "ephemeral-storage": "39Gi", "hugepages-1Gi": "0", "hugepages-2Mi": "0", "pods": "110",
        });
        json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": settings.name, "labels": labels },
            "spec": { "taints": taints, "podCIDR": format!("{}.0/24", settings.pod_prefix),
                "podCIDRs": [format!("{}.0/24", settings.pod_prefix)] },
            "status": {
                "capacity": capacity, "allocatable": capacity, "conditions": self.first_conditions(),
                "addresses": [
                    { "type": "InternalIP", "address": settings.internal_ip },
                    { "type": "Hostname", "address": settings.name },
                ],
                "daemonEndpoints": { "kubeletEndpoint": { "Port": 10250 } },
                "nodeInfo": {
                    "architecture": settings.architecture, "operatingSystem": "linux",
                    "osImage": settings.os_image, "kernelVersion": "6.18.5-talos",
                    "containerRuntimeVersion": "containerd://2.2.1",
                    "kubeletVersion": settings.kubelet_version, "kubeProxyVersion": "",
                    "machineID": "", "systemUUID": "", "bootID": "",
                },
            },
        })
    }

    fn first_conditions(&self) -> Value {
        let now = self.kube.clock().stamp();
        let condition = |kind: &str, status: &str, reason: &str, message: &str| {
            json!({ "type": kind, "status": status, "reason": reason, "message": message,
                "lastHeartbeatTime": now, "lastTransitionTime": now })
        };
        json!([
            condition(
                "MemoryPressure",
                "False",
                "KubeletHasSufficientMemory",
                "kubelet has sufficient memory available"
            ),
            condition(
                "DiskPressure",
                "False",
                "KubeletHasNoDiskPressure",
                "kubelet has no disk pressure"
            ),
            condition(
                "PIDPressure",
                "False",
                "KubeletHasSufficientPID",
                "kubelet has sufficient PID available"
            ),
            condition("Ready", "False", "KubeletNotReady", NO_NETWORK),
        ])
    }

    fn current(&self) -> Option<Value> {
        let place = self.kube.place(&NODES, "", &self.node.name).ok()?;
        self.kube.get(&place).ok()
    }

    /// Says whether a pod of the network plugin runs here.
    pub(super) fn has_network(&self) -> bool {
        let serves = |pod: &Value| is_network_plugin(pod) && has_condition(pod, "Ready", "True");
        self.pods().iter().any(|pod| serves(pod))
    }

    /// The node is ready once its network is.
    pub(super) fn report_readiness(&self) {
        let Some(node) = self.current() else { return };
        let not_ready = self.trouble.borrow().not_ready;
        let ready = self.has_network() && not_ready.is_none();
        let (status, reason, message) = if ready {
            ("True", "KubeletReady", "kubelet is posting ready status")
        } else {
            ("False", "KubeletNotReady", not_ready.unwrap_or(NO_NETWORK))
        };
        // A node that is not ready for another reason than before says so.
        let said = |key: &str| {
            let ready =
                items(&node["status"]["conditions"]).iter().find(|it| it["type"] == "Ready");
            ready.and_then(|it| it[key].as_str()).unwrap_or_default()
        };
        if said("status") == status && said("message") == message {
            return;
        }
        let mut changed = node.clone();
        let now = self.kube.clock().stamp();
        set_condition(
            &mut changed,
            json!({ "type": "Ready", "status": status, "reason": reason,
            "message": message, "lastHeartbeatTime": now, "lastTransitionTime": now }),
        );
        let Ok(mut place) = self.kube.place(&NODES, "", &self.node.name) else { return };
        "status".clone_into(&mut place.subresource);
        let told = self.kube.update(&place, changed, &Write::by(KUBELET));
        if told.is_ok() {
            self.taint(&node, ready);
            let reason = if ready { "NodeReady" } else { "NodeNotReady" };
            let message = format!("Node {} status is now: {reason}", self.node.name);
            record(
                &self.kube,
                &About {
                    object: &node,
                    kind: "Normal",
                    reason,
                    message: &message,
                    source: KUBELET,
                },
            );
        }
    }

    /// A node that is not ready repels pods; the node controller says so in
    /// the same moment.
    fn taint(&self, node: &Value, ready: bool) {
        let mut taints = items(&node["spec"]["taints"]).to_vec();
        taints.retain(|taint| taint["key"] != "node.kubernetes.io/not-ready");
        if !ready {
            taints.push(json!({ "key": "node.kubernetes.io/not-ready", "effect": "NoSchedule" }));
        }
        let Ok(place) = self.kube.place(&NODES, "", &self.node.name) else { return };
        let patch = Patch::Merge(json!({ "spec": { "taints": taints } }));
        // A node that has just been deleted needs no taint.
        let _ = self.kube.patch(&place, &patch, &Write::by("kube-controller-manager"));
    }

    /// Says that the node is alive, and returns when to say so again.
    pub(super) fn renew_lease(&self) -> Duration {
        let Ok(place) = self.kube.place(&LEASES, "kube-node-lease", &self.node.name) else {
            return RETRY;
        };
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": { "name": self.node.name, "namespace": "kube-node-lease" },
            "spec": { "holderIdentity": self.node.name, "leaseDurationSeconds": 40,
                "renewTime": self.kube.clock().micro_stamp() },
        });
        let write = Write { force: true, ..Write::by(KUBELET) };
        match self.kube.patch(&place, &Patch::Apply(lease), &write) {
            Ok(_) => LEASE,
            Err(_) => RETRY,
        }
    }
}
