//! What people speak to a cluster with: kubeconfig and talosconfig, made from
//! the secrets bundle. No node has to be asked for them.

use std::net::IpAddr;

use clouds::hetzner::{Hetzner, HetznerError, LoadBalancer};
use events::Secret;
use spec::plan::{Endpoint, NodePlan};
use talos::credentials::{IdentityError, Kubeconfig};
use talos::secrets::{Bundle, StoreError};

use crate::hetzner::API_PORT;
use crate::{Ground, Site, machine};

/// By which way a kubeconfig reaches the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Through the load balancer.
    LoadBalancer,
    /// At one node.
    Node(String),
}

/// Why there are no credentials.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The bundle cannot be read.
    #[error(transparent)]
    Bundle(#[from] StoreError),
    /// No certificate could be made.
    #[error("could not make a certificate")]
    Identity(#[from] IdentityError),
    /// The cloud could not be asked for an address.
    #[error("could not ask the cloud for an address")]
    Cloud(#[from] HetznerError),
    /// No control plane is called so.
    #[error("the cluster file has no control plane `{name}`")]
    NoControlPlane {
        /// What was looked for.
        name: String,
        /// What they are called.
        there: Vec<String>,
    },
    /// There is nothing of that name.
    #[error("the cloud knows no {what} of this cluster with a public address")]
    NoAddress {
        /// What was looked for.
        what: String,
    },
}

/// Makes a kubeconfig for an administrator.
pub async fn kubeconfig(site: &Site, way: &Way) -> Result<Secret, CredentialsError> {
    site.keep_bundle(Bundle::load(&site.bundle_file())?)?;
    let server = api_server(site, way).await?;
    let cluster = site.plan.cluster.to_string();
    Ok(Kubeconfig::new(&cluster, &server, site.kubernetes_admin()).yaml().clone())
}

/// Returns the URL of the Kubernetes API.
pub async fn api_server(site: &Site, way: &Way) -> Result<String, CredentialsError> {
    let host = match (way, &site.ground) {
        (Way::LoadBalancer, Ground::Hetzner(hetzner)) => balancer(site, hetzner).await?.to_string(),
        (Way::LoadBalancer, Ground::Machines(_)) => endpoint(site)?,
        (Way::Node(name), _) => {
            let planned = site.control_planes().find(|node| node.name == *name);
            let there = || site.control_planes().map(|node| node.name.clone()).collect();
            let none = || CredentialsError::NoControlPlane { name: name.clone(), there: there() };
            address(site, planned.ok_or_else(none)?).await?.to_string()
        }
    };
    Ok(format!("https://{host}:{API_PORT}"))
}

/// Returns where the control planes answer. Talos is asked there and never
/// through a load balancer, where upgrades hang.
pub async fn control_planes(site: &Site) -> Result<Vec<IpAddr>, CredentialsError> {
    let mut addresses = Vec::new();
    for control_plane in site.control_planes() {
        addresses.push(address(site, control_plane).await?);
    }
    Ok(addresses)
}

/// Machines have no load balancer of ours: the file says how they are reached.
fn endpoint(site: &Site) -> Result<String, CredentialsError> {
    match &site.plan.endpoint {
        Endpoint::Hostname(name) => Ok(name.clone()),
        Endpoint::Vip(address) | Endpoint::PrivateLoadBalancer(address) => Ok(address.to_string()),
        Endpoint::LoadBalancer(_) | Endpoint::Node(_) => {
            let first = site.control_planes().next().map(|node| node.address.to_string());
            first.ok_or_else(|| CredentialsError::NoAddress { what: "control plane".to_owned() })
        }
    }
}

async fn balancer(site: &Site, hetzner: &Hetzner) -> Result<IpAddr, CredentialsError> {
    let name = site.plan.load_balancer.as_ref().map(|it| it.name.clone()).unwrap_or_default();
    let found = hetzner.find::<LoadBalancer>(&name).await?;
    let none = || CredentialsError::NoAddress { what: format!("load balancer {name}") };
    found.and_then(|it| it.public_address()).ok_or_else(none)
}

async fn address(site: &Site, node: &NodePlan) -> Result<IpAddr, CredentialsError> {
    let found = machine::find(site, node).await?.and_then(|it| it.address);
    found.ok_or_else(|| CredentialsError::NoAddress { what: format!("server {}", node.name) })
}
