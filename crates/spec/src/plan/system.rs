//! What machine configs say besides names and addresses.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde::Serialize;

use crate::cluster::{Cloud, Cluster, DiskKey, InlineManifest, Registry};
use crate::read::Spanned;
use crate::scalar::FilePath;

/// What machine configs say besides names and addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemPlan {
    /// The domain of services, where it is not `cluster.local`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The address that the control planes share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vip: Option<Ipv4Addr>,
    /// Resolvers for the nodes, where they are not left to the cloud.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nameservers: Vec<Ipv4Addr>,
    /// Whether ordinary pods run on control planes, where the file says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedulable_control_planes: Option<bool>,
    /// Whether pods' DNS goes through the node's resolver.
    #[serde(rename = "forwardKubeDNSToHost", skip_serializing_if = "std::ops::Not::not")]
    pub forward_kube_dns_to_host: bool,
    /// Whether kubelets get serving certificates from the cluster's authority.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rotate_server_certificates: bool,
    /// The key of the partition for the config, where it is encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_key: Option<DiskKey>,
    /// The key of the partition for data, where it is encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral_key: Option<DiskKey>,
    /// Mirrors of image registries, by the registry's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mirrors: BTreeMap<String, MirrorPlan>,
    /// How nodes get into registries, by the registry's host.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub registries: BTreeMap<String, RegistryPlan>,
    /// Objects that Talos itself applies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inline_manifests: Vec<InlineManifestPlan>,
    /// Where Talos itself downloads more of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extra_manifests: Vec<String>,
}

/// Objects in the machine configs of control planes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InlineManifestPlan {
    /// What Talos calls them.
    pub name: String,
    /// The file, as the cluster file says it.
    pub file: String,
}

/// Where images of a registry are pulled from instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MirrorPlan {
    /// The mirrors, tried in this order.
    pub endpoints: Vec<String>,
    /// Whether the registry itself is never asked.
    pub skip_fallback: bool,
}

/// How nodes get into a registry: files, as the cluster file says them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryPlan {
    /// The user and the password, or a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials_file: Option<String>,
    /// The authorities that its certificate is signed by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// The certificate that nodes show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_file: Option<String>,
    /// The key of that certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_key_file: Option<String>,
}

impl SystemPlan {
    pub(super) fn of(cluster: &Cluster) -> Self {
        let (talos, kubernetes) = (&cluster.talos, &cluster.kubernetes);
        let encryption = talos.disk_encryption.as_ref();
        Self {
            domain: kubernetes.domain.as_ref().map(|domain| domain.as_str().to_owned()),
            vip: cluster.control_plane.vip.as_ref().map(|vip| vip.value),
            nameservers: match &cluster.cloud {
                Cloud::Hetzner(_) => Vec::new(),
                Cloud::Proxmox(proxmox) if proxmox.nameservers.is_empty() => {
                    vec![proxmox.gateway.value]
                }
                Cloud::Proxmox(proxmox) => values(&proxmox.nameservers),
                Cloud::Machines(machines) => values(&machines.nameservers),
            },
            schedulable_control_planes: asked(cluster.control_plane.schedulable.as_ref()),
            forward_kube_dns_to_host: asked(talos.forward_kube_dns_to_host.as_ref())
                .unwrap_or_default(),
            rotate_server_certificates: asked(kubernetes.rotate_server_certificates.as_ref())
                .unwrap_or_default(),
            state_key: encryption.and_then(|it| key(it.state.as_ref())),
            ephemeral_key: encryption.and_then(|it| key(it.ephemeral.as_ref())),
            mirrors: talos
                .registries
                .iter()
                .filter(|(_, registry)| !registry.endpoints.is_empty())
                .map(|(host, registry)| (host.as_str().to_owned(), MirrorPlan::of(registry)))
                .collect(),
            registries: talos
                .registries
                .iter()
                .map(|(host, registry)| (host.as_str().to_owned(), RegistryPlan::of(registry)))
                .filter(|(_, registry)| *registry != RegistryPlan::default())
                .collect(),
            inline_manifests: talos.inline_manifests.iter().map(InlineManifestPlan::of).collect(),
            extra_manifests: talos
                .extra_manifests
                .iter()
                .map(|url| url.value.to_string())
                .collect(),
        }
    }

    /// Whether the file asks for nothing of it.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl InlineManifestPlan {
    fn of(manifest: &InlineManifest) -> Self {
        Self { name: manifest.name.to_string(), file: manifest.file.to_string() }
    }
}

impl MirrorPlan {
    fn of(registry: &Registry) -> Self {
        Self {
            endpoints: registry.endpoints.iter().map(|url| url.as_str().to_owned()).collect(),
            skip_fallback: asked(registry.skip_fallback.as_ref()).unwrap_or_default(),
        }
    }
}

impl RegistryPlan {
    fn of(registry: &Registry) -> Self {
        let file = |file: &Option<Spanned<FilePath>>| file.as_ref().map(|it| it.value.to_string());
        Self {
            credentials_file: file(&registry.credentials_file),
            ca_file: file(&registry.ca_file),
            certificate_file: file(&registry.certificate_file),
            private_key_file: file(&registry.private_key_file),
        }
    }
}

fn asked(flag: Option<&Spanned<bool>>) -> Option<bool> {
    flag.map(|flag| flag.value)
}

fn values(addresses: &[Spanned<Ipv4Addr>]) -> Vec<Ipv4Addr> {
    addresses.iter().map(|address| address.value).collect()
}

fn key(key: Option<&Spanned<DiskKey>>) -> Option<DiskKey> {
    key.map(|key| key.value).filter(|key| *key != DiskKey::None)
}
