//! The machine configuration that a node is given, as far as the simulated
//! world acts on it.
//!
//! Read strictly, as Talos does: a key that it does not know is refused, and so
//! is a configuration that lacks what a node of its kind needs.

mod check;
mod documents;
mod gathered;
mod keys;
mod raw;

use std::{collections::BTreeMap, fmt, net::IpAddr};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

pub use documents::ConfigError;

use super::{PkiError, pki};

/// What kind of node a configuration makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MachineType {
    /// A control plane; `init` is an old word for the first of them.
    #[serde(alias = "init")]
    ControlPlane,
    /// A worker.
    Worker,
}

/// A complete machine configuration.
#[derive(Clone, PartialEq, Eq)]
pub struct MachineConfig {
    /// What kind of node it makes.
    pub machine_type: MachineType,
    /// The token with which nodes ask trustd for their certificate.
    pub token: String,
    /// The authority of the Talos API; workers do not have its key.
    pub machine_ca: PemPair,
    /// Names and addresses to put into the certificate of the Talos API.
    pub cert_sans: Vec<String>,
    /// The hostname that the configuration chooses.
    pub hostname: Option<String>,
    /// What the kubelet is told.
    pub kubelet: KubeletFacts,
    /// What the cluster is.
    pub cluster: ClusterFacts,
    /// The documents as they were given.
    pub text: String,
}

/// What a configuration says about the cluster.
#[derive(Clone, PartialEq, Eq)]
pub struct ClusterFacts {
    /// The cluster's identity.
    pub id: String,
    /// The cluster's name.
    pub name: String,
    /// Where its Kubernetes API is to be reached, a URL.
    pub endpoint: String,
    /// The token with which kubelets ask for their certificate.
    pub bootstrap_token: String,
    /// The authority of the Kubernetes API; workers do not have its key.
    pub kubernetes_ca: PemPair,
    /// The authority of aggregated APIs, on control planes.
    pub aggregator_ca: Option<PemPair>,
    /// The authority of etcd, on control planes.
    pub etcd_ca: Option<PemPair>,
    /// The key that signs the tokens of service accounts, on control planes.
    pub service_account_key: Option<String>,
    /// Names and addresses to put into the certificate of the Kubernetes API.
    pub api_cert_sans: Vec<String>,
    /// The networks of the pods.
    pub pod_subnets: Vec<String>,
    /// The networks of the services.
    pub service_subnets: Vec<String>,
    /// The domain of the cluster's own names.
    pub dns_domain: String,
    /// The network plugin that Talos brings along: `flannel`, `custom` or `none`.
    pub cni: String,
    /// Whether Talos runs kube-proxy.
    pub kube_proxy: bool,
    /// Whether Talos runs `CoreDNS`.
    pub core_dns: bool,
    /// Whether nodes wait for a cloud controller.
    pub external_cloud_provider: bool,
    /// Whether the nodes find each other.
    pub discovery: bool,
    /// Whether pods may run on control planes.
    pub schedule_on_control_planes: bool,
}

/// What a configuration tells the kubelet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubeletFacts {
    /// Its image, whose tag is the version of Kubernetes.
    pub image: Option<String>,
    /// The networks that the node's address is chosen from.
    pub node_ip_subnets: Vec<String>,
    /// Arguments added to its command line.
    pub extra_args: BTreeMap<String, String>,
    /// Labels of the node.
    pub node_labels: BTreeMap<String, String>,
    /// Taints of the node, each `value:effect` or `effect`.
    pub node_taints: BTreeMap<String, String>,
    /// Taints that it registers the node with by its own configuration, as the
    /// API writes them.
    pub register_with_taints: Vec<Value>,
}

/// A certificate with its key, both as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct PemPair {
    /// The certificate.
    pub certificate: String,
    /// Its key, where it came along.
    pub key: Option<String>,
}

/// What somebody sent as a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// Enough to make a node of it.
    Complete(Box<MachineConfig>),
    /// Documents to go with a configuration that is still to come.
    Partial,
}

impl MachineConfig {
    /// Reads a configuration as a node of the newest version does.
    pub fn parse(data: &[u8]) -> Result<Received, ConfigError> {
        Self::parse_for(data, documents::MANY)
    }

    /// Reads a configuration as a node of a release does.
    pub(super) fn parse_for(data: &[u8], release: (u32, u32)) -> Result<Received, ConfigError> {
        let documents = documents::Documents::read(data)?;
        documents.are_known_to(release)?;
        match raw::assemble(&documents)? {
            Some(config) => {
                check::check(&config)?;
                Ok(Received::Complete(Box::new(config)))
            }
            None => Ok(Received::Partial),
        }
    }

    /// Makes the certificate of the Kubernetes API server on a control plane
    /// with these addresses.
    pub fn kubernetes_server(
        &self,
        addresses: &[IpAddr],
        now: Timestamp,
    ) -> Result<PemPair, PkiError> {
        let own = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"];
        let own = own.into_iter().map(str::to_owned);
        let names: Vec<_> = own.chain(self.cluster.api_cert_sans.iter().cloned()).collect();
        pki::kubernetes_server(&self.cluster.kubernetes_ca, &names, addresses, now)
    }

    /// Says whether the node is a control plane.
    pub fn is_control_plane(&self) -> bool {
        self.machine_type == MachineType::ControlPlane
    }
}

impl fmt::Display for MachineType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ControlPlane => "controlplane",
            Self::Worker => "worker",
        })
    }
}

impl fmt::Debug for MachineConfig {
    /// Shows whose configuration it is and none of its secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineConfig")
            .field("machine_type", &self.machine_type)
            .field("hostname", &self.hostname)
            .field("cluster", &self.cluster.name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PemPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PemPair").field("has_key", &self.key.is_some()).finish_non_exhaustive()
    }
}
