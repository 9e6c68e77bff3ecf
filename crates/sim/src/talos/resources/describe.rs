//! Resources that follow from the state of a node.

use serde_json::{Value, json};

use super::{Described, definition, hardware, store::described};
use crate::talos::{
    Cluster, Knobs, NodeFacts,
    node::{State, StaticPods, unmet},
    services::Health,
};

const CONTROL_PLANE_PODS: [&str; 3] =
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/// Returns the ids of a control plane's static pods.
pub(in crate::talos) fn static_pod_names(hostname: &str) -> impl Iterator<Item = String> {
    CONTROL_PLANE_PODS.iter().map(move |name| format!("kube-system/{name}-{hostname}"))
}

/// Describes everything that a node shows.
pub(in crate::talos) fn describe(
    facts: &NodeFacts,
    state: &State,
    hostname: &str,
    knobs: &Knobs,
) -> Vec<Described> {
    let mut all: Vec<_> = definition::describe_all().collect();
    all.extend(hardware::describe(facts));
    all.push(machine_status(state, hostname, knobs));
    all.extend(services(state));
    all.extend(configuration(state, hostname));
    all.extend(static_pods(state, hostname));
    all.extend(node_status(state, hostname));
    all.extend(local_member(state));
    all.extend(state.cluster.as_ref().into_iter().flat_map(|cluster| members(state, cluster)));
    all
}

fn machine_status(state: &State, hostname: &str, knobs: &Knobs) -> Described {
    let unmet: Vec<_> = unmet(state, hostname, knobs)
        .into_iter()
        .map(|unmet| json!({ "name": unmet.name, "reason": unmet.reason }))
        .collect();
    let status = json!({ "ready": unmet.is_empty(), "unmetConditions": unmet });
    let spec = json!({ "stage": state.stage.name(), "status": status });
    described("MachineStatuses.runtime.talos.dev", "machine", &spec)
}

/// Only services that run have a resource.
fn services(state: &State) -> impl Iterator<Item = Described> {
    state.services.iter().filter(|(_, service)| service.runs()).map(|(name, service)| {
        let spec = json!({
            "running": true,
            "healthy": service.health == Health::Healthy,
            "unknown": service.health == Health::Unknown,
        });
        described("Services.v1alpha1.talos.dev", name, &spec)
    })
}

fn configuration(state: &State, hostname: &str) -> Vec<Described> {
    let Some(config) = &state.config else { return Vec::new() };
    let machine_type = Value::String(config.machine_type.to_string());
    let nodename =
        json!({ "nodename": hostname, "hostnameVersion": "1", "skipNodeRegistration": false });
    vec![
        Described::verbatim("MachineConfigs.config.talos.dev", "v1alpha1", &config.text),
        described("MachineTypes.config.talos.dev", "machine-type", &machine_type),
        described("Nodenames.kubernetes.talos.dev", "nodename", &nodename),
    ]
}

fn static_pods(state: &State, hostname: &str) -> Vec<Described> {
    let ready = match state.static_pods {
        StaticPods::Absent => return Vec::new(),
        StaticPods::Starting => "False",
        StaticPods::Ready => "True",
    };
    let condition = |kind: &str, status: &str| json!({ "type": kind, "status": status });
    let spec = json!({
        "phase": "Running",
        "conditions": [
            condition("Initialized", "True"),
            condition("Ready", ready),
            condition("ContainersReady", ready),
            condition("PodScheduled", "True"),
        ],
    });
    static_pod_names(hostname)
        .map(|id| described("StaticPodStatuses.kubernetes.talos.dev", &id, &spec))
        .collect()
}

fn node_status(state: &State, hostname: &str) -> Option<Described> {
    let node = state.kubernetes.as_ref()?;
    let spec = json!({
        "nodename": hostname,
        "nodeReady": node.ready,
        "unschedulable": node.unschedulable,
        "labels": {},
        "annotations": {},
    });
    Some(described("NodeStatuses.kubernetes.talos.dev", hostname, &spec))
}

fn local_member(state: &State) -> Option<Described> {
    let member = state.member().filter(|_| state.services.is_healthy("etcd"))?;
    let spec = json!({ "memberID": format!("{:x}", member.id) });
    Some(described("EtcdMembers.etcd.talos.dev", "local", &spec))
}

/// Nodes know of each other through discovery only.
fn members(state: &State, cluster: &Cluster) -> Vec<Described> {
    if !state.config.as_ref().is_some_and(|config| config.cluster.discovery) {
        return Vec::new();
    }
    let peers = cluster.peers().into_iter();
    peers
        .map(|peer| {
            let spec = json!({
                "nodeId": peer.hostname,
                "addresses": peer.addresses,
                "hostname": peer.hostname,
                "machineType": peer.machine_type.to_string(),
                "operatingSystem": format!("Talos ({})", peer.version),
            });
            described("Members.cluster.talos.dev", &peer.hostname, &spec)
        })
        .collect()
}
