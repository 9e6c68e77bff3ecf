//! Which machine a node was built on. A cluster file can change; a machine that
//! was given a config has it all the same.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clouds::Host;
use clouds::machines::{Given, Machines};
use engine::{ActError, Eyes, Hands};
use events::{Because, Cause, Failure, History, Role, Verdict};
use objects::ObjectId;
use spec::plan::NodePlan;
use talos::client::{Apply, Node};
use talos::probe::{Mode, Owner, Sighting, probe};

use crate::hetzner::{API_PORT, explain};
use crate::numbered::{nth, read};
use crate::{Ground, Site, codes, kube, machine};

/// A node and its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Berth {
    /// The node.
    pub(crate) name: String,
    /// Where the machine is.
    pub(crate) address: Ipv4Addr,
}

/// A berth that was taken, and when: those without a number came first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Taken {
    number: u32,
    berth: Berth,
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

    /// Returns where nodes were given their configs, by this run or earlier ones,
    /// in the order of time.
    pub(crate) fn known(eyes: &Eyes) -> Vec<Self> {
        taken(eyes).into_iter().map(|it| it.berth).collect()
    }

    /// Returns where nodes have their configs, or may have: a run that died after
    /// it had sent one did not come to write the berth down.
    pub(crate) fn maybe_known(eyes: &Eyes) -> Vec<Self> {
        eyes.history(Self::maybe_in)
    }

    /// The same, by what all runs so far did.
    pub(crate) fn maybe_in(history: &History) -> Vec<Self> {
        let mut berths: Vec<_> = taken_in(history).into_iter().map(|it| it.berth).collect();
        let sent = history.reached(Apply::KIND);
        for berth in sent.iter().filter_map(|(target, _)| Self::of_target(target)) {
            if !berths.contains(&berth) {
                berths.push(berth);
            }
        }
        berths
    }

    /// What a node on its machine is called in journals, where something is sent there.
    pub(crate) fn target(&self) -> String {
        let given = Given { node: self.name.clone(), address: self.address, mac: None };
        machine::target(&self.name, &Host::from(&given))
    }

    /// Reads what a berth is called in journals.
    pub(crate) fn of_target(target: &str) -> Option<Self> {
        let (name, machine) = target.strip_suffix(')')?.split_once(" (")?;
        let address = machine.strip_prefix(Machines::KIND)?.trim_start().parse().ok()?;
        Some(Self { name: name.to_owned(), address })
    }

    /// Writes down that the node was given its config there. A node that moves, and
    /// a machine that becomes another node, has one more berth.
    pub(crate) async fn keep(&self, hands: &Hands) -> Result<(), ActError> {
        let taken = taken(hands.eyes());
        if self.is_last(&taken) {
            return Ok(());
        }
        let is_near = |it: &Taken| it.berth.name == self.name || it.berth.address == self.address;
        let number =
            if taken.iter().any(is_near) { 1 + taken.last().map_or(0, |it| it.number) } else { 0 };
        hands.pin(&format!("{PIN}{}", nth(&self.name, number)), &self.address.to_string()).await?;
        Ok(())
    }

    /// Whether an earlier run has given the node its config here, and neither of
    /// the two was anything else since.
    pub(crate) fn was_taken(&self, machine: &Host, eyes: &Eyes) -> bool {
        let taken = taken(eyes);
        // What broke off between the two pins has the first.
        let is_new = taken.iter().all(|it| it.berth.address != self.address);
        eyes.pinned(&machine::pin(machine)).is_some() && (is_new || self.is_last(&taken))
    }

    /// Whether it is the last berth of its node, and the last on its machine.
    fn is_last(&self, taken: &[Taken]) -> bool {
        let of_node = taken.iter().rfind(|it| it.berth.name == self.name);
        let on_machine = taken.iter().rfind(|it| it.berth.address == self.address);
        [of_node, on_machine].iter().all(|last| last.is_some_and(|it| it.berth == *self))
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
    machine: &Host,
    eyes: &Eyes,
) -> Option<Verdict> {
    let Ground::Machines(_) = &site.ground else { return None };
    let here = Berth::of(node);
    let mut others = Berth::known(eyes);
    others.retain(|it| it.name == here.name && *it != here);
    let so = "put its address back, or take the cluster down first";
    let authority = site.bundle().os.certificate();
    // The last one is the likeliest to live.
    for there in others.iter().rev() {
        let message =
            format!("{} was built at {}, not at {}", here.name, there.address, here.address);
        if node.role == Role::ControlPlane {
            return Some(Verdict::failed(misplaced(message, so)));
        }
        let verdict = match there.look(Some(authority)).await.mode {
            Mode::Configured(Owner::Us) if is_its(there, eyes) => {
                Some(Verdict::failed(misplaced(message, so)))
            }
            // It was wiped, or is another node or somebody else's by now.
            Mode::Maintenance | Mode::Configured(_) | Mode::NotTalos(_) => None,
            // An earlier run has built it here: whoever that was up to has decided.
            _ if here.was_taken(machine, eyes) => None,
            mode @ (Mode::Unreachable(_) | Mode::InTransition) => {
                out_of_sight(site, there, message, mode.word()).await
            }
        };
        if verdict.is_some() {
            return verdict;
        }
    }
    None
}

/// Whether a machine was no other node since.
fn is_its(berth: &Berth, eyes: &Eyes) -> bool {
    let last = Berth::known(eyes).into_iter().rfind(|it| it.address == berth.address);
    last.is_some_and(|it| it.name == berth.name)
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
        .because_of_each([format!("the machine at {address} is {mode}"), known])
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
            Ok(Ok(found)) => {
                site.learn_api(&server);
                return Ok(found.is_some());
            }
            Ok(Err(error)) => last = error,
            Err(_) => last = Failure::transient(format!("no answer within {} s", LOOK.as_secs())),
        }
    }
    Err(last)
}

/// Says that a machine that has our config has that of another node.
pub(crate) fn of_another(site: &Site, node: &NodePlan, eyes: &Eyes) -> Option<Cause> {
    let Ground::Machines(_) = &site.ground else { return None };
    let last = Berth::known(eyes).into_iter().rfind(|it| it.address == node.address);
    let other = last.filter(|it| it.name != node.name)?;
    let message = format!("{} was built at {}, not {}", other.name, other.address, node.name);
    Some(misplaced(message, "put the names back, or take the cluster down first"))
}

fn misplaced(message: String, so: &str) -> Cause {
    Cause::new(codes::WRONG_MACHINE, message)
        .so(format!("nothing was sent to it; {so}"))
        .next(explain(codes::WRONG_MACHINE), "tells more")
}

/// Returns all berths in the order of time.
fn taken(eyes: &Eyes) -> Vec<Taken> {
    eyes.history(taken_in)
}

fn taken_in(history: &History) -> Vec<Taken> {
    let read = |(pin, address): (String, String)| {
        let (name, number) = read(&pin)?;
        let berth = Berth { name: name.to_owned(), address: address.parse().ok()? };
        Some(Taken { number, berth })
    };
    let mut taken: Vec<_> = history.pinned_under(PIN).into_iter().filter_map(read).collect();
    taken.sort_by_key(|it| it.number);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_to_a_machine_is_found_again() {
        let berth = Berth { name: "w-1".to_owned(), address: Ipv4Addr::new(10, 0, 0, 1) };
        assert_eq!(berth.target(), "w-1 (machine 10.0.0.1)");
        assert_eq!(Berth::of_target(&berth.target()), Some(berth));
        assert_eq!(Berth::of_target("cp-1 (server 42)"), None);
    }
}
