//! What is delivered for a stage, and the gate that proves it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use addons::cilium::{self, CiliumGate, Encryption, Routing};
use addons::flux::{self, Access, FluxGate};
use addons::gate::Nodes;
use addons::hcloud_ccm::{self, HcloudCcmGate, Routes, Server};
use addons::hcloud_csi::{self, HcloudCsiGate};
use addons::metrics_server::{self, KubeletCertificates, MetricsServerGate};
use addons::sealed_secrets::{self, SealedSecretsGate};
use addons::{Gate, Rendered};
use clouds::hetzner::Server as HetznerServer;
use events::{Failure, NodeName, Role};
use ipnet::IpNet;
use serde_json::Value;
use spec::plan::{AddonPlan, Stage};
use spec::{AddonName, By};

use crate::ssh_key::SshKeyFile;
use crate::{GitAccess, Site, Source};

/// Talos serves the API on every node, before services work.
const KUBE_PRISM: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7445);

/// The type of load balancers that Services get which do not name one. The cloud
/// controller takes the same by default, and warns that it will have to be named.
const LOAD_BALANCER_TYPE: &str = "lb11";

/// The addon behind a stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) addon: &'a AddonPlan,
}

impl<'a> Part<'a> {
    /// Returns the addon that a stage is for, where the file asks for it.
    pub(crate) fn of(plan: &'a spec::Plan, stage: Stage) -> Option<Self> {
        let name = match stage {
            Stage::Cni => AddonName::Cilium,
            Stage::Cloud => AddonName::HcloudCcm,
            Stage::Storage => AddonName::HcloudCsi,
            Stage::Seal => AddonName::SealedSecrets,
            Stage::Gitops => AddonName::Flux,
            _ => return None,
        };
        Self::named(plan, name)
    }

    /// Returns metrics-server, which nothing waits for: it has no stage of its
    /// own and comes with the last one that delivers.
    pub(crate) fn metrics(plan: &'a spec::Plan) -> Option<Self> {
        Self::named(plan, AddonName::MetricsServer)
    }

    fn named(plan: &'a spec::Plan, name: AddonName) -> Option<Self> {
        plan.addons.iter().find(|addon| addon.name == name).map(|addon| Self { addon })
    }

    /// Returns whether the repository installs it, and not this run.
    pub(crate) fn is_by_gitops(self) -> bool {
        self.addon.by == By::Gitops
    }
}

/// Returns the objects of all addons that come by somebody, without secrets, as
/// stand-ins for their charts. Those that come `by: gitops` are what the
/// repository that Flux follows has to hold.
pub fn addon_objects(
    plan: &spec::Plan,
    by: By,
    source: Option<&Source>,
) -> Result<Vec<Value>, Failure> {
    let mut objects = Vec::new();
    for addon in plan.addons.iter().filter(|addon| addon.by == by) {
        objects.extend(without_secrets(plan, Part { addon }, source)?.objects().iter().cloned());
    }
    Ok(objects)
}

/// Renders an addon, with its secrets.
pub(crate) fn rendered(site: &Site, part: Part<'_>) -> Result<Rendered, Failure> {
    let namespace = &part.addon.namespace;
    let rendered = without_secrets(&site.plan, part, site.source.as_ref())?;
    Ok(match part.addon.name {
        AddonName::HcloudCcm => {
            let cluster = site.plan.cluster.as_str();
            rendered.with_secret(hcloud_ccm::token(namespace, &site.token, cluster))
        }
        AddonName::SealedSecrets => {
            let key = site.sealing_key().ok_or_else(no_key)?;
            rendered.with_secret(key.secret(namespace))
        }
        AddonName::Flux => match access(site)? {
            Some(access) => rendered.with_secret(flux::access(namespace, &access)),
            None => rendered,
        },
        _ => rendered,
    })
}

/// Returns what Flux shows to the repository, where it is not open to all.
fn access(site: &Site) -> Result<Option<Access>, Failure> {
    let access = site.source.as_ref().map(|source| source.access.clone());
    Ok(match access.unwrap_or(GitAccess::Public) {
        GitAccess::Public => None,
        GitAccess::Ssh { identity, known_hosts } => {
            let own = || SshKeyFile::for_flux(site).map(|key| key.private);
            let identity = identity.map_or_else(own, Ok)?;
            Some(Access::Ssh { identity, known_hosts })
        }
        GitAccess::Https { username, password } => Some(Access::Https { username, password }),
    })
}

