//! A pod's way through its phases.

use serde_json::{Value, json};

use super::agent::{Agent, Step};
use crate::kube::api::{Write, set_condition};
use crate::kube::controllers::{About, PODS, record};
use crate::kube::object::{has_condition, is_terminating, items, name, namespace};

const KUBELET: &str = "kubelet";
const BACK_OFF: &str = "CrashLoopBackOff";

/// Where a container runtime looks for the network of pods.
const CNI_FOLDER: &str = "/etc/cni";

/// Says whether a pod brings the network of the others: it writes into the folder
/// where the container runtime looks for one.
pub(super) fn is_network_plugin(pod: &Value) -> bool {
    let writes = |volume: &Value| {
        volume["hostPath"]["path"].as_str().is_some_and(|path| path.starts_with(CNI_FOLDER))
    };
    items(&pod["spec"]["volumes"]).iter().any(writes)
}

impl Agent {
    /// Returns what a pod goes through next, if anything.
    pub(super) fn next_step(&self, pod: &Value) -> Option<Step> {
        let phase = pod["status"]["phase"].as_str().unwrap_or_default();
        match phase {
            _ if is_terminating(pod) => Some(Step::Stop),
            "Running" if self.crashes(pod) => {
                self.crash(pod);
                None
            }
            "Pending" if self.is_hindered(pod) => None,
            "Pending" => Some(Step::Start),
            "Running" if ends_by_itself(pod) => Some(Step::Complete),
            "Running" if !has_condition(pod, "Ready", "True") => Some(Step::BecomeReady),
            _ => None,
        }
    }

    /// Says whether the containers of a pod keep exiting here.
    fn crashes(&self, pod: &Value) -> bool {
        self.trouble.borrow().crashing.iter().any(|prefix| name(pod).starts_with(prefix))
    }

    /// The containers of a pod have exited, and wait to be started again.
    fn crash(&self, pod: &Value) {
        let statuses = items(&pod["status"]["containerStatuses"]);
        if statuses.iter().any(|one| one["state"]["waiting"]["reason"] == BACK_OFF) {
            return;
        }
        let message = "back-off 40s restarting failed container";
        let state = json!({ "waiting": { "reason": BACK_OFF, "message": message } });
        self.tell(pod, "Running", &state, false);
        let (kind, reason, message) =
            ("Warning", "BackOff", "Back-off restarting failed container");
        record(&self.kube, &About { object: pod, kind, reason, message, source: KUBELET });
    }

    /// Says whether something keeps a pod from starting, and says so to
    /// everybody.
    fn is_hindered(&self, pod: &Value) -> bool {
        let trouble = self.trouble.borrow().clone();
        let host_network = pod["spec"]["hostNetwork"] == true;
        if is_network_plugin(pod) && trouble.no_network_plugin {
            let message = "Error: failed to create containerd task: failed to start shim";
            self.hold(pod, "CreateContainerError", "Failed", message);
            return true;
        }
        if trouble.volumes_fail && !host_network {
            let volume = items(&pod["spec"]["volumes"]).first().map_or("kube-api-access", name_of);
            let message = format!(
                "MountVolume.SetUp failed for volume \"{volume}\" : mount failed: exit status 32"
            );
            self.hold(pod, "ContainerCreating", "FailedMount", &message);
            return true;
        }
        if !host_network && !self.has_network() {
            let message = "network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized";
            self.hold(pod, "ContainerCreating", "NetworkNotReady", message);
            return true;
        }
        if !self.has_volumes(pod) {
            self.leave(pod, "ContainerCreating");
            return true;
        }
        false
    }

    /// Leaves a pod waiting, and says why once.
    fn hold(&self, pod: &Value, waiting: &str, reason: &str, message: &str) {
        if self.leave(pod, waiting) {
            let (kind, source) = ("Warning", KUBELET);
            record(&self.kube, &About { object: pod, kind, reason, message, source });
        }
    }

    /// Leaves a pod waiting, and says whether it was not so before.
    fn leave(&self, pod: &Value, waiting: &str) -> bool {
        let statuses = items(&pod["status"]["containerStatuses"]);
        if statuses.iter().any(|one| one["state"]["waiting"]["reason"] == waiting) {
            return false;
        }
        let state = json!({ "waiting": { "reason": waiting } });
        self.tell(pod, "Pending", &state, false);
        true
    }

    /// The containers of a pod are started.
    pub(super) fn start(&mut self, pod: &Value) {
        let mut pod = pod.clone();
        pod["status"]["hostIP"] = json!(self.node.internal_ip);
        pod["status"]["hostIPs"] = json!([{ "ip": self.node.internal_ip }]);
        let address = if pod["spec"]["hostNetwork"] == true {
            self.node.internal_ip.clone()
        } else {
            self.addresses = self.addresses.checked_add(1).unwrap_or(2);
            format!("{}.{}", self.node.pod_prefix, self.addresses)
        };
        pod["status"]["podIP"] = json!(address);
        pod["status"]["podIPs"] = json!([{ "ip": address }]);
        let now = self.kube.clock().stamp();
        pod["status"]["startTime"] = json!(now);
        self.tell(&pod, "Running", &json!({ "running": { "startedAt": now } }), false);
        for _ in items(&pod["spec"]["containers"]) {
            let (kind, reason, message) = ("Normal", "Started", "Container started");
            record(&self.kube, &About { object: &pod, kind, reason, message, source: KUBELET });
        }
    }

