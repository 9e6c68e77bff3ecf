//! The names and addresses that the API's certificate is valid for.

use std::net::Ipv4Addr;

use serde::Serialize;

use super::node::NodePlan;
use super::whole::LoadBalancerPlan;
use crate::cluster::{Cloud, Cluster};
use events::Role;

/// A name or address in a certificate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum San {
    /// A host name.
    Name(String),
    /// An address.
    Address(Ipv4Addr),
    /// An address that the cloud will choose.
    Later(AssignedLater),
}

/// An address that is only known once the cloud has assigned it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AssignedLater {
    /// The load balancer's public addresses.
    LoadBalancer,
    /// A control plane's public addresses.
    Server(String),
}

/// Plans the names and addresses, without duplicates, in a stable order.
pub(super) fn sans(
    cluster: &Cluster,
    nodes: &[NodePlan],
    balancer: Option<&LoadBalancerPlan>,
) -> Vec<San> {
    let mut sans = vec![San::Name("localhost".to_owned()), San::Address(Ipv4Addr::LOCALHOST)];
    sans.extend(cluster.control_plane.hostname.iter().map(|name| San::Name(name.to_string())));
    sans.extend(cluster.control_plane.vip.iter().map(|vip| San::Address(vip.value)));
    sans.extend(balancer.map(|balancer| San::Address(balancer.address)));
    let public = balancer.filter(|balancer| balancer.public_interface);
    sans.extend(public.map(|_| San::Later(AssignedLater::LoadBalancer)));
    for node in nodes.iter().filter(|node| node.role == Role::ControlPlane) {
        sans.push(San::Name(node.name.clone()));
        sans.push(San::Address(node.address));
        if let Cloud::Hetzner(_) = cluster.cloud {
            sans.push(San::Later(AssignedLater::Server(node.name.clone())));
        }
    }
    sans.extend(cluster.kubernetes.cert_sans.iter().map(|name| name_or_address(name.as_str())));
    let mut seen = std::collections::BTreeSet::new();
    sans.retain(|san| seen.insert(san.clone()));
    sans
}

fn name_or_address(text: &str) -> San {
    text.parse().map_or_else(|_| San::Name(text.to_owned()), San::Address)
}
