//! The machine behind a node, as far as whoever provides it knows it: what the
//! node is told apart by before any secret goes there.

use clouds::hetzner::{HetznerError, Server};
use spec::plan::{Hardware, NodePlan};

use crate::Site;
use crate::site::Ground;

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// What it is called in journals, such as `server 42`.
    pub(crate) title: String,
    /// What it is called to people, such as `the server 42`.
    pub(crate) meant: String,
    /// The id that its platform must tell, where it has one.
    pub(crate) instance: Option<String>,
    /// The network cards that it must have.
    pub(crate) cards: Vec<String>,
}

impl Machine {
    /// The key under which the fingerprint of a machine is kept that was given
    /// its config.
    pub(crate) fn pin(&self) -> String {
        format!("identity of {}", self.title)
    }

    /// Finds the machine of a node; none where it is not there.
    pub(crate) async fn of(site: &Site, node: &NodePlan) -> Result<Option<Self>, HetznerError> {
        match &site.ground {
            Ground::Hetzner(hetzner) => {
                let server = hetzner.find::<Server>(&node.name).await?;
                Ok(server.map(|server| Self::from(&*server)))
            }
            Ground::Machines => Ok(Some(Self::given(node))),
        }
    }

    /// A machine that the cluster file names.
    fn given(node: &NodePlan) -> Self {
        let mac = match &node.hardware {
            Hardware::Machine { mac, .. } => mac.as_ref(),
            Hardware::Server { .. } | Hardware::Vm { .. } => None,
        };
        Self {
            title: format!("machine {}", node.address),
            meant: format!("the machine of {}", node.name),
            instance: None,
            cards: mac.iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<&Server> for Machine {
    fn from(server: &Server) -> Self {
        let cards = server.private_net.iter().map(|net| net.mac_address.clone());
        Self {
            title: format!("server {}", server.id),
            meant: format!("the server {}", server.id),
            instance: Some(server.id.to_string()),
            cards: cards.filter(|card| !card.is_empty()).collect(),
        }
    }
}
