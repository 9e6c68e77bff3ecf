//! What the resources of a node say, made from what the node knows.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use prost::Message;
use serde_json::{Value, json};
use talos_proto::specs::{
    MachineConfigSpec, MachineStage, MachineStatusSpec, MachineStatusStatus, UnmetCondition,
};

use super::{Described, definition, hardware, kubernetes, store::described};
use crate::talos::{
    Cluster, ClusterFacts, Knobs, MachineType, NodeFacts,
    node::{State, unmet},
    services::Health,
};

/// Where every control plane has its own API server.
const API_SERVER_PORT: u16 = 6443;

/// What resources are made of.
pub(in crate::talos) struct Known<'a> {
    pub(in crate::talos) facts: &'a NodeFacts,
    pub(in crate::talos) state: &'a State,
    pub(in crate::talos) hostname: &'a str,
    pub(in crate::talos) knobs: &'a Knobs,
}

/// Which types of resources are wanted. Whoever reads one does not need the
/// rest, which with hundreds of nodes is most of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::talos) enum Wanted<'a> {
    All,
    Only(&'a str),
}

type Describe = fn(&Known<'_>) -> Vec<Described>;

/// How each type of resource is described.
#[rustfmt::skip]
const TYPES: &[(&str, Describe)] = &[
    ("ResourceDefinitions.meta.cosi.dev", |_| definition::describe_all()),
    ("MachineStatuses.runtime.talos.dev", machine_status),
    ("Services.v1alpha1.talos.dev", services),
    ("MachineConfigs.config.talos.dev", machine_config),
    ("MachineTypes.config.talos.dev", machine_type),
    ("EtcdMembers.etcd.talos.dev", local_member),
    ("Members.cluster.talos.dev", members),
    ("Diagnostics.runtime.talos.dev", diagnostics),
    ("PlatformMetadatas.talos.dev", hardware::platform),
    ("LinkStatuses.net.talos.dev", hardware::links),
    ("HardwareAddresses.net.talos.dev", hardware::hardware_address),
    ("Disks.block.talos.dev", hardware::disks),
    ("SystemDisks.block.talos.dev", hardware::system_disk),
    ("VolumeStatuses.block.talos.dev", hardware::volumes),
    ("Nodenames.kubernetes.talos.dev", kubernetes::nodename),
    ("NodeStatuses.kubernetes.talos.dev", kubernetes::node_status),
    ("StaticPodStatuses.kubernetes.talos.dev", kubernetes::static_pods),
    ("KubeletConfigs.kubernetes.talos.dev", kubernetes::kubelet),
    ("BootstrapManifestsConfigs.kubernetes.talos.dev", kubernetes::manifests),
    ("APIServerConfigs.kubernetes.talos.dev", |known| kubernetes::component(known, "APIServerConfigs", "kube-apiserver")),
    ("ControllerManagerConfigs.kubernetes.talos.dev", |known| kubernetes::component(known, "ControllerManagerConfigs", "kube-controller-manager")),
    ("SchedulerConfigs.kubernetes.talos.dev", |known| kubernetes::component(known, "SchedulerConfigs", "kube-scheduler")),
];

impl Wanted<'_> {
    /// Says whether a type is wanted.
    pub(super) fn is(self, kind: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => only == kind,
        }
    }
}

/// Describes what a node shows.
pub(in crate::talos) fn describe(known: &Known<'_>, wanted: Wanted<'_>) -> Vec<Described> {
    let types = TYPES.iter().filter(|(kind, _)| wanted.is(kind));
    types.flat_map(|(_, describe)| describe(known)).collect()
}

fn machine_status(known: &Known<'_>) -> Vec<Described> {
    let unmet = unmet(known.state, known.hostname, known.knobs);
    let named: Vec<_> =
        unmet.iter().map(|it| json!({ "name": it.name, "reason": it.reason })).collect();
    let status = json!({ "ready": unmet.is_empty(), "unmetConditions": named });
    let stage = known.state.stage.name();
    let spec = json!({ "stage": stage, "status": status });
    let unmet = unmet.into_iter();
    let conditions = unmet.map(|it| UnmetCondition { name: it.name.to_owned(), reason: it.reason });
    let unmet_conditions: Vec<_> = conditions.collect();
    let status = MachineStatusStatus { ready: unmet_conditions.is_empty(), unmet_conditions };
    let stage = MachineStage::from_str_name(&format!("MACHINE_STAGE_{}", stage.to_uppercase()));
    let stage = stage.unwrap_or_default().into();
    let proto = MachineStatusSpec { stage, status: Some(status) };
    let described = described("MachineStatuses.runtime.talos.dev", "machine", &spec);
    vec![described.with_proto(proto.encode_to_vec())]
}

