//! `machines`: the machines below the nodes are ready, by their own word.
//!
//! Kubernetes says of a node that it is not ready; why its kubelet cannot start
//! or what else it waits for, only its machine knows. Talos tells it to whoever
//! has its credentials, so the gate is there for those only.

use events::{Because, Cause, Evidence, Failure, Verdict};
use futures::future::join_all;
use talos::client::{ClientError, Node, Reason};
use talos::credentials::Identity;

use super::etcd::unheard;
use super::{ControlPlanes, Verify};
use crate::codes;
use crate::hetzner::explain;
use crate::machine_sight::{MachineSight, complaint, diagnosed};

/// What was seen of the machines.
struct Seen<'a> {
    identity: &'a Identity,
    machines: Vec<(Node, MachineSight)>,
    /// Those to which there is no way from here.
    beyond: Vec<String>,
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
    /// Asks all machines at once. Endpoints have to answer; a node that is only
    /// named may be one that endpoints alone can reach.
    async fn by(planes: &'a ControlPlanes) -> Result<Self, Verdict> {
        let ask = async |at: &Node| (*at, MachineSight::of(*at, &planes.identity).await);
        let asked = planes.endpoints.iter().chain(&planes.others).map(ask);
        let mut seen =
            Self { identity: &planes.identity, machines: Vec::new(), beyond: Vec::new() };
        for (place, (at, sight)) in join_all(asked).await.into_iter().enumerate() {
            match sight {
                Ok(sight) => seen.machines.push((at, sight)),
                Err(error) if place >= planes.endpoints.len() && is_beyond(&error) => {
                    seen.beyond.push(name(at));
                }
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
            return Verdict::ready(self.evidence());
        };
        let what = format!("{first}: {}", complaint.first);
        let (some, all) = (unwell.len(), self.machines.len());
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
        let mut summary = format!("{ready}/{} ready", self.machines.len());
        if !self.beyond.is_empty() {
            summary = format!("{summary}; {} not reached from here", self.beyond.join(", "));
        }
        self.machines
            .iter()
            .fold(Evidence::new(summary), |evidence, (at, it)| evidence.fact(name(*at), it.stage()))
    }
}

fn name(at: Node) -> String {
    at.address.ip().to_string()
}

/// Says whether there is no way to a machine from here.
fn is_beyond(error: &ClientError) -> bool {
    matches!(error.reason, Reason::NoAnswer | Reason::NoRoute)
}