fn without_secrets(
    plan: &spec::Plan,
    part: Part<'_>,
    source: Option<&Source>,
) -> Result<Rendered, Failure> {
    let AddonPlan { name, version, namespace, .. } = part.addon;
    let (namespace, version) =
        (namespace.clone(), version.to_string().trim_start_matches('v').to_owned());
    let control_planes = plan.nodes.iter().filter(|node| node.role == Role::ControlPlane).count();
    let location = plan.load_balancer.as_ref().map(|it| it.location.to_string());
    let location = location.unwrap_or_default();
    Ok(match name {
        AddonName::Cilium => cilium::render(&cilium::Values {
            version,
            namespace,
            routing: Routing::Native { cidr: IpNet::V4(plan.network.network.net()) },
            encryption: Encryption::None,
            api: KUBE_PRISM,
            control_planes,
        }),
        AddonName::HcloudCcm => hcloud_ccm::render(&hcloud_ccm::Values {
            version,
            namespace,
            routes_for: Some(IpNet::V4(plan.network.pods.net())),
            location,
            load_balancer_type: LOAD_BALANCER_TYPE.to_owned(),
            api: KUBE_PRISM,
            control_planes,
        }),
        AddonName::HcloudCsi => {
            let labels = plan.labels.iter();
            let volume_labels =
                labels.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            hcloud_csi::render(&hcloud_csi::Values {
                version,
                namespace,
                location,
                control_planes,
                volume_labels,
            })
        }
        AddonName::MetricsServer => metrics_server::render(&metrics_server::Values {
            server: version,
            namespace,
            // Kubelets sign for themselves unless the file asks for rotation.
            kubelets: if plan.system.rotate_server_certificates {
                KubeletCertificates::Signed
            } else {
                KubeletCertificates::SelfSigned
            },
        }),
        AddonName::SealedSecrets => {
            sealed_secrets::render(&sealed_secrets::Values { controller: version, namespace })
        }
        AddonName::Flux => {
            let source = source.ok_or_else(|| Failure::permanent("flux has no repository"))?;
            flux::render(&flux::Values {
                version,
                namespace,
                repository: source.repository.clone(),
                branch: source.branch.clone(),
                path: source.path.clone(),
                interval: source.interval.clone(),
                is_private: source.access != GitAccess::Public,
            })
        }
        other @ AddonName::ProxmoxCsi => {
            return Err(Failure::permanent(format!("{other:?} cannot be installed yet")));
        }
    })
}

/// Returns the gate of an addon.
pub(crate) async fn gate(site: &Site, part: Part<'_>) -> Result<Box<dyn Gate>, Failure> {
    let namespace = part.addon.namespace.clone();
    let names = || site.plan.nodes.iter().map(|node| NodeName::from(node.name.as_str()));
    let nodes = || Nodes::These(names().collect());
    Ok(match part.addon.name {
        AddonName::Cilium => Box::new(CiliumGate { namespace, nodes: nodes() }),
        AddonName::HcloudCcm => {
            let servers = servers(site).await?;
            Box::new(HcloudCcmGate { namespace, servers, routes: Routes::Kept })
        }
        AddonName::HcloudCsi => Box::new(HcloudCsiGate { namespace, nodes: nodes() }),
        AddonName::SealedSecrets => {
            let spki = site.sealing_key().ok_or_else(no_key)?.certificate().spki();
            Box::new(SealedSecretsGate { namespace, spki })
        }
        AddonName::Flux => {
            let revision = site.source.as_ref().map(|it| it.revision.clone()).unwrap_or_default();
            Box::new(FluxGate { namespace, revision })
        }
        AddonName::MetricsServer => Box::new(MetricsServerGate { namespace }),
        other @ AddonName::ProxmoxCsi => {
            return Err(Failure::permanent(format!("{other:?} has no gate yet")));
        }
    })
}

async fn servers(site: &Site) -> Result<Vec<Server>, Failure> {
    let mut servers = Vec::new();
    for node in &site.plan.nodes {
        let found = site.hetzner().find::<HetznerServer>(&node.name).await?;
        let found = found.ok_or_else(|| Failure::transient(format!("{} is gone", node.name)))?;
        servers.push(Server {
            name: node.name.as_str().into(),
            id: found.id.number(),
            private: node.address.into(),
        });
    }
    Ok(servers)
}

fn no_key() -> Failure {
    Failure::permanent("the sealing key was not made")
}
