//! A pod on every node, for the matrix of who reaches whom.

use events::{NodeName, RunId};
use serde_json::{Value, json};

use super::{Mark, ProbeKind};
use crate::manifest::{everywhere, restricted};

/// The port on which every probe pod answers, and dials others when asked to.
pub const DATAPATH_PORT: u16 = 8080;

/// The objects that prove the way between all nodes.
#[derive(Clone, Debug)]
pub struct Datapath {
    /// The run that probes.
    pub run: RunId,
    /// The nodes.
    pub nodes: Vec<NodeName>,
    /// An image of Kubernetes' own test server, which dials others when asked to.
    pub image: String,
}

impl Datapath {
    /// The name of the service in front of all probe pods.
    pub const SERVICE: &'static str = "probe";

    /// Returns what it is found by.
    pub fn mark(&self) -> Mark {
        Mark { run: self.run, kind: ProbeKind::Datapath }
    }

    /// Returns the name of the probe pod of a node.
    pub fn pod_name(node: &NodeName) -> String {
        format!("probe-{node}")
    }

    /// Returns the objects in the order in which they are made.
    pub fn objects(&self) -> Vec<Value> {
        let mark = self.mark();
        let mut objects = vec![mark.home(), mark.object("Service", Self::SERVICE, &self.service())];
        objects.extend(
            self.nodes
                .iter()
                .map(|node| mark.object("Pod", &Self::pod_name(node), &self.pod(node))),
        );
        objects
    }

    fn service(&self) -> Value {
        let ports = json!([{ "name": "http", "port": DATAPATH_PORT, "targetPort": "http" }]);
        json!({ "type": "ClusterIP", "selector": self.mark().labels(), "ports": ports })
    }

    fn pod(&self, node: &NodeName) -> Value {
        let container = json!({
            "name": "probe",
            "image": self.image,
            "args": ["netexec", format!("--http-port={DATAPATH_PORT}"), "--udp-port=-1"],
            "ports": [{ "name": "http", "containerPort": DATAPATH_PORT }],
            "readinessProbe": { "httpGet": { "path": "/healthz", "port": "http" }, "periodSeconds": 1 },
            "securityContext": restricted(),
        });
        json!({
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "terminationGracePeriodSeconds": 1,
            "securityContext": { "runAsUser": 65532, "runAsGroup": 65532 },
            "affinity": on(node),
            "tolerations": everywhere(),
            "containers": [container],
        })
    }
}

/// On this node and no other, by way of the scheduler, as daemon sets do it.
fn on(node: &NodeName) -> Value {
    let field = json!({ "key": "metadata.name", "operator": "In", "values": [node.as_str()] });
    json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{ "matchFields": [field] }],
    }}})
}
