//! Load balancers as they are wanted.

use std::net::Ipv4Addr;

use events::{Call, Made};
use serde_json::{Value, json};

use super::answer::{Started, made};
use super::client::Pass;
use super::creation::Creation;
use super::load_balancer::{HttpCheck, Service};
use super::wish::{differs, idempotent, named};
use super::{Hetzner, HetznerError, Id, LoadBalancer, Network, Ours, Wish};
use crate::Labels;

/// The wish for a load balancer with one service and no target yet: targets by
/// private address need a network, and only a later call can say at which
/// address the load balancer is to be in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateLoadBalancer {
    /// Its name.
    pub name: String,
    /// Its type, such as `lb11`.
    pub load_balancer_type: String,
    /// Where it is to be.
    pub location: String,
    /// Whether it is reached from outside.
    pub public_interface: bool,
    /// What it listens for.
    pub service: Service,
    /// Its labels; the cluster's id is added.
    pub labels: Labels,
}

/// The wish that a load balancer is in a network, at an address of our choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachLoadBalancer {
    /// The load balancer.
    pub load_balancer: Ours<LoadBalancer>,
    /// The network.
    pub network: Id<Network>,
    /// Its address there.
    pub ip: Ipv4Addr,
}

/// The wish that all servers with certain labels are targets, by their private
/// addresses, now and later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddTarget {
    /// The load balancer.
    pub load_balancer: Ours<LoadBalancer>,
    /// Which servers, by their labels.
    pub selector: String,
}

/// The wish that a load balancer's service on a port is just this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetService {
    /// The load balancer, which has a service on that port.
    pub load_balancer: Ours<LoadBalancer>,
    /// The service.
    pub service: Service,
}

// === impl CreateLoadBalancer ===

impl CreateLoadBalancer {
    /// Returns what is different about a load balancer that is there.
    pub fn differences(&self, there: &LoadBalancer) -> Vec<String> {
        let service = match there.service(self.service.listen_port) {
            None => Some(format!("nothing listens on port {}", self.service.listen_port)),
            Some(service) if service.does_as(&self.service) => None,
            Some(service) => differs("the service", &told(service), &told(&self.service)),
        };
        let is = &there.load_balancer_type.name;
        let public = &self.public_interface;
        [
            differs("load_balancer_type", is, &self.load_balancer_type),
            differs("location", &there.location.name, &self.location),
            differs("public_interface", &there.public_net.enabled, public),
            service,
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Creation for CreateLoadBalancer {
    type Resource = LoadBalancer;

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn body(&self, labels: &Labels) -> Value {
        json!({
            "name": self.name,
            "load_balancer_type": self.load_balancer_type,
            "location": self.location,
            "algorithm": { "type": "round_robin" },
            "public_interface": self.public_interface,
            "services": [self.service],
            "labels": labels,
        })
    }
}

// === impl AttachLoadBalancer ===

impl AttachLoadBalancer {
    fn body(&self) -> Value {
        json!({ "network": self.network, "ip": self.ip })
    }
}

impl Wish for AttachLoadBalancer {
    fn call(&self) -> Call {
        let name = format!("{} to network {}", words(&self.load_balancer), self.network);
        named("attach load balancer", name, &self.body())
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        let there = hetzner.get(self.load_balancer.id).await?;
        Ok(there.filter(|there| there.address_in(self.network).is_some()).map(|it| made(&it)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        act(hetzner, pass, &self.load_balancer, "attach_to_network", &self.body()).await
    }
}

// === impl AddTarget ===

impl AddTarget {
    fn body(&self) -> Value {
        json!({
            "type": "label_selector",
            "label_selector": { "selector": self.selector },
            "use_private_ip": true,
        })
    }
}

impl Wish for AddTarget {
    fn call(&self) -> Call {
        named("add targets to load balancer", words(&self.load_balancer), &self.body())
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        let there = hetzner.get(self.load_balancer.id).await?;
        Ok(there.filter(|there| there.targets_selector(&self.selector)).map(|it| made(&it)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        act(hetzner, pass, &self.load_balancer, "add_target", &self.body()).await
    }
}

// === impl SetService ===

impl Wish for SetService {
    fn call(&self) -> Call {
        idempotent("set service of load balancer", words(&self.load_balancer), &self.service)
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        let is_so = |there: &LoadBalancer| {
            let service = there.service(self.service.listen_port);
            service.is_some_and(|service| service.does_as(&self.service))
        };
        Ok(hetzner.get(self.load_balancer.id).await?.filter(is_so).map(|there| made(&there)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        act(hetzner, pass, &self.load_balancer, "update_service", &self.service).await
    }
}

impl Service {
    /// Returns whether it does what another one does.
    pub fn does_as(&self, other: &Self) -> bool {
        self.settled() == other.settled()
    }

    /// A text of no characters has to be in any answer, and an empty domain is none.
    fn settled(&self) -> Self {
        let settle = |http: HttpCheck| HttpCheck {
            domain: http.domain.filter(|text| !text.is_empty()),
            response: http.response.filter(|text| !text.is_empty()),
            ..http
        };
        let mut service = self.clone();
        service.health_check.http = service.health_check.http.map(settle);
        service
    }
}

/// Returns a service as it goes over the wire, which people can compare.
fn told(service: &Service) -> String {
    serde_json::to_string(&service.settled()).expect("services are plain data")
}

async fn act(
    hetzner: &Hetzner,
    pass: Pass,
    load_balancer: &LoadBalancer,
    action: &str,
    body: &impl serde::Serialize,
) -> Result<Made, HetznerError> {
    let path = format!("/load_balancers/{}/actions/{action}", load_balancer.id);
    let started: Started = hetzner.post(pass, &path, body).await?;
    Ok(started.on(load_balancer))
}

/// A load balancer that was made anew has a network and targets to get again.
fn words(load_balancer: &LoadBalancer) -> String {
    format!("{} ({})", load_balancer.name, load_balancer.id)
}
