//! What is delivered for a stage, and the gate that proves it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use addons::cilium::{self, CiliumGate, Encryption, Routing};
use addons::flux::{self, FluxGate};
use addons::gate::Nodes;
use addons::hcloud_ccm::{self, HcloudCcmGate, Routes, Server};
use addons::hcloud_csi::{self, HcloudCsiGate};
use addons::sealed_secrets::{self, SealedSecretsGate};
use addons::{Gate, Rendered};
use clouds::hetzner::Server as HetznerServer;
use events::{Failure, NodeName};
use ipnet::IpNet;
use spec::plan::{AddonPlan, Stage};
use spec::{AddonName, By};

use crate::Site;

/// Talos serves the API on every node, before services work.
const KUBE_PRISM: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7445);

/// The addon behind a stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) addon: &'a AddonPlan,
}

impl<'a> Part<'a> {
    /// Returns the addon that a stage installs, where the file asks for one.
    pub(crate) fn of(plan: &'a spec::Plan, stage: Stage) -> Option<Self> {
        let name = match stage {
            Stage::Cni => AddonName::Cilium,
            Stage::Cloud => AddonName::HcloudCcm,
            Stage::Storage => AddonName::HcloudCsi,
            Stage::Seal => AddonName::SealedSecrets,
            Stage::Gitops => AddonName::Flux,
            _ => return None,
        };
        plan.addons.iter().find(|addon| addon.name == name).map(|addon| Self { addon })
    }

    /// Returns whether the repository installs it, and not this run.
    pub(crate) fn is_by_gitops(self) -> bool {
        self.addon.by == By::Gitops
    }
}

/// Renders what a stage delivers.
pub(crate) fn rendered(site: &Site, part: Part<'_>) -> Result<Rendered, Failure> {
    let AddonPlan { name, version, namespace, .. } = part.addon;
    let (namespace, version) =
        (namespace.clone(), version.to_string().trim_start_matches('v').to_owned());
    let control_planes = site.control_planes().count();
    let location = site.plan.load_balancer.as_ref().map(|it| it.location.to_string());
    let location = location.unwrap_or_default();
    Ok(match name {
        AddonName::Cilium => cilium::render(&cilium::Values {
            version,
            namespace,
            routing: Routing::Native { cidr: IpNet::V4(site.plan.network.network.net()) },
            encryption: Encryption::None,
            api: KUBE_PRISM,
            control_planes,
        }),
        AddonName::HcloudCcm => hcloud_ccm::render(&hcloud_ccm::Values {
            version,
            namespace: namespace.clone(),
            routes_for: Some(IpNet::V4(site.plan.network.pods.net())),
            location,
            api: KUBE_PRISM,
            control_planes,
        })
        .with_secret(hcloud_ccm::token(
            &namespace,
            &site.token,
            site.plan.cluster.as_str(),
        )),
        AddonName::HcloudCsi => {
            hcloud_csi::render(&hcloud_csi::Values { version, namespace, location, control_planes })
        }
        AddonName::SealedSecrets => {
            let key = site.sealing_key().ok_or_else(no_key)?;
            let values =
                sealed_secrets::Values { controller: version, namespace: namespace.clone() };
            sealed_secrets::render(&values).with_secret(key.secret(&namespace))
        }
        AddonName::Flux => {
            let source =
                site.source.as_ref().ok_or_else(|| Failure::permanent("flux has no repository"))?;
            flux::render(&flux::Values {
                version,
                namespace,
                repository: source.repository.clone(),
                branch: source.branch.clone(),
                path: source.path.clone(),
                interval: "1m0s".to_owned(),
                is_private: false,
            })
        }
        other => return Err(Failure::permanent(format!("{other:?} cannot be installed yet"))),
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
        other => return Err(Failure::permanent(format!("{other:?} has no gate yet"))),
    })
}

async fn servers(site: &Site) -> Result<Vec<Server>, Failure> {
    let mut servers = Vec::new();
    for node in &site.plan.nodes {
        let found = site.hetzner.find::<HetznerServer>(&node.name).await?;
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
