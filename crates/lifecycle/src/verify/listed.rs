//! The machine behind a Node. Calls go to the machine itself, for no control plane
//! passes ours on.

use std::net::IpAddr;

use events::Code;
use objects::Object;
use talos::client::{ClientError, Node, Reason};
use talos::credentials::Identity;

use super::ControlPlanes;
use super::etcd::called;
use crate::codes;
use crate::machine_sight::MachineSight;

/// A Node, as far as it leads to its machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listed {
    name: String,
    /// What it is called besides.
    names: Vec<String>,
    /// Those for the world outside come first.
    addresses: Vec<IpAddr>,
}

/// A machine that has answered.
pub(super) struct Machine {
    pub(super) at: Node,
    /// What it calls its Node; nothing before it has joined.
    pub(super) node: Option<String>,
    pub(super) sight: MachineSight,
}

/// A machine that has not answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Silent {
    pub(super) name: String,
    pub(super) is_named: bool,
    pub(super) code: Code,
    /// What came instead of an answer.
    pub(super) why: String,
    /// Where more is told.
    pub(super) next: String,
}

impl Listed {
    pub(super) fn of(node: &Object) -> Self {
        let name = node.id().name.clone();
        let (mut names, mut outside, mut inside) = (Vec::new(), Vec::new(), Vec::new());
        for told in node.items("/status/addresses") {
            let place = told["address"].as_str().unwrap_or_default();
            match place.parse::<IpAddr>() {
                Ok(address) if told["type"] == "ExternalIP" => outside.push(address),
                Ok(address) => inside.push(address),
                Err(_) => names.push(place.to_owned()),
            }
        }
        outside.append(&mut inside);
        Self { name, names, addresses: outside }
    }

    pub(super) fn is_at(&self, at: &Node) -> bool {
        self.addresses.contains(&at.address.ip())
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.names.iter().any(|it| it == name)
    }

    /// A machine's own word counts more than where it was asked: addresses pass on.
    pub(super) fn is_of(&self, machine: &Machine) -> bool {
        match &machine.node {
            Some(name) => *name == self.name,
            None => self.is_at(&machine.at),
        }
    }

    pub(super) fn is_named(&self, planes: &ControlPlanes) -> bool {
        let mut known = planes.endpoints.iter().chain(&planes.others);
        known.any(|at| self.is_at(at)) || planes.names.iter().any(|name| self.is_called(name))
    }

    /// Asks its machine at one address after the other. One of the cluster's own network
    /// comes last: from here it may be that of a machine of somebody else.
    pub(super) async fn machine(&self, identity: &Identity) -> Result<Machine, Silent> {
        let mut silent: Option<ClientError> = None;
        for address in &self.addresses {
            match Machine::at(Node::at((*address, Node::PORT).into()), identity).await {
                Ok(machine) if self.is_of(&machine) => return Ok(machine),
                Ok(machine) => return Err(self.taken(&machine)),
                // Of two answers that are none, one that somebody gave tells more.
                Err(error) if silent.as_ref().is_none_or(|it| !is_spoken(&it.reason)) => {
                    silent = Some(error);
                }
                Err(_) => {}
            }
        }
        Err(silent.map_or_else(|| self.nowhere(), |error| Silent::at(&self.name, &error)))
    }

    fn taken(&self, machine: &Machine) -> Silent {
        let (address, other) = (machine.at.address.ip(), machine.node.as_deref());
        let other = other.unwrap_or("another Node");
        self.lost(&format!("at its address {address} the machine of {other} answers"))
    }

    fn nowhere(&self) -> Silent {
        self.lost("its Node tells no address")
    }

    fn lost(&self, why: &str) -> Silent {
        Silent::unknown(&self.name, why, &format!("kubectl get node {} -o wide", self.name))
    }
}

impl Machine {
    pub(super) async fn at(at: Node, identity: &Identity) -> Result<Self, ClientError> {
        let client = at.authenticated(identity).await?;
        let sight = MachineSight::by(&client).await?;
        // Whoever cannot say it is known by its address.
        let node = client.node_status().await.ok().flatten().map(|it| it.name);
        Ok(Self { at, node, sight })
    }
}

impl Silent {
    pub(super) fn at(name: &str, error: &ClientError) -> Self {
        let address = error.node.ip().to_string();
        let who = if name == address { address.clone() } else { format!("{name} at {address}") };
        let (code, message) = called(&who, &error.reason);
        Self {
            name: name.to_owned(),
            is_named: true,
            code,
            why: format!("{message}: {}", error.reason),
            next: format!("seaworthy talos probe {address}"),
        }
    }

    pub(super) fn unknown(name: &str, why: &str, next: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_named: true,
            code: codes::NODE_UNREACHABLE,
            why: format!("{name}: {why}"),
            next: next.to_owned(),
        }
    }
}

/// Says whether somebody was there.
fn is_spoken(reason: &Reason) -> bool {
    !matches!(reason, Reason::Refused | Reason::NoRoute | Reason::NoAnswer)
}

#[cfg(test)]
impl Listed {
    /// A Node with addresses of these types.
    pub(super) fn sample(name: &str, addresses: &[(&str, &str)]) -> Self {
        let addresses = addresses.iter();
        let addresses =
            addresses.map(|(kind, it)| serde_json::json!({ "type": kind, "address": it }));
        let addresses: Vec<_> = addresses.collect();
        let node = serde_json::json!({ "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": name }, "status": { "addresses": addresses } });
        Self::of(&Object::new(node).expect("it is an object"))
    }
}

#[cfg(test)]
mod tests {
    use events::Arrival;

    use super::*;

    fn at(address: &str) -> Node {
        Node::at((address.parse::<IpAddr>().expect("it is an address"), Node::PORT).into())
    }

    #[test]
    fn a_node_is_known_by_all_that_it_is_called() {
        let node = Listed::sample(
            "w-1",
            &[("Hostname", "w-1.example"), ("InternalIP", "10.0.0.5"), ("ExternalIP", "fd00::5")],
        );
        assert_eq!(node.addresses, [at("fd00::5"), at("10.0.0.5")].map(|it| it.address.ip()));
        assert!(node.is_called("w-1") && node.is_called("w-1.example") && !node.is_called("w"));
        assert!(node.is_at(&at("10.0.0.5")) && node.is_at(&at("fd00::5")));
        assert!(!node.is_at(&at("10.0.0.6")));
    }

    #[test]
    fn what_came_instead_of_an_answer_is_told_with_its_place() {
        let place = at("10.0.0.5").address;
        let error =
            |reason| ClientError { attempt: "connect", node: place, arrival: Arrival::No, reason };
        let silent = Silent::at("w-1", &error(Reason::NoAnswer));
        let why = "w-1 at 10.0.0.5 cannot be reached on port 50000: nothing answered in time";
        assert_eq!((silent.why.as_str(), silent.code), (why, codes::NODE_UNREACHABLE));
        assert_eq!(silent.next, "seaworthy talos probe 10.0.0.5");
        let silent = Silent::at("10.0.0.5", &error(Reason::Refused));
        let why = "10.0.0.5 refuses connections on port 50000: connection refused";
        assert_eq!((silent.why.as_str(), silent.code), (why, codes::NODE_REFUSES));
        let nowhere = Listed::sample("w-2", &[]).nowhere();
        assert_eq!(nowhere.why, "w-2: its Node tells no address");
    }
}
