//! Which machine a node was built on. A cluster file can change; a machine that
//! was given a config has it all the same.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use engine::{ActError, Eyes, Hands};
use events::{Because, Cause, Failure, Role, Verdict};
use objects::ObjectId;
use spec::plan::NodePlan;
use talos::client::Node;
use talos::probe::{Mode, Owner, Sighting, probe};

use crate::hetzner::{API_PORT, explain};
use crate::machine::Machine;
use crate::{Ground, Site, codes, kube};

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

/// Says that a node was built elsewhere, where that machine may still be it. Of a
/// control plane, there would be two clusters; a worker whose machine is gone
/// can be built anew.
pub(crate) async fn moved(
    site: &Site,
    node: &NodePlan,
    machine: &Machine,
    eyes: &Eyes,
) -> Option<Verdict> {
    let Ground::Machines = site.ground else { return None };
    let here = Berth::of(node);
    let there = Berth::known(eyes).into_iter().find(|it| it.name == here.name && *it != here)?;
    let message = format!("{} was built at {}, not at {}", here.name, there.address, here.address);
    let so = "put its address back, or take the cluster down first";
    if node.role == Role::ControlPlane {
        return Some(Verdict::failed(misplaced(message, so)));
    }
    match there.look(Some(site.bundle().os.certificate())).await.mode {
        Mode::Configured(Owner::Us) => Some(Verdict::failed(misplaced(message, so))),
        // It was wiped, or is somebody else's by now.
        Mode::Maintenance | Mode::Configured(_) | Mode::NotTalos(_) => None,
        // An earlier run has built it here: whoever that was up to has decided.
        _ if eyes.pinned(&machine.pin()).is_some() => None,
        mode @ (Mode::Unreachable(_) | Mode::InTransition) => {
            out_of_sight(site, &there, message, mode.word()).await
        }
    }
}

/// A machine that does not answer may come back, and there would be two of one
/// name. That it will not, only people know: they say so by deleting its Node.
async fn out_of_sight(site: &Site, there: &Berth, message: String, mode: &str) -> Option<Verdict> {
    let (name, address) = (&there.name, there.address);
    let known = match is_registered(site, name).await {
        Ok(false) => return None,
        Ok(true) => format!("Kubernetes has a Node {name}"),
        Err(error) => format!("Kubernetes could not be asked for a Node {name}: {error}"),
    };
    let what = format!("{message}; the machine at {address} is {mode}, and {known}");
    let so = format!(
        "nothing was sent anywhere; is the machine at {address} gone for good, keep it off and \
         delete the Node; put its address back otherwise"
    );
    let cause = Cause::new(codes::WRONG_MACHINE, message)
        .because([format!("the machine at {address} is {mode}"), known])
        .so(so)
        .next(format!("kubectl delete node {name}"), "says that the machine will not come back")
        .next(explain(codes::WRONG_MACHINE), "tells more");
    Some(Verdict::not_yet(Because::new(what).in_the_end(cause)))
}

/// Asks any control plane whether Kubernetes knows a node.
async fn is_registered(site: &Site, name: &str) -> Result<bool, Failure> {
    let id = ObjectId { kind: kube::kind("v1", "Node"), namespace: None, name: name.to_owned() };
    let mut last = Failure::transient("there is no control plane");
    for node in site.control_planes() {
        let server = format!("https://{}:{API_PORT}", node.address);
        let asked = async {
            let cluster = kube::at(site, &server).await?;
            cluster.get(&id).await.map_err(|error| error.failure())
        };
        match tokio::time::timeout(LOOK, asked).await {
            Ok(Ok(found)) => return Ok(found.is_some()),
            Ok(Err(error)) => last = error,
            Err(_) => last = Failure::transient(format!("no answer within {} s", LOOK.as_secs())),
        }
    }
    Err(last)
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
