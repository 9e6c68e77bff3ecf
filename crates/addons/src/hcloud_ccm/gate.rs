//! The gate of the cloud controller: every node is the server that it should be.

use std::net::IpAddr;

use events::{Failure, NodeName, Verdict};
use ipnet::IpNet;
use serde_json::{Value, json};

use crate::cilium::unavailable;
use crate::codes;
use crate::gate::{
    Finding, Gate, Inquiry, Look, Need, Nodes, Replicated, Roll, Route, Seen, has_taint, items,
    text, verdict,
};

/// Proves that the cloud controller has found the server behind every node,
/// and that the network knows the way to its pods.
#[derive(Clone, Debug)]
pub struct HcloudCcmGate {
    /// Where the controller is.
    pub namespace: String,
    /// The servers as the cloud knows them.
    pub servers: Vec<Server>,
    /// Whether the network must have a route to every node's pods.
    pub routes: Routes,
}

/// A server that must be a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name, which is the node's too.
    pub name: NodeName,
    /// Its id.
    pub id: u64,
    /// Its address in the private network.
    pub private: IpAddr,
}

/// Who knows the way to pods on other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routes {
    /// The cloud's network, by routes that the controller keeps.
    Kept,
    /// The nodes among themselves.
    NotNeeded,
}

const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";

impl HcloudCcmGate {
    fn controller(&self) -> Replicated<'_> {
        Replicated {
            namespace: &self.namespace,
            name: "hcloud-cloud-controller-manager",
            labels: "app.kubernetes.io/name=hcloud-cloud-controller-manager",
        }
    }

    fn nodes(&self) -> Nodes {
        Nodes::These(self.servers.iter().map(|server| server.name.clone()).collect())
    }

    fn inquire(&self, seen: &Seen) -> Result<Verdict, Failure> {
        let mut inquiry = Inquiry::default();
        let roll = self.nodes().roll(seen, &mut inquiry)?;
        // A controller that does not run is the cause of all that follows.
        self.controller().judge(seen, &mut inquiry)?;
        inquiry.found_all(roll.iter().filter_map(uninitialized));
        self.identities(&roll, &mut inquiry);
        if self.routes == Routes::Kept {
            self.ways(&roll, seen.routes()?, &mut inquiry);
        }
        Ok(inquiry.conclude(self.summary(roll.len())))
    }

    fn identities(&self, roll: &Roll<'_>, inquiry: &mut Inquiry) {
        for server in &self.servers {
            let Some(node) = roll.get(server.name.as_str()) else {
                continue;
            };
            let (id, address) = (text(node, "/spec/providerID"), internal_address(node));
            inquiry.fact(
                format!("node {}", server.name),
                json!({ "providerID": id, "internalIP": address }),
            );
            inquiry.found_all(server.foreign(id));
            inquiry.found_all(server.elsewhere(address));
        }
    }

    fn ways(&self, roll: &Roll<'_>, routes: &[Route], inquiry: &mut Inquiry) {
        for server in &self.servers {
            let Some(node) = roll.get(server.name.as_str()) else {
                continue;
            };
            let finding = server.unreachable(node, routes).or_else(|| unavailable(node));
            inquiry.found_all(finding);
        }
        inquiry.fact("routes", routes.len());
    }

    fn summary(&self, nodes: usize) -> String {
        match self.routes {
            Routes::Kept => format!("{nodes} nodes are their servers, a route to each"),
            Routes::NotNeeded => format!("{nodes} nodes are their servers"),
        }
    }
}

impl Gate for HcloudCcmGate {
    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Nodes::need()];
        needs.extend(self.controller().needs());
        if self.routes == Routes::Kept {
            needs.push(Look::Routes.decides());
        }
        needs
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        verdict(self.inquire(seen))
    }
}

impl Server {
    /// A providerID can be set once: a wrong one stays wrong.
    fn foreign(&self, found: Option<&str>) -> Option<Finding> {
        let (name, expected) = (&self.name, format!("hcloud://{}", self.id));
        match found.filter(|id| !id.is_empty()) {
            None => Some(Finding::new(
                codes::NODE_UNINITIALIZED,
                format!("{name}: it has no providerID yet"),
            )),
            Some(found) if found == expected => None,
            Some(found) => {
                let message = format!("{name}: its providerID is {found}, its server's {expected}");
                Some(Finding::new(codes::PROVIDER_ID_WRONG, message).hopeless().next(
                    format!("kubectl get node {name} -o yaml"),
                    "shows who the node thinks it is",
                ))
            }
        }
    }

    fn elsewhere(&self, found: Option<&str>) -> Option<Finding> {
        let (name, expected) = (&self.name, self.private);
        if found.and_then(|text| text.parse::<IpAddr>().ok()) == Some(expected) {
            return None;
        }
        let found = found.unwrap_or("missing");
        let message = format!("{name}: its InternalIP is {found}, its server's {expected}");
        Some(Finding::new(codes::ADDRESS_WRONG, message))
    }

    fn unreachable(&self, node: &Value, routes: &[Route]) -> Option<Finding> {
        let name = &self.name;
        let Some(pods) = text(node, "/spec/podCIDR").and_then(|text| text.parse::<IpNet>().ok())
        else {
            let message = format!("{name}: it has no range of pod addresses yet");
            return Some(Finding::new(codes::ROUTE_MISSING, message));
        };
        let way = routes.iter().find(|route| route.destination.trunc() == pods.trunc());
        if way.is_some_and(|way| way.gateway == self.private) {
            return None;
        }
        let message = format!("{name}: the network has no route to its pods {pods}");
        let finding = Finding::new(codes::ROUTE_MISSING, message);
        Some(
            finding
                .because(way.map(|way| {
                    format!("the route to {pods} leads to {}, not to {}", way.gateway, self.private)
                }))
                .next(LOGS, "shows what keeps the controller from it"),
        )
    }
}

const LOGS: &str = "kubectl -n kube-system logs deployment/hcloud-cloud-controller-manager";

fn uninitialized(node: &Value) -> Option<Finding> {
    let own = crate::gate::name(node);
    has_taint(node, UNINITIALIZED).then(|| {
        let message = format!("{own}: the cloud controller has not initialised it");
        Finding::new(codes::NODE_UNINITIALIZED, message)
            .because([format!("taint {UNINITIALIZED} is still there")])
            .next(LOGS, "shows what keeps the controller from it")
    })
}

fn internal_address(node: &Value) -> Option<&str> {
    let internal = |address: &&Value| address["type"] == "InternalIP";
    items(node, "/status/addresses").iter().find(internal).and_then(|one| text(one, "/address"))
}
