//! `nodes`: every node is ready, says so lately, and fits the API.

use std::collections::BTreeMap;

use events::{Because, Cause, Evidence, Verdict};
use objects::{Object, Scope, Surroundings};
use serde_json::Value;

use super::Verify;
use crate::hetzner::explain;
use crate::lease::Lease;
use crate::{codes, kube};

/// A kubelet may be so many minor versions older than its API, and never newer.
const OLDEST_KUBELET: u64 = 3;

/// What a kubelet complains of although it is ready.
const PRESSING: [&str; 4] = ["NetworkUnavailable", "DiskPressure", "MemoryPressure", "PIDPressure"];

/// Taints by which others say that they have not done their part yet.
const UNFINISHED: [&str; 2] =
    ["node.cloudprovider.kubernetes.io/uninitialized", "node.cilium.io/agent-not-ready"];

/// What was seen of the nodes.
struct Seen<'a> {
    nodes: &'a [Object],
    /// What speaks against leases, by the names of their nodes.
    stale: BTreeMap<String, String>,
    /// The version of the API.
    version: &'a str,
}

pub(super) async fn look(verify: &Verify) -> Verdict {
    let leases =
        Scope::all(kube::kind("coordination.k8s.io/v1", "Lease")).within("kube-node-lease");
    let looks = futures::join!(verify.all("v1", "Node"), verify.listed(&leases));
    match looks {
        (Ok(nodes), Ok(leases)) => {
            let stale = stale(verify, &nodes, &leases);
            Seen { nodes: &nodes, stale, version: verify.version() }.judge()
        }
        (Err(error), _) | (_, Err(error)) => Verdict::blind(error),
    }
}

fn stale(verify: &Verify, nodes: &[Object], leases: &[Object]) -> BTreeMap<String, String> {
    let complaint = |node: &Object| {
        let name = &node.id().name;
        let lease = leases.iter().find(|lease| lease.id().name == *name).and_then(Lease::of);
        Some((name.clone(), verify.stale_lease(name, lease)?))
    };
    nodes.iter().filter_map(complaint).collect()
}

impl Seen<'_> {
    fn judge(&self) -> Verdict {
        if self.nodes.is_empty() {
            return Verdict::not_yet("the cluster has no node");
        }
        let unwell: Vec<(&Object, Vec<String>)> = self
            .nodes
            .iter()
            .map(|node| (node, self.complaints(node)))
            .filter(|(_, complaints)| !complaints.is_empty())
            .collect();
        if let Some((node, complaints)) = unwell.first() {
            return self.not_ready(node, complaints, &unwell);
        }
        self.skew().unwrap_or_else(|| Verdict::ready(self.evidence()))
    }

    /// Returns all that speaks against a node, the most direct first.
    fn complaints(&self, node: &Object) -> Vec<String> {
        let chain = objects::explain(node, &Surroundings::default());
        let mut complaints: Vec<String> = chain.links.into_iter().map(|link| link.says).collect();
        if complaints.is_empty() {
            complaints.extend(pressures(node));
        }
        complaints.extend(self.stale.get(&node.id().name).cloned());
        complaints.extend(taints(node));
        complaints
    }

    fn not_ready(
        &self,
        node: &Object,
        complaints: &[String],
        unwell: &[(&Object, Vec<String>)],
    ) -> Verdict {
        let name = &node.id().name;
        let what = format!("{name}: {}", complaints.join("; "));
        let (some, all) = (unwell.len(), self.nodes.len());
        let are = if some == 1 { "is" } else { "are" };
        let lines = unwell
            .iter()
            .map(|(node, complaints)| format!("{}: {}", node.id().name, complaints.join("; ")));
        let cause =
            Cause::new(codes::NODE_NOT_READY, format!("{some} of {all} nodes {are} not ready"))
                .because(lines)
                .seen(self.evidence())
                .next(format!("kubectl describe node {name}"), "shows its conditions and events")
                .next(explain(codes::NODE_NOT_READY), "tells more");
        Verdict::not_yet(Because::new(what).in_the_end(cause))
    }

    /// No wait changes a version.
    fn skew(&self) -> Option<Verdict> {
        let server = minor(self.version)?;
        let misfit = |node: &Object| {
            let kubelet = kubelet(node);
            let minor = minor(kubelet)?;
            let fits = minor <= server && server - minor <= OLDEST_KUBELET;
            let line =
                || format!("{} has kubelet {kubelet}, the API is {}", node.id().name, self.version);
            (!fits).then(line)
        };
        let misfits: Vec<String> = self.nodes.iter().filter_map(misfit).collect();
        let message =
            format!("{} of {} kubelets do not fit the API", misfits.len(), self.nodes.len());
        let cause = Cause::new(codes::VERSION_SKEW, message)
            .because(misfits.clone())
            .seen(self.evidence())
            .next(explain(codes::VERSION_SKEW), "tells what fits");
        (!misfits.is_empty()).then(|| Verdict::failed(cause))
    }

    fn evidence(&self) -> Evidence {
        let ready = |node: &&Object| self.complaints(node).is_empty();
        let (count, all) = (self.nodes.iter().filter(ready).count(), self.nodes.len());
        let cordoned = self.nodes.iter().filter(|node| is_cordoned(node)).count();
        let summary = match cordoned {
            0 => format!("{count}/{all} ready"),
            _ => format!("{count}/{all} ready, {cordoned} cordoned"),
        };
        self.nodes.iter().fold(Evidence::new(summary), |evidence, node| {
            let cordoned = if is_cordoned(node) { ", cordoned" } else { "" };
            evidence.fact(node.id().name.clone(), format!("kubelet {}{cordoned}", kubelet(node)))
        })
    }
}

