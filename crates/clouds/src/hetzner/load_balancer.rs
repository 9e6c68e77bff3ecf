//! Load balancers as they are, and how well their targets do.

use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};

use super::firewall::{Selector, ServerRef};
use super::{Id, Kind, Named, Network, Protection, Resource, Server};
use crate::Labels;

/// A load balancer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LoadBalancer {
    /// Its id.
    pub id: Id<Self>,
    /// Its name.
    pub name: String,
    /// How it is reached from outside.
    pub public_net: BalancerPublicNet,
    /// How it is reached from inside.
    #[serde(default)]
    pub private_net: Vec<BalancerPrivateNet>,
    /// What it runs on.
    pub load_balancer_type: Named,
    /// Where it is.
    pub location: Named,
    /// What it listens for.
    #[serde(default)]
    pub services: Vec<Service>,
    /// Where it sends what it gets.
    #[serde(default)]
    pub targets: Vec<Target>,
    /// What it is protected from.
    #[serde(default)]
    pub protection: Protection,
    /// Its labels.
    #[serde(default)]
    pub labels: Labels,
}

/// How a load balancer is reached from outside.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BalancerPublicNet {
    /// Whether it is reached from outside at all.
    pub enabled: bool,
    /// Its IPv4 address, which may be there even if it is not in use.
    #[serde(default)]
    pub ipv4: Option<BalancerIpv4>,
}

/// A public IPv4 address of a load balancer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BalancerIpv4 {
    /// The address.
    #[serde(default)]
    pub ip: Option<Ipv4Addr>,
}

/// How a load balancer is reached in a network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BalancerPrivateNet {
    /// The network.
    pub network: Id<Network>,
    /// Its address there.
    pub ip: Ipv4Addr,
}

/// What a load balancer listens for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// `tcp`, `http` or `https`.
    pub protocol: String,
    /// The port that it listens on.
    pub listen_port: u16,
    /// The port that it sends to.
    pub destination_port: u16,
    /// Whether it tells the target who is calling.
    #[serde(default)]
    pub proxyprotocol: bool,
    /// How it finds out whether a target is healthy.
    pub health_check: HealthCheck,
}

/// How a load balancer finds out whether a target is healthy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthCheck {
    /// `tcp` or `http`; the latter speaks TLS if `http` says so.
    pub protocol: String,
    /// The port that is tried.
    pub port: u16,
    /// How many seconds lie between two tries.
    pub interval: u32,
    /// How many seconds a try may take.
    pub timeout: u32,
    /// How many tries must fail in a row.
    pub retries: u32,
    /// What is asked for, and what has to be answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpCheck>,
}

/// A request of a health check, and what has to be answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpCheck {
    /// The Host header; none is sent where there is none. Creating a load
    /// balancer requires the field, so it is written as null.
    #[serde(default)]
    pub domain: Option<String>,
    /// The path.
    pub path: String,
    /// A text that has to be in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// The statuses that are good, such as `401` or `2??`.
    #[serde(default)]
    pub status_codes: Vec<String>,
    /// Whether it speaks TLS; no certificate is checked.
    #[serde(default)]
    pub tls: bool,
}

/// Where a load balancer sends what it gets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Target {
    /// A server, if it is one.
    #[serde(default)]
    pub server: Option<ServerRef>,
    /// The labels of servers, if it is those.
    #[serde(default)]
    pub label_selector: Option<Selector>,
    /// Whether it goes through the network.
    #[serde(default)]
    pub use_private_ip: bool,
    /// How well it does, for every port that is listened on.
    #[serde(default)]
    pub health_status: Vec<HealthStatus>,
    /// The servers that have the labels now.
    #[serde(default)]
    pub targets: Vec<Self>,
}

/// How well a target does on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct HealthStatus {
    /// The port that the load balancer listens on.
    pub listen_port: u16,
    /// How well it does.
    pub status: Health,
}

/// How well a target does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// The last tries were good.
    Healthy,
    /// They were not.
    Unhealthy,
    /// It was not tried often enough.
    #[serde(other)]
    Unknown,
}

impl Resource for LoadBalancer {
    const KIND: Kind = Kind::LoadBalancer;

    fn id(&self) -> Id<Self> {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn is_protected(&self) -> bool {
        self.protection.delete
    }
}

impl LoadBalancer {
    /// Returns its address from outside.
    pub fn public_address(&self) -> Option<IpAddr> {
        let v4 = self.public_net.ipv4.as_ref().filter(|_| self.public_net.enabled);
        v4?.ip.map(IpAddr::V4)
    }

    /// Returns its address in a network.
    pub fn address_in(&self, network: Id<Network>) -> Option<Ipv4Addr> {
        self.private_net.iter().find(|net| net.network == network).map(|net| net.ip)
    }

    /// Returns the service that listens on a port.
    pub fn service(&self, listen_port: u16) -> Option<&Service> {
        self.services.iter().find(|service| service.listen_port == listen_port)
    }

    /// Returns whether the servers with these labels are its targets.
    pub fn targets_selector(&self, selector: &str) -> bool {
        let is_it = |wanted: &Selector| wanted.selector == selector;
        self.targets.iter().any(|target| target.label_selector.as_ref().is_some_and(is_it))
    }

    /// Returns how well each server behind a port does, those included that
    /// are targets by their labels. A server of which it says nothing is unknown.
    pub fn health(&self, listen_port: u16) -> Vec<(Id<Server>, Health)> {
        let all =
            self.targets.iter().flat_map(|target| std::iter::once(target).chain(&target.targets));
        let health = |target: &Target| {
            let id = target.server.as_ref()?.id;
            let status = target.health_status.iter().find(|it| it.listen_port == listen_port);
            Some((id, status.map_or(Health::Unknown, |it| it.status)))
        };
        all.filter_map(health).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_is_read_through_label_selectors() {
        let balancer: LoadBalancer = serde_json::from_value(serde_json::json!({
            "id": 4, "name": "demo-api",
            "public_net": { "enabled": true, "ipv4": { "ip": "203.0.113.10", "dns_ptr": null },
                            "ipv6": { "ip": "2001:db8::1" } },
            "load_balancer_type": { "id": 1, "name": "lb11" },
            "location": { "name": "fsn1" },
            "targets": [{
                "type": "label_selector",
                "label_selector": { "selector": "role=control-plane" },
                "use_private_ip": true,
                "targets": [
                    { "type": "server", "server": { "id": 7 }, "use_private_ip": true,
                      "health_status": [{ "listen_port": 6443, "status": "healthy" },
                                        { "listen_port": 443, "status": "unhealthy" }] },
                    { "type": "server", "server": { "id": 8 },
                      "health_status": [{ "listen_port": 6443, "status": "unhealthy" }] },
                    { "type": "server", "server": { "id": 9 }, "health_status": [] },
                ],
            }],
        }))
        .unwrap();
        let health = balancer.health(6443);
        assert_eq!(
            health,
            [
                (Id::new(7), Health::Healthy),
                (Id::new(8), Health::Unhealthy),
                (Id::new(9), Health::Unknown)
            ]
        );
        assert!(balancer.targets_selector("role=control-plane"));
        assert!(!balancer.targets_selector("role=worker"));
        assert_eq!(balancer.public_address(), Some("203.0.113.10".parse().unwrap()));
    }
}
