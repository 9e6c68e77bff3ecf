//! Hetzner as a cloud like any other.

use events::{Failure, Made, Permit};

use super::{Hetzner, Remove, Server, ServerStatus};
use crate::{CallError, Cloud, Host, Item, Power};

impl Cloud for Hetzner {
    async fn host(&self, node: &str) -> Result<Option<Host>, Failure> {
        Ok(self.find::<Server>(node).await?.map(|server| Host::from(&*server)))
    }

    async fn inventory(&self) -> Result<Vec<Item>, Failure> {
        Ok(self.take_inventory().await?.items())
    }

    async fn is_removed(&self, item: &Item) -> Result<bool, Failure> {
        Ok(self.look(&Remove { item: item.clone() }).await?.is_some())
    }

    async fn remove(&self, permit: Permit, item: &Item) -> Result<Made, CallError> {
        Ok(self.send(permit, &Remove { item: item.clone() }).await?)
    }
}

impl From<&Server> for Host {
    fn from(server: &Server) -> Self {
        Self {
            id: server.id.to_string(),
            provider_id: Some(server.provider_id()),
            public: server.public_address(),
            private: server.private_net.iter().map(|net| net.ip).collect(),
            power: match server.status {
                ServerStatus::Running => Power::On,
                ServerStatus::Unknown => Power::Unknown,
                other => Power::Other(format!("{other:?}").to_lowercase()),
            },
        }
    }
}