    /// The containers of a pod answer their probes.
    pub(super) fn become_ready(&self, pod: &Value) {
        let started = items(&pod["status"]["containerStatuses"]).first();
        let now = json!({ "running": { "startedAt": self.kube.clock().stamp() } });
        let running = started.map(|one| one["state"].clone());
        let state = running.filter(|state| state["running"].is_object()).unwrap_or(now);
        self.tell(pod, "Running", &state, true);
    }

    /// The work of a pod is done.
    pub(super) fn complete(&self, pod: &Value) {
        let now = self.kube.clock().stamp();
        let state = json!({ "terminated": { "exitCode": 0, "reason": "Completed",
            "startedAt": pod["status"]["startTime"], "finishedAt": now } });
        self.tell(pod, "Succeeded", &state, false);
    }

    /// Writes a pod's status: its phase, and one state for all containers.
    fn tell(&self, pod: &Value, phase: &str, state: &Value, ready: bool) {
        let mut pod = pod.clone();
        let now = self.kube.clock().stamp();
        let running = state.get("running").is_some();
        let status = |container: &Value| {
            let image = &container["image"];
            let exited = json!({ "terminated": { "exitCode": 1, "reason": "Error",
                "startedAt": now, "finishedAt": now } });
            let crashed = state["waiting"]["reason"] == BACK_OFF;
            let (restarts, last) = if crashed { (4, exited) } else { (0, json!({})) };
            json!({ "name": container["name"], "image": image, "imageID": "",
                "restartCount": restarts, "ready": ready, "started": running, "state": state,
                "lastState": last })
        };
        let statuses: Vec<Value> = items(&pod["spec"]["containers"]).iter().map(status).collect();
        pod["status"]["containerStatuses"] = json!(statuses);
        if phase != "Pending" && pod["status"]["initContainerStatuses"].is_null() {
            begun(&mut pod, &now);
        }
        pod["status"]["phase"] = json!(phase);
        let generation = pod["metadata"]["generation"].clone();
        pod["status"]["observedGeneration"] = generation.clone();
        let over = phase == "Succeeded";
        for (kind, holds) in [
            ("PodReadyToStartContainers", phase == "Running"),
            ("Initialized", true),
            ("Ready", ready),
            ("ContainersReady", ready),
            ("PodScheduled", true),
        ] {
            let mut condition = json!({ "type": kind, "status": if holds { "True" } else { "False" },
                "lastProbeTime": null, "lastTransitionTime": now, "observedGeneration": generation });
            if kind.ends_with("Ready") && !holds {
                condition["reason"] =
                    json!(if over { "PodCompleted" } else { "ContainersNotReady" });
                if !over {
                    let names: Vec<&str> =
                        items(&pod["spec"]["containers"]).iter().map(name_of).collect();
                    let message = format!("containers with unready status: [{}]", names.join(" "));
                    condition["message"] = json!(message);
                }
            }
            set_condition(&mut pod, condition);
        }
        let Ok(mut place) = self.kube.place(&PODS, namespace(&pod), name(&pod)) else { return };
        "status".clone_into(&mut place.subresource);
        // Where the pod has changed meanwhile, the next look starts over.
        let _ = self.kube.update(&place, pod, &Write::by(KUBELET));
    }
}

/// Whatever comes before the containers of a pod is over once they run.
fn begun(pod: &mut Value, now: &str) {
    let status = |container: &Value| {
        json!({ "name": container["name"], "image": container["image"], "imageID": "",
            "restartCount": 0, "ready": true, "started": false, "lastState": {},
            "state": { "terminated": { "exitCode": 0, "reason": "Completed",
                "startedAt": now, "finishedAt": now } } })
    };
    let before: Vec<Value> = items(&pod["spec"]["initContainers"]).iter().map(status).collect();
    if !before.is_empty() {
        pod["status"]["initContainerStatuses"] = json!(before);
    }
}

/// A pod that need not always run does its work and ends, unless it is there
/// to be asked: then a container of it has a port, or a probe of its readiness.
fn ends_by_itself(pod: &Value) -> bool {
    let serves =
        |one: &Value| !items(&one["ports"]).is_empty() || one["readinessProbe"].is_object();
    pod["spec"]["restartPolicy"] != "Always"
        && !items(&pod["spec"]["containers"]).iter().any(serves)
}

fn name_of(value: &Value) -> &str {
    value["name"].as_str().unwrap_or_default()
}
