//! Hetzner as a cloud like any other.

use super::{Hetzner, HetznerError, Kind, Server};
use crate::{Cloud, Host, Item};

impl Cloud for Hetzner {
    type Error = HetznerError;

    async fn host(&self, node: &str) -> Result<Option<Host>, HetznerError> {
        Ok(self.find::<Server>(node).await?.map(|server| Host::from(&*server)))
    }

    async fn inventory(&self) -> Result<Vec<Item>, HetznerError> {
        Ok(self.take_inventory().await?.items())
    }
}

/// A server tells its own id from the inside.
impl From<&Server> for Host {
    fn from(server: &Server) -> Self {
        let cards = server.private_net.iter().map(|net| net.mac_address.clone());
        Self {
            kind: Kind::Server.word(),
            id: server.id.to_string(),
            instance: Some(server.id.to_string()),
            cards: cards.filter(|card| !card.is_empty()).collect(),
            address: server.public_address(),
        }
    }
}
