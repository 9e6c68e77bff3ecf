//! A workload with a pod on every node.

use std::collections::BTreeMap;

use events::{Code, Failure};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::field::{is_observed, items, name, number, text};
use super::look::kinds;
use super::pod::{Trouble, last_event, trouble};
use super::{Finding, Inquiry, Look, Need, Roll, Seen, pods_of};
use crate::codes;

/// A `DaemonSet` that must have a working pod on every node.
pub(crate) struct PerNode<'a> {
    /// What its pods are called in messages, such as `agent`.
    pub(crate) what: &'static str,
    /// Its namespace.
    pub(crate) namespace: &'a str,
    /// Its name.
    pub(crate) name: &'a str,
    /// The labels of its pods.
    pub(crate) labels: &'a str,
    /// What it is called if a node has no working pod.
    pub(crate) missing: Code,
}

impl PerNode<'_> {
    /// What must be seen.
    pub(crate) fn needs(&self) -> Vec<Need> {
        vec![
            self.set().decides(),
            self.pods().decides(),
            Look::all_in(kinds::EVENT, self.namespace).explains(),
        ]
    }

    /// Judges node by node, then by the numbers of the set: either could lie
    /// for a moment, both together do not.
    pub(crate) fn judge(
        &self,
        seen: &Seen,
        roll: &Roll<'_>,
        inquiry: &mut Inquiry,
    ) -> Result<(), Failure> {
        let lacking = self.lacking(seen, roll)?;
        let Some(set) = seen.get(&self.set())? else {
            inquiry.found(self.absent());
            return Ok(());
        };
        let numbers = if lacking.is_empty() { self.numbers(set, roll.len()) } else { None };
        inquiry.found_all(lacking.into_values().chain(numbers));
        inquiry.fact(format!("daemonset {}", self.name), counts(set));
        Ok(())
    }

    /// Returns what is the matter on each node that has no working pod.
    pub(crate) fn lacking<'a>(
        &self,
        seen: &'a Seen,
        roll: &Roll<'a>,
    ) -> Result<BTreeMap<&'a str, Finding>, Failure> {
        let pods = seen.list(&self.pods())?;
        let Some(set) = seen.get(&self.set())? else {
            return Ok(roll.iter().map(|node| (name(node), self.absent())).collect());
        };
        let events = seen.hints(&Look::all_in(kinds::EVENT, self.namespace));
        let pods: Vec<_> = pods.iter().filter(|pod| is_owned(pod, set)).collect();
        let on_node =
            |node| Some((name(node), self.on_node(name(node), &pods, events, seen.time())?));
        Ok(roll.iter().filter_map(on_node).collect())
    }

    fn set(&self) -> Look {
        Look::one_in(kinds::DAEMON_SET, self.namespace, self.name)
    }

    fn pods(&self) -> Look {
        pods_of(self.namespace, self.labels)
    }

    fn absent(&self) -> Finding {
        let Self { namespace, name, .. } = self;
        Finding::new(
            codes::WORKLOAD_MISSING,
            format!("DaemonSet {namespace}/{name} does not exist"),
        )
    }

    /// What is the matter on one node, if anything is.
    fn on_node(
        &self,
        node: &str,
        pods: &[&Value],
        events: &[Value],
        at: Timestamp,
    ) -> Option<Finding> {
        let mut troubles = Vec::new();
        for pod in pods.iter().filter(|pod| target(pod) == Some(node)) {
            troubles.push((name(pod), trouble(pod, events, at)?));
        }
        // A pod on its way out says less than the one that takes its place.
        troubles.sort_by_key(|(_, trouble)| trouble.state == "being deleted");
        Some(match troubles.into_iter().next() {
            Some((pod, trouble)) => self.broken(node, pod, trouble),
            None => self.podless(node, events),
        })
    }

    fn broken(&self, node: &str, pod: &str, trouble: Trouble) -> Finding {
        let Self { what, namespace, missing, .. } = self;
        let message = format!("{node}: {what} not running: {}", trouble.state);
        // The code says that a node is without; what its pod suffers from is behind it.
        Finding::new(*missing, message)
            .because(trouble.code.map(|code| format!("{code}: {}", codes::title(code))))
            .because(trouble.because)
            .hope(trouble.hope)
            .stays(trouble.stays)
            .next(
                format!("kubectl -n {namespace} describe pod {pod}"),
                "shows its state and events",
            )
    }

    fn podless(&self, node: &str, events: &[Value]) -> Finding {
        let Self { what, namespace, name, labels, missing } = self;
        Finding::new(*missing, format!("{node}: {what} not running: there is no pod for this node"))
            .because(last_event(name, events))
            .next(
                format!("kubectl -n {namespace} get pods -l {labels} -o wide"),
                "shows where there are pods",
            )
            .next(
                format!("kubectl -n {namespace} describe daemonset {name}"),
                "shows which nodes it wants",
            )
    }

    fn numbers(&self, set: &Value, nodes: usize) -> Option<Finding> {
        let Self { namespace, name, .. } = self;
        let behind = |what: String| {
            let message = format!("DaemonSet {namespace}/{name}: {what}");
            Some(Finding::new(codes::WORKLOAD_BEHIND, message))
        };
        if !is_observed(set) {
            return behind("its controller has not seen its newest form".to_owned());
        }
        let count = |field: &str| number(set, &format!("/status/{field}")).unwrap_or_default();
        let wanted = i64::try_from(nodes).unwrap_or(i64::MAX);
        [
            ("wanted", "desiredNumberScheduled"),
            ("of its newest form", "updatedNumberScheduled"),
            ("ready", "numberReady"),
            ("available", "numberAvailable"),
        ]
        .into_iter()
        .find(|(_, field)| count(field) != wanted)
        .and_then(|(word, field)| behind(format!("{} of {nodes} pods {word}", count(field))))
    }
}

fn counts(set: &Value) -> Value {
    let status = &set["status"];
    json!({
        "generation": set["metadata"]["generation"],
        "observedGeneration": status["observedGeneration"],
        "desired": status["desiredNumberScheduled"],
        "updated": status["updatedNumberScheduled"],
        "ready": status["numberReady"],
        "available": status["numberAvailable"],
    })
}

/// A pod of the same labels that somebody else made does not count.
fn is_owned(pod: &Value, set: &Value) -> bool {
    let uid = text(set, "/metadata/uid");
    let owners = items(pod, "/metadata/ownerReferences");
    uid.is_some() && owners.iter().any(|owner| text(owner, "/uid") == uid)
}

/// The node that a pod is on, or is meant for as long as it is not scheduled.
fn target(pod: &Value) -> Option<&str> {
    let affinity = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution\
                    /nodeSelectorTerms/0/matchFields/0/values/0";
    text(pod, "/spec/nodeName").or_else(|| text(pod, affinity))
}
