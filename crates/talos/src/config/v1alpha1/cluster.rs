//! The part about the cluster.

use events::{Role, Secret};
use ipnet::IpNet;
use serde::Serialize;
use serde_json::{Value, json};

use super::Pair;
use crate::config::{
    CloudProvider, Cluster, Cni, Contract, ControlPlanes, InlineManifest, KubeProxy, Node,
};
use crate::secrets::Bundle;
use crate::yaml::base64;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClusterPart<'a> {
    id: &'a str,
    secret: &'a str,
    control_plane: Endpoint<'a>,
    cluster_name: &'a str,
    network: ClusterNetwork<'a>,
    token: &'a str,
    ca: Pair,
    #[serde(flatten)]
    control: Option<ControlPlanePart<'a>>,
    discovery: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_cloud_provider: Option<Switch>,
}

/// What only control planes are told.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ControlPlanePart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    aescbc_encryption_secret: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secretbox_encryption_secret: Option<&'a str>,
    #[serde(rename = "aggregatorCA")]
    aggregator_ca: Pair,
    service_account: ServiceAccount,
    api_server: ApiServer<'a>,
    controller_manager: Image,
    proxy: Proxy,
    scheduler: Image,
    etcd: Etcd<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allow_scheduling_on_control_planes: Option<bool>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extra_manifests: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inline_manifests: Vec<ManifestPart<'a>>,
}

#[derive(Serialize)]
struct ManifestPart<'a> {
    name: &'a str,
    contents: &'a str,
}

#[derive(Serialize)]
struct Endpoint<'a> {
    endpoint: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClusterNetwork<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cni: Option<CniPart>,
    dns_domain: &'a str,
    pod_subnets: &'a [IpNet],
    service_subnets: &'a [IpNet],
}

#[derive(Serialize)]
struct CniPart {
    name: &'static str,
}

#[derive(Serialize)]
struct Switch {
    enabled: bool,
}

#[derive(Serialize)]
struct ServiceAccount {
    key: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiServer<'a> {
    image: String,
    #[serde(rename = "certSANs", skip_serializing_if = "Vec::is_empty")]
    cert_sans: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_pod_security_policy: Option<bool>,
    admission_control: Value,
    audit_policy: Value,
}

#[derive(Serialize)]
struct Image {
    image: String,
}

#[derive(Serialize)]
struct Proxy {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disabled: bool,
    image: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Etcd<'a> {
    ca: Pair,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    advertised_subnets: &'a [IpNet],
}

impl<'a> ClusterPart<'a> {
    pub(super) fn of(bundle: &'a Bundle, cluster: &'a Cluster, node: &'a Node) -> Self {
        let external = cluster.cloud_provider == CloudProvider::External;
        Self {
            id: &bundle.cluster_id,
            secret: bundle.cluster_secret.reveal(),
            control_plane: Endpoint { endpoint: &cluster.endpoint },
            cluster_name: &cluster.name,
            network: ClusterNetwork {
                cni: (cluster.cni == Cni::None).then_some(CniPart { name: "none" }),
                dns_domain: &cluster.dns_domain,
                pod_subnets: &cluster.pod_subnets,
                service_subnets: &cluster.service_subnets,
            },
            token: bundle.bootstrap_token.secret().reveal(),
            ca: Pair::of(&bundle.kubernetes, node.role),
            control: match node.role {
                Role::ControlPlane => Some(ControlPlanePart::of(bundle, cluster)),
                Role::Worker => None,
            },
            discovery: json!({
                "enabled": true,
                "registries": { "kubernetes": { "disabled": true }, "service": {} },
            }),
            external_cloud_provider: external.then_some(Switch { enabled: true }),
        }
    }
}

impl<'a> ControlPlanePart<'a> {
    fn of(bundle: &'a Bundle, cluster: &'a Cluster) -> Self {
        let image = |name: &str| format!("registry.k8s.io/{name}:{}", cluster.kubernetes);
        let run_workloads = cluster.control_planes == ControlPlanes::RunWorkloads;
        Self {
            aescbc_encryption_secret: bundle.aescbc.as_ref().map(Secret::reveal),
            secretbox_encryption_secret: bundle.secretbox.as_ref().map(Secret::reveal),
            aggregator_ca: Pair::of(&bundle.aggregator, Role::ControlPlane),
            service_account: ServiceAccount { key: base64(bundle.service_account.pem().reveal()) },
            api_server: ApiServer {
                image: image("kube-apiserver"),
                cert_sans: api_names(cluster),
                disable_pod_security_policy: (cluster.contract == Contract::OneDocument)
                    .then_some(true),
                admission_control: pod_security(),
                audit_policy: json!({
                    "apiVersion": "audit.k8s.io/v1",
                    "kind": "Policy",
                    "rules": [{ "level": "Metadata" }],
                }),
            },
            controller_manager: Image { image: image("kube-controller-manager") },
            proxy: Proxy {
                disabled: cluster.kube_proxy == KubeProxy::Disabled,
                image: image("kube-proxy"),
            },
            scheduler: Image { image: image("kube-scheduler") },
            etcd: Etcd {
                ca: Pair::of(&bundle.etcd, Role::ControlPlane),
                advertised_subnets: &cluster.node_subnets,
            },
            allow_scheduling_on_control_planes: run_workloads.then_some(true),
            extra_manifests: &cluster.extra_manifests,
            inline_manifests: cluster.inline_manifests.iter().map(ManifestPart::of).collect(),
        }
    }
}

impl<'a> ManifestPart<'a> {
    fn of(manifest: &'a InlineManifest) -> Self {
        Self { name: &manifest.name, contents: manifest.contents.reveal() }
    }
}

/// The names in the certificate of the Kubernetes API. Since 1.12 Talos adds that
/// of the endpoint by itself.
fn api_names(cluster: &Cluster) -> Vec<&str> {
    let said = cluster.contract == Contract::OneDocument;
    let endpoint = cluster.endpoint_host().filter(|_| said);
    let others = cluster.cert_sans.iter().map(String::as_str);
    endpoint.into_iter().chain(others.filter(|name| Some(*name) != endpoint)).collect()
}

/// Baseline for all but the system's own namespace, as Talos has it.
fn pod_security() -> Value {
    json!([{
        "name": "PodSecurity",
        "configuration": {
            "apiVersion": "pod-security.admission.config.k8s.io/v1alpha1",
            "kind": "PodSecurityConfiguration",
            "defaults": {
                "enforce": "baseline", "enforce-version": "latest",
                "audit": "restricted", "audit-version": "latest",
                "warn": "restricted", "warn-version": "latest",
            },
            "exemptions": {
                "namespaces": ["kube-system"], "runtimeClasses": [], "usernames": [],
            },
        },
    }])
}
