//! What a node knows of Kubernetes.

use serde::{Deserialize, Serialize};

use super::super::{Client, ClientError, Reason};
use super::{Kind, Resource};

const STATIC_PODS: Kind = Kind { namespace: "k8s", name: "StaticPodStatuses.kubernetes.talos.dev" };
const NODES: Kind = Kind { namespace: "k8s", name: "NodeStatuses.kubernetes.talos.dev" };

/// A static pod of a node, as its kubelet sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StaticPod {
    /// Its namespace and name, such as `kube-system/kube-apiserver-demo-cp-1`.
    pub name: String,
    /// Its phase, such as `Running`.
    pub phase: String,
    /// Whether its condition `Ready` holds.
    pub ready: bool,
}

/// A node, as Kubernetes has told it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    /// Its name.
    #[serde(rename = "nodename")]
    pub name: String,
    /// Whether Kubernetes calls it ready.
    #[serde(rename = "nodeReady")]
    pub ready: bool,
    /// Whether nothing new is put there.
    pub unschedulable: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PodSpec {
    phase: String,
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
struct Condition {
    r#type: String,
    status: String,
}

impl Client {
    /// Lists the static pods; there are none before etcd runs.
    pub async fn static_pods(&self) -> Result<Vec<StaticPod>, ClientError> {
        self.ask("list the static pods", async {
            self.list(STATIC_PODS).await?.into_iter().map(StaticPod::of).collect()
        })
        .await
    }

    /// Asks what Kubernetes says about the node; nothing before it has joined.
    pub async fn node_status(&self) -> Result<Option<NodeStatus>, ClientError> {
        self.ask("ask for the node's status in Kubernetes", async {
            self.list(NODES).await?.first().map(Resource::read).transpose()
        })
        .await
    }
}

impl StaticPod {
    fn of(resource: Resource) -> Result<Self, Reason> {
        let spec: PodSpec = resource.read()?;
        let ready = spec.conditions.iter().any(|it| it.r#type == "Ready" && it.status == "True");
        Ok(Self { name: resource.id, phase: spec.phase, ready })
    }
}
