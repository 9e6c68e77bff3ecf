//! What a machine config is made from, besides the secrets.

use std::collections::BTreeMap;

use events::Secret;
use ipnet::{IpNet, Ipv4Net};

use super::{Contract, Mirror, RegistryAccess};

/// What all nodes of a cluster are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// The form of the config.
    pub contract: Contract,
    /// The version of Kubernetes, such as `v1.36.3`.
    pub kubernetes: String,
    /// The URL of the Kubernetes API, such as `https://10.0.64.10:6443`.
    pub endpoint: String,
    /// Every name and address that the Talos API or the Kubernetes API is
    /// reached by.
    pub cert_sans: Vec<String>,
    /// The networks of pods.
    pub pod_subnets: Vec<IpNet>,
    /// The networks of services.
    pub service_subnets: Vec<IpNet>,
    /// The domain of services.
    pub dns_domain: String,
    /// Who connects pods.
    pub cni: Cni,
    /// Who serves services.
    pub kube_proxy: KubeProxy,
    /// Who knows the cloud.
    pub cloud_provider: CloudProvider,
    /// Whose resolver pods use.
    pub host_dns: HostDns,
    /// What control planes run.
    pub control_planes: ControlPlanes,
    /// The networks that hold the nodes' own addresses; any where it is empty.
    /// Kubelets and etcd members then meet there and nowhere else.
    pub node_subnets: Vec<IpNet>,
    /// Where images of a registry are pulled from instead, by the registry.
    pub mirrors: BTreeMap<String, Mirror>,
    /// How nodes get into registries, by the host that is asked.
    pub registries: BTreeMap<String, RegistryAccess>,
    /// Who signs the certificates that kubelets serve with.
    pub kubelet_certificates: KubeletCertificates,
    /// Objects that Talos applies as soon as there is an API.
    pub inline_manifests: Vec<InlineManifest>,
    /// Where Talos downloads more of them, in this order.
    pub extra_manifests: Vec<String>,
}

/// Who connects pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cni {
    /// Flannel, which Talos brings.
    Flannel,
    /// Something that is installed later.
    None,
}

/// Who serves services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KubeProxy {
    /// kube-proxy, which Talos brings.
    Enabled,
    /// The CNI.
    Disabled,
}

/// Who knows the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloudProvider {
    /// Nobody.
    None,
    /// A controller that is installed later. Until it has seen a node, that
    /// node is tainted as uninitialized.
    External,
}

/// Whose resolver pods use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDns {
    /// `CoreDNS` asks the resolvers that the node asks.
    NodeOnly,
    /// `CoreDNS` asks the node.
    ForwardPods,
}

/// What control planes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlPlanes {
    /// Nothing but the control plane.
    Reserved,
    /// Everything: the cluster has no workers.
    RunWorkloads,
}

/// Who signs the certificates that kubelets serve with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KubeletCertificates {
    /// Each kubelet its own.
    SelfSigned,
    /// The cluster's authority, once somebody has approved it.
    Requested,
}

/// Objects that Talos applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineManifest {
    /// Its name.
    pub name: String,
    /// The objects, as YAML. They may hold secrets.
    pub contents: Secret,
}

/// Why no machine config can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// The endpoint is no URL of an API.
    #[error("the endpoint `{0}` does not begin with `https://`")]
    Endpoint(String),
    /// The version of Kubernetes is none.
    #[error("the Kubernetes version `{0}` does not begin with `v`")]
    Kubernetes(String),
    /// The name of a host is none.
    #[error("`{0}` is not a host name: up to 63 of a to z, 0 to 9 and dashes between them")]
    Hostname(String),
    /// Pods or services have no network.
    #[error("there is no network for {0}")]
    NoSubnet(&'static str),
    /// The disk is no device.
    #[error("the disk `{0}` is not the path of a device")]
    Disk(String),
    /// A selector asks for nothing.
    #[error("the selector fits every disk")]
    AnyDisk,
    /// A selector has two sizes.
    #[error("Talos takes one size of a disk, the smallest or the largest")]
    TwoSizes,
}

impl Cluster {
    /// A cluster as talosctl makes it where nothing else is asked for, in the
    /// form that every supported version of Talos from 1.12 on accepts.
    pub fn new(name: &str, kubernetes: &str, endpoint: &str) -> Self {
        let net = |net: [u8; 4], bits| {
            Ipv4Net::new(net.into(), bits).expect("a mask has at most 32 bits").into()
        };
        Self {
            name: name.to_owned(),
            contract: Contract::HostnameDocument,
            kubernetes: kubernetes.to_owned(),
            endpoint: endpoint.to_owned(),
            cert_sans: Vec::new(),
            pod_subnets: vec![net([10, 244, 0, 0], 16)],
            service_subnets: vec![net([10, 96, 0, 0], 12)],
            dns_domain: "cluster.local".to_owned(),
            cni: Cni::Flannel,
            kube_proxy: KubeProxy::Enabled,
            cloud_provider: CloudProvider::None,
            host_dns: HostDns::ForwardPods,
            control_planes: ControlPlanes::Reserved,
            node_subnets: Vec::new(),
            mirrors: BTreeMap::new(),
            registries: BTreeMap::new(),
            kubelet_certificates: KubeletCertificates::SelfSigned,
            inline_manifests: Vec::new(),
            extra_manifests: Vec::new(),
        }
    }

    /// Returns the name or address in the endpoint.
    pub(super) fn endpoint_host(&self) -> Option<&str> {
        let authority = self.endpoint.strip_prefix("https://")?.split('/').next()?;
        match authority.strip_prefix('[') {
            Some(address) => address.split(']').next(),
            None => authority.split(':').next(),
        }
    }

    pub(super) fn check(&self) -> Result<(), InputError> {
        if !self.endpoint.starts_with("https://") {
            return Err(InputError::Endpoint(self.endpoint.clone()));
        }
        if !self.kubernetes.starts_with('v') {
            return Err(InputError::Kubernetes(self.kubernetes.clone()));
        }
        for (what, subnets) in [("pods", &self.pod_subnets), ("services", &self.service_subnets)] {
            if subnets.is_empty() {
                return Err(InputError::NoSubnet(what));
            }
        }
        Ok(())
    }
}