fn pressures(node: &Object) -> impl Iterator<Item = String> + '_ {
    let conditions = node.items("/status/conditions").iter();
    let pressing = conditions.filter(|it| {
        it["status"] == "True" && PRESSING.iter().any(|pressing| it["type"] == *pressing)
    });
    pressing.map(|it| {
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        format!("{}: {}", text("type"), text("message"))
    })
}

fn taints(node: &Object) -> impl Iterator<Item = String> + '_ {
    let keys = node.items("/spec/taints").iter().filter_map(|taint| taint["key"].as_str());
    let unfinished = keys.filter(|key| UNFINISHED.contains(key));
    unfinished.map(|key| format!("it has the taint {key}"))
}

fn is_cordoned(node: &Object) -> bool {
    node.at("/spec/unschedulable").and_then(Value::as_bool).unwrap_or(false)
}

fn kubelet(node: &Object) -> &str {
    node.text("/status/nodeInfo/kubeletVersion").unwrap_or("unknown")
}

/// Returns the minor version of `v1.36.3` or `v1.31.4+k3s1`.
fn minor(version: &str) -> Option<u64> {
    version.split('.').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(body: Value) -> Object {
        Object::new(body).expect("it is an object")
    }

    fn node(name: &str, kubelet: &str, pressure: &str) -> Object {
        object(json!({
            "apiVersion": "v1", "kind": "Node", "metadata": { "name": name },
            "status": { "nodeInfo": { "kubeletVersion": kubelet }, "conditions": [
                { "type": "Ready", "status": "True" },
                { "type": "DiskPressure", "status": pressure, "message": "disk is full" },
            ]},
        }))
    }

    fn judged(node: Object) -> Verdict {
        let stale = BTreeMap::from([("b".to_owned(), "it has no lease".to_owned())]);
        Seen { nodes: &[node], stale, version: "v1.36.3" }.judge()
    }

    #[test]
    fn a_node_is_ready_by_all_that_it_says() {
        assert_eq!(judged(node("a", "v1.36.3", "False")).to_string(), "1/1 ready");
        let pressed = judged(node("a", "v1.36.3", "True"));
        assert_eq!(pressed.to_string(), "a: DiskPressure: disk is full");
        let strange = judged(node("b", "v1.36.3", "False"));
        assert_eq!(strange.to_string(), "b: it has no lease");
    }

    #[test]
    fn a_taint_of_others_speaks_against_a_node() {
        let mut body = node("a", "v1.36.3", "False").into_body();
        body["spec"]["taints"] = json!([{ "key": "node.cilium.io/agent-not-ready" }]);
        let verdict = judged(object(body));
        assert_eq!(verdict.to_string(), "a: it has the taint node.cilium.io/agent-not-ready");
    }

    #[test]
    fn kubelets_are_never_newer_and_at_most_three_older() {
        for (kubelet, fits) in
            [("v1.36.0", true), ("v1.33.9+k3s1", true), ("v1.32.0", false), ("v1.37.0", false)]
        {
            let verdict = judged(node("a", kubelet, "False"));
            assert_eq!(matches!(verdict, Verdict::Ready { .. }), fits, "{kubelet}: {verdict}");
        }
    }

    #[test]
    fn no_node_is_not_healthy() {
        let seen = Seen { nodes: &[], stale: BTreeMap::new(), version: "v1.36.3" };
        let verdict = seen.judge();
        assert_eq!(verdict.to_string(), "the cluster has no node");
    }
}
