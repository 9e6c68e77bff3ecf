//! The main document as it is spelled, and what we read out of it.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    ClusterFacts, ConfigError, KubeletFacts, MachineConfig, MachineType, PemPair,
    documents::Documents, gathered::gather,
};

#[derive(Deserialize)]
struct Main {
    machine: Option<Machine>,
    cluster: Option<Cluster>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Machine {
    #[serde(rename = "type")]
    kind: Option<String>,
    token: String,
    ca: Option<Pem>,
    #[serde(rename = "certSANs")]
    cert_sans: Vec<String>,
    kubelet: Kubelet,
    network: MachineNetwork,
    node_labels: BTreeMap<String, String>,
    node_taints: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Kubelet {
    image: Option<String>,
    #[serde(rename = "nodeIP")]
    node_ip: NodeIp,
    extra_args: BTreeMap<String, Value>,
    extra_config: ExtraConfig,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ExtraConfig {
    register_with_taints: Vec<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct NodeIp {
    valid_subnets: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MachineNetwork {
    hostname: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Cluster {
    id: String,
    #[serde(rename = "clusterName")]
    name: Option<String>,
    control_plane: Option<ControlPlane>,
    network: ClusterNetwork,
    token: String,
    ca: Option<Pem>,
    #[serde(rename = "aggregatorCA")]
    aggregator_ca: Option<Pem>,
    service_account: Option<Pem>,
    api_server: ApiServer,
    etcd: Option<Etcd>,
    proxy: Switch,
    #[serde(rename = "coreDNS")]
    core_dns: Switch,
    external_cloud_provider: Switch,
    discovery: Discovery,
    allow_scheduling_on_control_planes: bool,
}

#[derive(Deserialize)]
struct ControlPlane {
    endpoint: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClusterNetwork {
    cni: Option<Cni>,
    dns_domain: Option<String>,
    pod_subnets: Vec<String>,
    service_subnets: Vec<String>,
}

#[derive(Deserialize)]
struct Cni {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ApiServer {
    #[serde(rename = "certSANs")]
    cert_sans: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Etcd {
    ca: Option<Pem>,
}

/// Something that is switched on by one word and off by another.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Switch {
    enabled: Option<bool>,
    disabled: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Discovery {
    enabled: Option<bool>,
    registries: Registries,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Registries {
    kubernetes: Switch,
    service: Switch,
}

impl Discovery {
    /// A node that may ask nobody does not even tell of itself.
    fn is_on(&self) -> bool {
        let Registries { kubernetes, service } = &self.registries;
        self.enabled == Some(true) && !(kubernetes.disabled && service.disabled)
    }
}

/// A certificate and a key, each PEM in base64.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Pem {
    crt: String,
    key: String,
}

/// Makes a configuration of the documents; nothing where the main one is not
/// among them.
pub(super) fn assemble(documents: &Documents) -> Result<Option<MachineConfig>, ConfigError> {
    let Some(main) = &documents.main else { return Ok(None) };
    let main: Main = serde_json::from_value(gather(main, documents))
        .map_err(|error| ConfigError::Shape(error.to_string()))?;
    let machine = main.machine.ok_or_else(|| invalid("machine instructions are required"))?;
    let cluster = main.cluster.ok_or_else(|| invalid("cluster instructions are required"))?;
    let hostname = documents.find("HostnameConfig").and_then(hostname);
    let mut config = machine.into_config(cluster.into_facts()?, &documents.text)?;
    config.hostname = hostname.or(config.hostname);
    Ok(Some(config))
}

fn hostname(document: &Map<String, Value>) -> Option<String> {
    document.get("hostname")?.as_str().map(str::to_owned)
}

impl Machine {
    fn into_config(self, cluster: ClusterFacts, text: &str) -> Result<MachineConfig, ConfigError> {
        let ca = self.ca.ok_or_else(|| {
            invalid(
                "issuing CA or some accepted CAs are required (.machine.ca, machine.acceptedCAs)",
            )
        })?;
        Ok(MachineConfig {
            machine_type: machine_type(self.kind.as_deref().unwrap_or_default())?,
            token: self.token,
            machine_ca: ca.decode("machine.ca")?,
            cert_sans: self.cert_sans,
            hostname: self.network.hostname,
            kubelet: KubeletFacts {
                image: self.kubelet.image,
                node_ip_subnets: self.kubelet.node_ip.valid_subnets,
                extra_args: arguments(self.kubelet.extra_args),
                node_labels: self.node_labels,
                node_taints: self.node_taints,
                register_with_taints: self.kubelet.extra_config.register_with_taints,
            },
            cluster,
            text: text.to_owned(),
        })
    }
}

impl Cluster {
    fn into_facts(self) -> Result<ClusterFacts, ConfigError> {
        let endpoint = self.control_plane.and_then(|control_plane| control_plane.endpoint);
        let ca = self.ca.unwrap_or_default();
        Ok(ClusterFacts {
            id: self.id,
            name: self.name.unwrap_or_default(),
            endpoint: endpoint
                .ok_or_else(|| invalid("cluster controlplane endpoint is required"))?,
            bootstrap_token: self.token,
            kubernetes_ca: ca.decode("cluster.ca")?,
            aggregator_ca: self
                .aggregator_ca
                .map(|pem| pem.decode("cluster.aggregatorCA"))
                .transpose()?,
            etcd_ca: self
                .etcd
                .and_then(|etcd| etcd.ca)
                .map(|pem| pem.decode("cluster.etcd.ca"))
                .transpose()?,
            service_account_key: self
                .service_account
                .map(|pem| decode("cluster.serviceAccount.key", &pem.key))
                .transpose()?,
            api_cert_sans: self.api_server.cert_sans,
            pod_subnets: or_default(self.network.pod_subnets, "10.244.0.0/16"),
            service_subnets: or_default(self.network.service_subnets, "10.96.0.0/12"),
            dns_domain: self.network.dns_domain.unwrap_or_else(|| "cluster.local".to_owned()),
            cni: self.network.cni.map_or_else(|| "flannel".to_owned(), |cni| cni.name),
            kube_proxy: !self.proxy.disabled,
            core_dns: !self.core_dns.disabled,
            external_cloud_provider: self.external_cloud_provider.enabled == Some(true),
            discovery: self.discovery.is_on(),
            schedule_on_control_planes: self.allow_scheduling_on_control_planes,
        })
    }
}

impl Pem {
    fn decode(self, path: &'static str) -> Result<PemPair, ConfigError> {
        let key = (!self.key.is_empty()).then(|| decode(path, &self.key)).transpose()?;
        Ok(PemPair { certificate: decode(path, &self.crt)?, key })
    }
}

fn decode(path: &str, text: &str) -> Result<String, ConfigError> {
    let wrong = || ConfigError::Shape(format!("{path}: illegal base64 data"));
    let bytes = BASE64_STANDARD.decode(text.trim()).map_err(|_| wrong())?;
    String::from_utf8(bytes).map_err(|_| wrong())
}

fn machine_type(name: &str) -> Result<MachineType, ConfigError> {
    match name {
        "controlplane" | "init" => Ok(MachineType::ControlPlane),
        "worker" => Ok(MachineType::Worker),
        other => Err(ConfigError::Shape(format!("invalid machine type: {other:?}"))),
    }
}

fn arguments(raw: BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    raw.into_iter().map(|(name, value)| (name, text(value))).collect()
}

fn or_default(subnets: Vec<String>, default: &str) -> Vec<String> {
    if subnets.is_empty() { vec![default.to_owned()] } else { subnets }
}

fn invalid(complaint: &str) -> ConfigError {
    ConfigError::Invalid(vec![complaint.to_owned()])
}