/// Only services that run have a resource.
fn services(known: &Known<'_>) -> Vec<Described> {
    let running = known.state.services.iter().filter(|(_, service)| service.runs());
    let described = running.map(|(name, service)| {
        let spec = json!({
            "running": true,
            "healthy": service.health == Health::Healthy,
            "unknown": service.health == Health::Unknown,
        });
        described("Services.v1alpha1.talos.dev", name, &spec)
    });
    described.collect()
}

/// The YAML of a configuration is one text, and says so in an annotation.
fn machine_config(known: &Known<'_>) -> Vec<Described> {
    let Some(config) = &known.state.config else { return Vec::new() };
    let spec = Value::String(config.text.clone());
    let proto = MachineConfigSpec { yaml_marshalled: config.text.clone().into_bytes() };
    let described = described("MachineConfigs.config.talos.dev", "v1alpha1", &spec);
    vec![described.with_proto(proto.encode_to_vec()).annotated("talos.dev/yaml-spec", "1")]
}

fn machine_type(known: &Known<'_>) -> Vec<Described> {
    let Some(config) = &known.state.config else { return Vec::new() };
    let spec = Value::String(config.machine_type.to_string());
    vec![described("MachineTypes.config.talos.dev", "machine-type", &spec)]
}

fn local_member(known: &Known<'_>) -> Vec<Described> {
    let sound = known.state.services.is_healthy("etcd");
    let member = known.state.member().filter(|_| sound);
    let described = member.map(|member| {
        let spec = json!({ "memberID": format!("{:016x}", member.id) });
        described("EtcdMembers.etcd.talos.dev", "local", &spec)
    });
    described.into_iter().collect()
}

/// Nodes know of each other through discovery only.
fn members(known: &Known<'_>) -> Vec<Described> {
    let state = known.state;
    if !state.config.as_ref().is_some_and(|config| config.cluster.discovery) {
        return Vec::new();
    }
    let peers = state.cluster.as_ref().map(Cluster::peers).unwrap_or_default();
    let described = peers.into_iter().map(|peer| {
        let mut spec = json!({
            "nodeId": peer.id,
            "addresses": peer.addresses,
            "hostname": peer.hostname,
            "machineType": peer.machine_type.to_string(),
            "operatingSystem": format!("Talos ({})", peer.version),
        });
        if peer.machine_type == MachineType::ControlPlane {
            spec["controlPlane"] = json!({ "port": API_SERVER_PORT });
        }
        described("Members.cluster.talos.dev", &peer.hostname, &spec)
    });
    described.collect()
}

/// What a node finds wrong with itself; most of them find nothing.
fn diagnostics(known: &Known<'_>) -> Vec<Described> {
    let Some(config) = &known.state.config else { return Vec::new() };
    let cluster = &config.cluster;
    if !(known.knobs.addresses_overlap || overlaps(known.facts.address, cluster)) {
        return Vec::new();
    }
    let quoted = |subnets: &[String]| {
        let quoted = subnets.iter().map(|subnet| format!("\"{subnet}\""));
        format!("[{}]", quoted.collect::<Vec<_>>().join(" "))
    };
    let details = [
        format!("host routed addresses: [\"{}/24\"]", known.facts.address),
        format!("Kubernetes pod CIDRs: {}", quoted(&cluster.pod_subnets)),
        format!("Kubernetes service CIDRs: {}", quoted(&cluster.service_subnets)),
    ];
    let message = "host and Kubernetes pod/service CIDR addresses overlap";
    let spec = json!({ "message": message, "details": details });
    vec![described("Diagnostics.runtime.talos.dev", "address-overlap", &spec)]
}

/// Whether pods or services could have the address.
fn overlaps(address: Ipv4Addr, cluster: &ClusterFacts) -> bool {
    let subnets = cluster.pod_subnets.iter().chain(&cluster.service_subnets);
    let mut subnets = subnets.filter_map(|subnet| subnet.parse::<Ipv4Net>().ok());
    subnets.any(|subnet| subnet.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_that_is_described_is_defined() {
        for (kind, _) in TYPES {
            assert!(definition::definition(kind).is_some(), "{kind}");
        }
    }
}
