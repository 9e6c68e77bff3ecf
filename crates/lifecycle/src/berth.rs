//! Which machine a node was built on. A cluster file can change; a machine that
//! was given a config has it all the same.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use engine::{ActError, Eyes, Hands};
use events::{Cause, Role};
use spec::plan::NodePlan;
use talos::client::Node;
use talos::probe::{Mode, Owner, Sighting, probe};

use crate::hetzner::explain;
use crate::{Ground, Site, codes};

/// A node and its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Berth {
    /// The node.
    pub(crate) name: String,
    /// Where the machine is.
    pub(crate) address: Ipv4Addr,
}

/// How long a machine may take to show itself.
const LOOK: Duration = Duration::from_secs(5);

/// Under which names berths are pinned, before the node's.
const PIN: &str = "machine of ";

impl Berth {
    /// Where the plan wants a node.
    pub(crate) fn of(node: &NodePlan) -> Self {
        Self { name: node.name.clone(), address: node.address }
    }

    /// Returns where nodes were given their configs, by this run or earlier ones.
    pub(crate) fn known(eyes: &Eyes) -> Vec<Self> {
        let pinned = eyes.pinned_under(PIN).into_iter();
        pinned
            .filter_map(|(name, address)| Some(Self { name, address: address.parse().ok()? }))
            .collect()
    }

    /// Writes down that the node was given its config there.
    pub(crate) async fn keep(&self, hands: &Hands) -> Result<(), ActError> {
        hands.pin(&format!("{PIN}{}", self.name), &self.address.to_string()).await?;
        Ok(())
    }

    /// Returns the Talos API of the machine.
    pub(crate) fn talos(&self) -> Node {
        Node::at(SocketAddr::new(self.address.into(), Node::PORT))
    }

    /// Looks what the machine is now, by an authority where there is one.
    pub(crate) async fn look(&self, ours: Option<&talos::pki::Certificate>) -> Sighting {
        probe(self.talos().address, ours, LOOK).await
    }
}

/// Says that a node was built elsewhere, where that machine may still be it. A
/// worker that is gone can be built anew; of a control plane, there would be
/// two clusters.
pub(crate) async fn moved(site: &Site, node: &NodePlan, eyes: &Eyes) -> Option<Cause> {
    let Ground::Machines = site.ground else { return None };
    let here = Berth::of(node);
    let there = Berth::known(eyes).into_iter().find(|it| it.name == here.name && *it != here)?;
    let ours = Some(site.bundle().os.certificate());
    let is_gone =
        node.role == Role::Worker && there.look(ours).await.mode != Mode::Configured(Owner::Us);
    let message = format!("{} was built at {}, not at {}", here.name, there.address, here.address);
    (!is_gone).then(|| misplaced(message, "put its address back, or take the cluster down first"))
}

/// Says that a machine that has our config has that of another node.
pub(crate) fn taken(site: &Site, node: &NodePlan, eyes: &Eyes) -> Option<Cause> {
    let Ground::Machines = site.ground else { return None };
    let is_taken = |it: &Berth| it.address == node.address && it.name != node.name;
    let other = Berth::known(eyes).into_iter().find(is_taken)?;
    let message = format!("{} was built at {}, not {}", other.name, other.address, node.name);
    Some(misplaced(message, "put the names back, or take the cluster down first"))
}

fn misplaced(message: String, so: &str) -> Cause {
    Cause::new(codes::WRONG_MACHINE, message)
        .so(format!("nothing was sent to it; {so}"))
        .next(explain(codes::WRONG_MACHINE), "tells more")
}
