//! What people speak to a cluster with: kubeconfig and talosconfig, made from
//! the secrets bundle. No node has to be asked for them.

use std::net::IpAddr;
use std::time::Duration;

use clouds::hetzner::{HetznerError, LoadBalancer};
use events::Secret;
use spec::plan::NodePlan;
use talos::credentials::{IdentityError, Kubeconfig};
use talos::secrets::{Bundle, StoreError};

use crate::endpoint::{self, Holder};
use crate::{Ground, Site, kube, machine};

/// How long an API may take to say that it is ready.
const ANSWERS: Duration = Duration::from_secs(5);

/// By which way a kubeconfig reaches the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// At the endpoint that is in every machine config.
    Endpoint,
    /// Through the load balancer, whatever the endpoint is.
    LoadBalancer,
    /// At one node.
    Node(String),
    /// At the endpoint if it answers, else at the first control plane that does.
    Answering,
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
    /// There is to be none.
    #[error("the cluster file asks for no load balancer")]
    NoLoadBalancer {
        /// The control planes that there are instead.
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
    let host = match way {
        Way::Endpoint => endpoint(site).await?,
        Way::LoadBalancer => balancer(site).await?,
        Way::Node(name) => {
            let planned = site.control_planes().find(|node| node.name == *name);
            let there = names(site);
            let none = || CredentialsError::NoControlPlane { name: name.clone(), there };
            address(site, planned.ok_or_else(none)?).await?.to_string()
        }
        Way::Answering => return answering(site).await,
    };
    Ok(endpoint::url(&host))
}

async fn answering(site: &Site) -> Result<String, CredentialsError> {
    let usual = endpoint::url(&endpoint(site).await?);
    let mut servers = vec![usual.clone()];
    let direct = control_planes(site).await?;
    servers.extend(direct.iter().map(|address| endpoint::url(&address.to_string())));
    for server in servers {
        let ready = tokio::time::timeout(ANSWERS, kube::is_ready(site, &server)).await;
        if let Ok(Ok(())) = ready {
            return Ok(server);
        }
    }
    Ok(usual)
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

async fn endpoint(site: &Site) -> Result<String, CredentialsError> {
    match Holder::of(&site.plan) {
        Some(Holder::Plan(host)) => Ok(host),
        Some(Holder::Balancer(name)) => public_address(site, name).await,
        Some(Holder::Server(node)) => Ok(address(site, node).await?.to_string()),
        None => Err(CredentialsError::NoAddress { what: "control plane".to_owned() }),
    }
}

async fn balancer(site: &Site) -> Result<String, CredentialsError> {
    match &site.plan.load_balancer {
        Some(balancer) if balancer.public_interface => public_address(site, &balancer.name).await,
        Some(balancer) => Ok(balancer.address.to_string()),
        None => Err(CredentialsError::NoLoadBalancer { there: names(site) }),
    }
}

/// Asks the cloud for the public address of a load balancer.
async fn public_address(site: &Site, name: &str) -> Result<String, CredentialsError> {
    let found = match &site.ground {
        Ground::Hetzner(hetzner) => hetzner.find::<LoadBalancer>(name).await?,
        Ground::Machines(_) => None,
    };
    let none = || CredentialsError::NoAddress { what: format!("load balancer {name}") };
    Ok(found.and_then(|it| it.public_address()).ok_or_else(none)?.to_string())
}

/// Returns what the control planes are called.
fn names(site: &Site) -> Vec<String> {
    site.control_planes().map(|node| node.name.clone()).collect()
}

async fn address(site: &Site, node: &NodePlan) -> Result<IpAddr, CredentialsError> {
    let found = machine::find(site, node).await?.and_then(|it| it.address);
    found.ok_or_else(|| CredentialsError::NoAddress { what: format!("server {}", node.name) })
}
