//! `machines`: the machines below the nodes are ready, by their own word.
//!
//! Kubernetes says of a node that it is not ready; why its kubelet cannot start
//! or what else it waits for, only its machine knows. Talos tells it to whoever
//! has its credentials, so the gate is there for those only.

use events::{Because, Cause, Evidence, Failure, Verdict};
use talos::client::Node;
use talos::credentials::Identity;

use super::Verify;
use super::listed::Silent;
use super::roll_call::RollCall;
use crate::codes;
use crate::hetzner::explain;
use crate::machine_sight::{MachineSight, complaint, diagnosed};

/// What was seen of the machines.
struct Seen<'a> {
    identity: &'a Identity,
    call: RollCall,
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
    match RollCall::of(verify, planes).await {
        Ok(call) => Seen { identity: &planes.identity, call }.judge().await,
        Err(verdict) => verdict,
    }
}

impl Seen<'_> {
    async fn judge(&self) -> Verdict {
        let mut unwell = Vec::new();
        for machine in &self.call.present {
            if let Some(complaint) = self.complaint(machine.at, &machine.sight).await {
                unwell.push((name(machine.at), complaint));
            }
        }
        let Some((first, complaint)) = unwell.first() else { return self.without_complaint() };
        let what = format!("{first}: {}", complaint.first);
        let (some, all) = (unwell.len(), self.count());
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

    /// Judges machines of which none complains. Not to know of one is not to see it.
    fn without_complaint(&self) -> Verdict {
        match (&self.call.unlisted, self.call.silent.first()) {
            (_, Some(first)) => self.unseen(first),
            (Some(error), None) => Verdict::blind(error.clone()),
            (None, None) => Verdict::ready(self.evidence()),
        }
    }

    /// Nobody knows how a machine is that has not answered: it may be broken, or only
    /// out of reach from here.
    fn unseen(&self, first: &Silent) -> Verdict {
        let silent = &self.call.silent;
        let message = format!("{} of {} machines did not answer", silent.len(), self.count());
        let leave_out = if silent.iter().all(|it| it.is_named) {
            "leave it out of the talosconfig"
        } else {
            "ask only those that the talosconfig names: `--machines named`"
        };
        let so = format!(
            "what was not seen is not called healthy; ask from where it can be reached, or {leave_out}"
        );
        let cause = Cause::new(first.code, message)
            .because(silent.iter().map(|it| it.why.clone()))
            .so(so)
            .seen(self.evidence())
            .next(first.next.clone(), "shows what can be seen of it from here")
            .next(explain(first.code), "tells more");
        Verdict::not_yet(Because::new(first.why.clone()).in_the_end(cause))
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
        let RollCall { present, silent, nodes, asked, .. } = &self.call;
        let ready = present.iter().filter(|it| it.sight.status.ready).count();
        let mut summary = format!("{ready}/{} machines ready", self.count());
        if asked < nodes {
            // Who was not asked may be unwell.
            summary = format!("{summary}; {asked} of {nodes} nodes asked");
        }
        let said = present.iter().map(|it| (name(it.at), it.sight.stage()));
        let silent = silent.iter().map(|it| (it.name.clone(), it.why.clone()));
        said.chain(silent)
            .fold(Evidence::new(summary), |evidence, (who, it)| evidence.fact(who, it))
    }

    /// Counts the machines that were asked.
    fn count(&self) -> usize {
        self.call.present.len() + self.call.silent.len()
    }
}

fn name(at: Node) -> String {
    at.address.ip().to_string()
}

#[cfg(test)]
mod tests {
    use super::super::{ControlPlanes, Roll};
    use super::*;

    fn silent(is_named: bool) -> Silent {
        Silent { is_named, ..Silent::unknown("w-1", "nobody knows", "kubectl get nodes") }
    }

    async fn judged(silent: Vec<Silent>, unlisted: Option<Failure>) -> Verdict {
        let planes = ControlPlanes::sample(Roll::Everybody, &[]);
        let call = RollCall { present: Vec::new(), silent, nodes: 3, asked: 1, unlisted };
        Seen { identity: &planes.identity, call }.judge().await
    }

    #[tokio::test]
    async fn a_machine_that_was_not_seen_is_told_with_how_to_leave_it_out() {
        for (is_named, how) in [(true, "leave it out"), (false, "`--machines named`")] {
            let verdict = judged(vec![silent(is_named)], None).await;
            let Verdict::NotYet { because } = verdict else { panic!("{verdict:?}") };
            assert_eq!(because.what, "w-1: nobody knows");
            let cause = because.in_the_end.expect("it has a name in the end");
            assert_eq!(cause.message, "1 of 1 machines did not answer");
            assert!(cause.so.as_ref().is_some_and(|so| so.contains(how)), "{cause:?}");
        }
    }

    #[tokio::test]
    async fn not_to_know_which_machines_there_are_is_not_to_see_them() {
        let verdict = judged(Vec::new(), Some(Failure::permanent("not allowed"))).await;
        assert!(matches!(verdict, Verdict::Blind { .. }), "{verdict:?}");
        let named = judged(Vec::new(), None).await;
        assert_eq!(named.to_string(), "0/0 machines ready; 1 of 3 nodes asked");
    }
}
