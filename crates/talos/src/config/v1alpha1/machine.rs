//! The part about the machine.

use std::collections::BTreeMap;
use std::net::IpAddr;

use events::Role;
use ipnet::IpNet;
use serde::Serialize;

use super::Pair;
use super::hardware::{EncryptionPart, InstallPart, InterfacePart};
use super::registries::Registries;
use super::taints::{KubeletTaints, TaintedBy};
use crate::config::{Cluster, Contract, ControlPlanes, HostDns, KubeletCertificates, Node};
use crate::secrets::Bundle;

const KUBE_PRISM_PORT: u16 = 7445;
const NOT_BEHIND_LOAD_BALANCERS: &str = "node.kubernetes.io/exclude-from-external-load-balancers";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MachinePart<'a> {
    r#type: &'static str,
    token: &'a str,
    ca: Pair,
    #[serde(rename = "certSANs")]
    cert_sans: &'a [String],
    kubelet: Kubelet<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<MachineNetwork<'a>>,
    install: InstallPart<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_disk_encryption: Option<EncryptionPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    registries: Option<Registries<'a>>,
    features: Features,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    node_labels: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    node_taints: BTreeMap<&'a str, &'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Kubelet<'a> {
    image: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra_args: BTreeMap<&'static str, &'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_config: Option<KubeletTaints<'a>>,
    default_runtime_seccomp_profile_enabled: bool,
    #[serde(rename = "nodeIP", skip_serializing_if = "Option::is_none")]
    node_ip: Option<NodeIp<'a>>,
    disable_manifests_directory: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NodeIp<'a> {
    valid_subnets: &'a [IpNet],
}

#[derive(Serialize)]
struct MachineNetwork<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hostname: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    interfaces: Vec<InterfacePart<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    nameservers: &'a [IpAddr],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Features {
    #[serde(skip_serializing_if = "Option::is_none")]
    rbac: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stable_hostname: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    apid_check_ext_key_usage: Option<bool>,
    disk_quota_support: bool,
    kube_prism: KubePrism,
    #[serde(rename = "hostDNS")]
    host_dns: HostDnsPart,
}

#[derive(Serialize)]
struct KubePrism {
    enabled: bool,
    port: u16,
}

#[derive(Serialize)]
struct HostDnsPart {
    enabled: bool,
    #[serde(rename = "forwardKubeDNSToHost")]
    forward_kube_dns_to_host: bool,
}

impl<'a> MachinePart<'a> {
    pub(super) fn of(bundle: &'a Bundle, cluster: &'a Cluster, node: &'a Node) -> Self {
        let one_document = cluster.contract == Contract::OneDocument;
        Self {
            r#type: match node.role {
                Role::ControlPlane => "controlplane",
                Role::Worker => "worker",
            },
            token: bundle.trustd_token.secret().reveal(),
            ca: Pair::of(&bundle.os, node.role),
            cert_sans: &cluster.cert_sans,
            kubelet: Kubelet::of(cluster, node),
            network: MachineNetwork::of(cluster, node),
            install: InstallPart::of(node, (!one_document).then_some(true)),
            system_disk_encryption: EncryptionPart::of(node.encryption),
            registries: Registries::of(cluster),
            features: Features::of(cluster),
            node_labels: node_labels(cluster, node),
            node_taints: match TaintedBy::of(cluster, node) {
                TaintedBy::Talos => texts(&node.taints),
                TaintedBy::Kubelet => BTreeMap::new(),
            },
        }
    }
}

impl<'a> MachineNetwork<'a> {
    fn of(cluster: &Cluster, node: &'a Node) -> Option<Self> {
        let named_here = cluster.contract == Contract::OneDocument;
        let network = Self {
            hostname: named_here.then_some(&node.hostname),
            interfaces: node.interfaces.iter().map(InterfacePart::of).collect(),
            nameservers: &node.nameservers,
        };
        let is_left_out = cluster.contract >= Contract::NoEmptyNetwork && network.is_empty();
        (!is_left_out).then_some(network)
    }

    fn is_empty(&self) -> bool {
        self.hostname.is_none() && self.interfaces.is_empty() && self.nameservers.is_empty()
    }
}

impl<'a> Kubelet<'a> {
    fn of(cluster: &'a Cluster, node: &'a Node) -> Self {
        let subnets = Some(cluster.node_subnets.as_slice()).filter(|subnets| !subnets.is_empty());
        Self {
            image: format!("ghcr.io/siderolabs/kubelet:{}", cluster.kubernetes),
            extra_args: match cluster.kubelet_certificates {
                KubeletCertificates::SelfSigned => BTreeMap::new(),
                KubeletCertificates::Requested => {
                    BTreeMap::from([("rotate-server-certificates", "true")])
                }
            },
            extra_config: match TaintedBy::of(cluster, node) {
                TaintedBy::Talos => None,
                TaintedBy::Kubelet => KubeletTaints::of(node),
            },
            default_runtime_seccomp_profile_enabled: true,
            node_ip: subnets.map(|valid_subnets| NodeIp { valid_subnets }),
            disable_manifests_directory: true,
        }
    }
}

impl Features {
    fn of(cluster: &Cluster) -> Self {
        // Since 1.12 these are not to be chosen any more.
        let said = (cluster.contract == Contract::OneDocument).then_some(true);
        Self {
            rbac: said,
            stable_hostname: said,
            apid_check_ext_key_usage: said,
            disk_quota_support: true,
            kube_prism: KubePrism { enabled: true, port: KUBE_PRISM_PORT },
            host_dns: HostDnsPart {
                enabled: true,
                forward_kube_dns_to_host: cluster.host_dns == HostDns::ForwardPods,
            },
        }
    }
}

/// Where control planes run workloads, traffic from outside goes there too.
fn node_labels<'a>(cluster: &Cluster, node: &'a Node) -> BTreeMap<&'a str, &'a str> {
    let mut labels = texts(&node.labels);
    if node.role == Role::ControlPlane && cluster.control_planes == ControlPlanes::Reserved {
        labels.insert(NOT_BEHIND_LOAD_BALANCERS, "");
    }
    labels
}

fn texts(table: &BTreeMap<String, String>) -> BTreeMap<&str, &str> {
    table.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}
