//! `machines`: the machines below the nodes are ready, by their own word.
//!
//! Kubernetes says of a node that it is not ready; why its kubelet cannot start
//! or what else it waits for, only its machine knows. Talos tells it to whoever
//! has its credentials, so the gate is there for those only.

use events::{Because, Cause, Evidence, Failure, Verdict};
use futures::future::join_all;
use talos::client::{ClientError, Node};
use talos::credentials::Identity;

use super::etcd::unheard;
use super::{ControlPlanes, Verify};
use crate::hetzner::explain;
use crate::machine_sight::{MachineSight, complaint, diagnosed};
use crate::{codes, node_trouble};

/// Calls are made to machines themselves: no control plane passes them on.
const SO: &str = "what was not seen is not called healthy; ask from where it can be reached, or \
                  leave it out of the `nodes` of the talosconfig";

/// What was seen of the machines.
struct Seen<'a> {
    identity: &'a Identity,
    machines: Vec<(Node, MachineSight)>,
    /// Those that have not answered, and what came instead.
    silent: Vec<(Node, ClientError)>,
}

/// What is wrong with a machine.
struct Complaint {
    code: events::Code,
    /// What it says first.
    first: String,
    behind: Vec<String>,
}

pub(super) async fn look(verify: &Verify) -> Verdict {
    let Some(planes) = verify.control_planes() else {
        return Verdict::blind(Failure::permanent("no talosconfig says where the machines are"));
    };
    match Seen::by(planes).await {
        Ok(seen) => seen.judge().await,
        Err(verdict) => verdict,
    }
}

impl<'a> Seen<'a> {
    /// Asks all machines at once.
    async fn by(planes: &'a ControlPlanes) -> Result<Self, Verdict> {
        let ask = async |at: &Node| (*at, MachineSight::of(*at, &planes.identity).await);
        let asked = planes.endpoints.iter().chain(&planes.others).map(ask);
        let mut seen =
            Self { identity: &planes.identity, machines: Vec::new(), silent: Vec::new() };
        for (at, sight) in join_all(asked).await {
            match sight {
                Ok(sight) => seen.machines.push((at, sight)),
                Err(error) if error.class().is_retryable() => seen.silent.push((at, error)),
                Err(error) => return Err(unheard(&name(at), &error)),
            }
        }
        Ok(seen)
    }

    async fn judge(&self) -> Verdict {
        let mut unwell = Vec::new();
        for (at, sight) in &self.machines {
            if let Some(complaint) = self.complaint(*at, sight).await {
                unwell.push((name(*at), complaint));
            }
        }
        let Some((first, complaint)) = unwell.first() else {
            return self.unseen().unwrap_or_else(|| Verdict::ready(self.evidence()));
        };
        let what = format!("{first}: {}", complaint.first);
        let (some, all) = (unwell.len(), self.machines.len() + self.silent.len());
        let are = if some == 1 { "is" } else { "are" };
        let lines = unwell.iter().flat_map(|(name, it)| {
            let all = [&it.first].into_iter().chain(&it.behind);
            all.map(move |line| format!("{name}: {line}"))
        });
        let cause = Cause::new(complaint.code, format!("{some} of {all} machines {are} not ready"))
            .because(lines)
            .seen(self.evidence())
            .next(format!("talosctl -n {first} logs kubelet"), "shows what its kubelet says")
            .next(explain(complaint.code), "tells more");
        Verdict::not_yet(Because::new(what).in_the_end(cause))
    }

    /// Nobody knows how a machine is that has not answered: it may be broken, or only
    /// out of reach from here.
    fn unseen(&self) -> Option<Verdict> {
        let (first, error) = self.silent.first()?;
        let (first, (code, _)) = (name(*first), node_trouble::named("", &error.reason));
        let lines = self.silent.iter().map(|(at, error)| {
            let (_, message) = node_trouble::named(&name(*at), &error.reason);
            format!("{message}: {}", error.reason)
        });
        let (some, all) = (self.silent.len(), self.silent.len() + self.machines.len());
        let message = format!("{some} of {all} machines did not answer");
        let cause = Cause::new(code, message)
            .because(lines)
            .so(SO)
            .seen(self.evidence())
            .next(format!("seaworthy talos probe {first}"), "shows whether it answers from here")
            .next(explain(code), "tells more");
        let what = format!("{first}: {}", error.reason);
        Some(Verdict::not_yet(Because::new(what).in_the_end(cause)))
    }

    /// Returns what a machine has to say against itself, the most direct first.
    async fn complaint(&self, at: Node, sight: &MachineSight) -> Option<Complaint> {
        let mut behind = sight.unmet();
        let (code, first) = match sight.unwell_kubelet() {
            Some(kubelet) => (codes::KUBELET_UNHEALTHY, format!("kubelet: {}", complaint(kubelet))),
            None if sight.status.ready => return None,
            None if behind.is_empty() => {
                (codes::NODE_NOT_READY, format!("it is {}", sight.stage()))
            }
            None => (codes::NODE_NOT_READY, behind.remove(0)),
        };
        behind.extend(diagnosed(at, self.identity).await);
        Some(Complaint { code, first, behind })
    }

    fn evidence(&self) -> Evidence {
        let ready = self.machines.iter().filter(|(_, it)| it.status.ready).count();
        let summary = format!("{ready}/{} ready", self.machines.len() + self.silent.len());
        let said = self.machines.iter().map(|(at, it)| (*at, it.stage()));
        let silent = self.silent.iter().map(|(at, error)| (*at, error.reason.to_string()));
        said.chain(silent)
            .fold(Evidence::new(summary), |evidence, (at, it)| evidence.fact(name(at), it))
    }
}

fn name(at: Node) -> String {
    at.address.ip().to_string()
}
