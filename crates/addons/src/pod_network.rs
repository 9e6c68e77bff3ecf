//! A pod network that somebody's manifests bring: whatever it is called, it
//! works on every node, or it does not work.

use std::collections::BTreeMap;

use events::{Failure, Verdict};
use serde_json::Value;

use crate::cilium::unavailable;
use crate::codes;
use crate::gate::{
    Finding, Gate, Inquiry, Need, Nodes, PerNode, Roll, Seen, items, name, text, verdict,
};

/// A `DaemonSet` that gives nodes their pod network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkSet {
    namespace: String,
    name: String,
    labels: String,
}

/// Proves that every node has a working pod of a network, and waits for none.
#[derive(Clone, Debug)]
pub struct PodNetworkGate {
    /// What gives nodes their network. Some come in several sets, such as one
    /// for each architecture: a node needs a pod of one of them.
    pub sets: Vec<NetworkSet>,
    /// The nodes that must have a pod.
    pub nodes: Nodes,
}

/// Where container runtimes look for the network of pods.
const CNI_FOLDER: &str = "/etc/cni";

// === impl NetworkSet ===

impl NetworkSet {
    /// Recognises one by what every pod network has to do: it writes into the
    /// host's folder for them.
    pub fn of(object: &Value) -> Option<Self> {
        let is_set = object["kind"] == "DaemonSet" && object["apiVersion"] == "apps/v1";
        let volumes = items(object, "/spec/template/spec/volumes");
        let writes = volumes.iter().filter_map(|volume| text(volume, "/hostPath/path"));
        if !is_set || !writes.into_iter().any(|path| path.starts_with(CNI_FOLDER)) {
            return None;
        }
        let labels = object.pointer("/spec/selector/matchLabels")?.as_object()?;
        let label = |(key, value): (&String, &Value)| Some(format!("{key}={}", value.as_str()?));
        let labels: Option<Vec<_>> = labels.iter().map(label).collect();
        Some(Self {
            namespace: text(object, "/metadata/namespace").unwrap_or("default").to_owned(),
            name: name(object).to_owned(),
            labels: labels?.join(","),
        })
    }

    fn pods(&self) -> PerNode<'_> {
        PerNode {
            what: "pod network",
            namespace: &self.namespace,
            name: &self.name,
            labels: &self.labels,
            missing: codes::POD_NETWORK_MISSING,
        }
    }
}

// === impl PodNetworkGate ===

impl PodNetworkGate {
    fn inquire(&self, seen: &Seen) -> Result<Verdict, Failure> {
        let mut inquiry = Inquiry::default();
        let roll = self.nodes.roll(seen, &mut inquiry)?;
        match self.sets.as_slice() {
            [set] => set.pods().judge(seen, &roll, &mut inquiry)?,
            sets => inquiry.found_all(unserved(sets, seen, &roll)?.into_values()),
        }
        inquiry.found_all(roll.iter().filter_map(unavailable));
        let (nodes, names) = (roll.len(), self.names());
        Ok(inquiry.conclude(format!("{names} on {nodes}/{nodes} nodes")))
    }

    fn names(&self) -> String {
        let names: Vec<_> = self.sets.iter().map(|set| set.name.as_str()).collect();
        names.join(", ")
    }
}

/// Returns the nodes that no set serves, each with what the first set says.
fn unserved<'a>(
    sets: &[NetworkSet],
    seen: &'a Seen,
    roll: &Roll<'a>,
) -> Result<BTreeMap<&'a str, Finding>, Failure> {
    let mut lacking: Option<BTreeMap<&str, Finding>> = None;
    for set in sets {
        let these = set.pods().lacking(seen, roll)?;
        lacking = Some(match lacking {
            None => these,
            Some(mut lacking) => {
                lacking.retain(|node, _| these.contains_key(node));
                lacking
            }
        });
    }
    Ok(lacking.unwrap_or_default())
}

impl Gate for PodNetworkGate {
    fn needs(&self) -> Vec<Need> {
        let sets = self.sets.iter().flat_map(|set| set.pods().needs());
        std::iter::once(Nodes::need()).chain(sets).collect()
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        verdict(self.inquire(seen))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_network_is_known_by_what_it_writes() {
        let set = |path: &str, kind: &str| {
            let volumes = json!([{ "name": "x", "hostPath": { "path": path } }]);
            json!({ "apiVersion": "apps/v1", "kind": kind,
                "metadata": { "name": "flannel", "namespace": "kube-flannel" },
                "spec": { "selector": { "matchLabels": { "app": "flannel", "tier": "node" } },
                    "template": { "spec": { "volumes": volumes } } } })
        };
        let found = NetworkSet::of(&set("/etc/cni/net.d", "DaemonSet")).unwrap();
        assert_eq!(found.labels, "app=flannel,tier=node");
        assert_eq!((found.namespace.as_str(), found.name.as_str()), ("kube-flannel", "flannel"));
        assert_eq!(NetworkSet::of(&set("/var/log", "DaemonSet")), None);
        assert_eq!(NetworkSet::of(&set("/etc/cni/net.d", "Deployment")), None);
    }
}
