//! Machines that exist already: bare metal, VMs of any hypervisor.
//!
//! Their provider is a list that people keep. Nobody makes them, so there are no
//! wishes; nobody removes them, so the inventory is empty; and the list cannot say
//! whether they run or whose they are. That they say themselves, over the Talos
//! API, to whoever holds a client for it.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use crate::{Cloud, Host, Item};

/// The machines that a cluster was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machines {
    given: Vec<Given>,
}

/// A machine, as people describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The node that it is to be.
    pub node: String,
    /// Where it is reached.
    pub address: Ipv4Addr,
    /// The hardware address of a network card that it has, where people said so.
    pub mac: Option<String>,
}

impl Machines {
    /// What journals call one of them, before its address.
    pub const KIND: &str = "machine";
}

impl FromIterator<Given> for Machines {
    fn from_iter<I: IntoIterator<Item = Given>>(given: I) -> Self {
        Self { given: given.into_iter().collect() }
    }
}

impl Cloud for Machines {
    type Error = Infallible;

    async fn host(&self, node: &str) -> Result<Option<Host>, Infallible> {
        Ok(self.given.iter().find(|it| it.node == node).map(Host::from))
    }

    async fn inventory(&self) -> Result<Vec<Item>, Infallible> {
        Ok(Vec::new())
    }
}

/// A machine is told apart by its address: names are given to nodes, and a file
/// can give one machine another name.
impl From<&Given> for Host {
    fn from(given: &Given) -> Self {
        Self {
            kind: Machines::KIND,
            id: given.address.to_string(),
            instance: None,
            cards: given.mac.iter().cloned().collect(),
            address: Some(given.address.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_machine_is_found_by_its_node_and_told_apart_by_its_address() {
        let address = Ipv4Addr::new(10, 0, 0, 1);
        let given = |node: &str, mac: Option<&str>| Given {
            node: node.to_owned(),
            address,
            mac: mac.map(str::to_owned),
        };
        let machines = Machines::from_iter([given("cp-1", Some("02:00:00:00:00:01"))]);
        let Ok(host) = machines.host("cp-1").await;
        let host = host.expect("it was given");
        assert_eq!(host.to_string(), "machine 10.0.0.1");
        assert_eq!(host.cards, ["02:00:00:00:00:01"]);
        assert_eq!((host.instance.as_ref(), host.address), (None, Some(address.into())));
        assert_eq!(machines.host("cp-2").await, Ok(None));
        let renamed = Machines::from_iter([given("w-1", None)]);
        let Ok(renamed) = renamed.host("w-1").await;
        assert_eq!(renamed.map(|it| it.to_string()), Some(host.to_string()));
    }

    #[tokio::test]
    async fn what_nobody_made_is_not_there_to_be_removed() {
        let given = Given { node: "cp-1".to_owned(), address: Ipv4Addr::LOCALHOST, mac: None };
        assert_eq!(Machines::from_iter([given]).inventory().await, Ok(Vec::new()));
    }
}
