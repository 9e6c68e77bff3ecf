//! The firewall around the nodes (Hetzner).

use serde::Serialize;

use crate::cluster::{Cloud, Cluster, Firewall, FirewallException, PortRange, Protocol, Sources};
use crate::scalar::SourceRange;

/// The firewall around the nodes; what it does not name stays outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FirewallPlan {
    /// Its name.
    pub name: String,
    /// The openings.
    pub rules: Vec<FirewallRule>,
}

/// One opening for traffic from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FirewallRule {
    /// What it is for.
    pub description: String,
    /// The protocol.
    pub protocol: Protocol,
    /// The port, where the protocol has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<PortRange>,
    /// Who may come in.
    pub sources: Vec<SourceRange>,
}

/// The Talos API.
pub(crate) const TALOS_PORT: u16 = 50000;
/// The Kubernetes API.
pub(crate) const KUBERNETES_PORT: u16 = 6443;

/// Plans the firewall, where the cloud has one.
pub(super) fn firewall(cluster: &Cluster) -> Option<FirewallPlan> {
    let Cloud::Hetzner(_) = cluster.cloud else {
        return None;
    };
    Some(FirewallPlan { name: cluster.name.to_string(), rules: rules(cluster.firewall.as_ref()) })
}

/// The openings that a firewall's settings mean.
pub(crate) fn rules(firewall: Option<&Firewall>) -> Vec<FirewallRule> {
    let talos = sources(firewall.and_then(|firewall| firewall.talos_api.as_ref()));
    let kubernetes = sources(firewall.and_then(|firewall| firewall.kubernetes_api.as_ref()));
    let mut ping = talos.clone();
    ping.extend(kubernetes.iter().filter(|source| !talos.contains(source)));
    let own = [
        tcp("Talos API", TALOS_PORT, talos),
        tcp("Kubernetes API", KUBERNETES_PORT, kubernetes),
        FirewallRule {
            description: "ping".to_owned(),
            protocol: Protocol::Icmp,
            port: None,
            sources: ping,
        },
    ];
    let extra = firewall.into_iter().flat_map(|firewall| firewall.extra.iter().map(exception));
    own.into_iter().chain(extra).collect()
}

fn sources(sources: Option<&Sources>) -> Vec<SourceRange> {
    match sources {
        None => vec![SourceRange::MyIp],
        Some(sources) => sources.ranges.iter().map(|range| range.value).collect(),
    }
}

fn tcp(description: &str, port: u16, sources: Vec<SourceRange>) -> FirewallRule {
    let port = Some(PortRange::one(port));
    FirewallRule { description: description.to_owned(), protocol: Protocol::Tcp, port, sources }
}

fn exception(exception: &FirewallException) -> FirewallRule {
    FirewallRule {
        description: exception
            .description
            .as_ref()
            .map_or_else(String::new, |text| text.value.to_string()),
        protocol: exception.protocol.value,
        port: exception.port.as_ref().map(|port| port.value),
        sources: exception.sources.iter().map(|source| source.value).collect(),
    }
}
