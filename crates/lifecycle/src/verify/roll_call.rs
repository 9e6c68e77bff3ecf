//! Which machines of a cluster are asked how they are, and who has answered.
//!
//! A talosconfig names machines by addresses, Kubernetes by its Nodes, and a machine
//! can have many addresses: what it calls its own Node brings them together.

use events::{Failure, Verdict};
use futures::future::join_all;
use talos::client::{ClientError, Node};

use super::etcd::unheard;
use super::listed::{Listed, Machine, Silent};
use super::{ControlPlanes, Verify};

/// Which machines are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roll {
    /// Those that the talosconfig names, and those of all Nodes.
    Everybody,
    /// Those that the talosconfig names; the others are counted.
    Named,
}

/// Who has answered, and who has not.
pub(super) struct RollCall {
    pub(super) present: Vec<Machine>,
    pub(super) silent: Vec<Silent>,
    /// How many Nodes there are.
    pub(super) nodes: usize,
    /// Of how many of them the machine was asked.
    pub(super) asked: usize,
    /// Why nobody knows which Nodes there are.
    pub(super) unlisted: Option<Failure>,
}

impl RollCall {
    /// Asks those that are named, then those whom Kubernetes knows besides.
    pub(super) async fn of(verify: &Verify, planes: &ControlPlanes) -> Result<Self, Verdict> {
        let named = planes.endpoints.iter().chain(&planes.others);
        let asked = named.map(async |at| (*at, Machine::at(*at, &planes.identity).await));
        let (listed, asked) = futures::join!(verify.all("v1", "Node"), join_all(asked));
        let (listed, silent, unlisted) = match listed {
            Ok(nodes) => {
                let listed: Vec<_> = nodes.iter().map(Listed::of).collect();
                let strangers = strangers(planes, &listed);
                (listed, strangers, None)
            }
            Err(error) => (Vec::new(), Vec::new(), Some(error).filter(|_| needs_nodes(planes))),
        };
        let (present, nodes) = (Vec::new(), listed.len());
        let mut call = Self { present, silent, nodes, asked: 0, unlisted };
        for (at, answer) in asked {
            if let Some(verdict) = call.hear(at, answer, &listed) {
                return Err(verdict);
            }
        }
        call.ask_missing(planes, &listed).await;
        Ok(call)
    }

    /// Takes the answer of a machine that is named. One that says no ends the call.
    fn hear(
        &mut self,
        at: Node,
        answer: Result<Machine, ClientError>,
        listed: &[Listed],
    ) -> Option<Verdict> {
        let name = at.address.ip().to_string();
        match answer {
            Ok(machine) => self.note(machine),
            Err(error) if !error.class().is_retryable() => return Some(unheard(&name, &error)),
            // Its Node was seen at another address, or leads to it once more.
            Err(_) if listed.iter().any(|node| node.is_at(&at)) => {}
            Err(error) => self.silent.push(Silent::at(&name, &error)),
        }
        None
    }

    /// Asks the machines of those Nodes for which nobody has answered.
    async fn ask_missing(&mut self, planes: &ControlPlanes, listed: &[Listed]) {
        let is_present = |node: &&Listed| self.present.iter().any(|machine| node.is_of(machine));
        let (there, missing): (Vec<_>, Vec<_>) = listed.iter().partition(is_present);
        let is_wanted = |node: &&Listed| planes.roll == Roll::Everybody || node.is_named(planes);
        let wanted = missing.into_iter().filter(is_wanted);
        let wanted = wanted.map(async |node| (node, node.machine(&planes.identity).await));
        let answers = join_all(wanted).await;
        self.asked = there.len() + answers.len();
        for (node, answer) in answers {
            match answer {
                Ok(machine) => self.note(machine),
                Err(silent) => {
                    self.silent.push(Silent { is_named: node.is_named(planes), ..silent });
                }
            }
        }
    }

    /// A machine that was asked at two of its addresses is still one.
    fn note(&mut self, machine: Machine) {
        let is_same = |it: &Machine| it.node.is_some() && it.node == machine.node;
        if !self.present.iter().any(is_same) {
            self.present.push(machine);
        }
    }
}

/// Says whether nobody can tell without the Nodes who is to be asked.
fn needs_nodes(planes: &ControlPlanes) -> bool {
    planes.roll == Roll::Everybody || !planes.names.is_empty()
}

/// Returns those whom the talosconfig calls by names that Kubernetes does not know.
fn strangers(planes: &ControlPlanes, listed: &[Listed]) -> Vec<Silent> {
    let is_known = |name: &&String| listed.iter().any(|node| node.is_called(name));
    let unknown = planes.names.iter().filter(|name| !is_known(name));
    let why = "no Node is called so, and nothing else says where it is";
    unknown.map(|name| Silent::unknown(name, why, "kubectl get nodes -o wide")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No packet leaves for a broadcast address: there is no way to it.
    const BEYOND: &str = "127.255.255.255";

    async fn called(planes: &ControlPlanes, listed: &[Listed]) -> RollCall {
        let silent = strangers(planes, listed);
        let (present, nodes) = (Vec::new(), listed.len());
        let mut call = RollCall { present, silent, nodes, asked: 0, unlisted: None };
        call.ask_missing(planes, listed).await;
        call
    }

    #[tokio::test]
    async fn a_node_whose_machine_does_not_answer_is_missed_unless_only_others_are_named() {
        let listed = [Listed::sample("w-1", &[("InternalIP", BEYOND)])];
        let everybody = called(&ControlPlanes::sample(Roll::Everybody, &[]), &listed).await;
        let told: Vec<_> =
            everybody.silent.iter().map(|it| (it.why.as_str(), it.is_named)).collect();
        let why = "w-1 at 127.255.255.255 cannot be reached on port 50000: no route to the node";
        assert_eq!(told, [(why, false)]);
        assert_eq!((everybody.asked, everybody.nodes), (1, 1));
        let named = called(&ControlPlanes::sample(Roll::Named, &[]), &listed).await;
        assert_eq!((named.silent, named.asked, named.nodes), (Vec::new(), 0, 1));
    }

    #[tokio::test]
    async fn what_the_talosconfig_calls_by_name_is_asked_where_its_node_is() {
        let listed =
            [Listed::sample("w-1", &[("Hostname", "w-1.example"), ("InternalIP", BEYOND)])];
        let call =
            called(&ControlPlanes::sample(Roll::Named, &["w-1.example", "nobody"]), &listed).await;
        let told: Vec<_> = call.silent.iter().map(|it| (it.name.as_str(), it.is_named)).collect();
        assert_eq!(told, [("nobody", true), ("w-1", true)]);
        assert!(
            call.silent[0].why.starts_with("nobody: no Node is called so"),
            "{:?}",
            call.silent
        );
    }
}
