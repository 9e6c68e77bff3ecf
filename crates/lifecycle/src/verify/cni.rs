//! `cni`: pods have a network on every node, whatever brings it.

use addons::gate::Nodes;
use addons::pod_network::{NetworkSet, PodNetworkGate};
use events::{Because, Cause, Evidence, Verdict};
use objects::Object;

use super::Verify;
use crate::addon;
use crate::hetzner::explain;

/// What a runtime without a network says, in the words of the kubelet.
const NO_NETWORK: [&str; 2] = ["NetworkPluginNotReady", "cni plugin not initialized"];

/// A network is known by what all of them do: a `DaemonSet` that writes into
/// the host's folder for them. Where there is none, nodes speak for themselves.
pub(super) async fn look(verify: &Verify) -> Verdict {
    let sets = match verify.all("apps/v1", "DaemonSet").await {
        Ok(sets) => sets,
        Err(error) => return Verdict::blind(error),
    };
    let sets: Vec<_> = sets.iter().filter_map(|set| NetworkSet::of(set.body())).collect();
    if sets.is_empty() {
        return by_the_nodes(verify).await;
    }
    let cluster = match verify.cluster().await {
        Ok(cluster) => cluster,
        Err(error) => return Verdict::blind(error),
    };
    let gate = PodNetworkGate { sets, nodes: Nodes::Registered };
    addon::judge_in(cluster, verify.now(), &gate).await
}

async fn by_the_nodes(verify: &Verify) -> Verdict {
    let nodes = match verify.all("v1", "Node").await {
        Ok(nodes) => nodes,
        Err(error) => return Verdict::blind(error),
    };
    let without: Vec<String> = nodes.iter().filter_map(complaint).collect();
    let Some(first) = without.first() else {
        let summary = match nodes.len() {
            0 => return Verdict::not_yet("the cluster has no node"),
            1 => "1 node, by its own word".to_owned(),
            count => format!("{count} nodes, by their own word"),
        };
        return Verdict::ready(Evidence::new(summary).fact("pod network", "not recognised"));
    };
    let message = format!("{} of {} nodes have no pod network", without.len(), nodes.len());
    let cause = Cause::new(addons::codes::POD_NETWORK_MISSING, message)
        .because(without.clone())
        .next(explain(addons::codes::POD_NETWORK_MISSING), "tells more");
    Verdict::not_yet(Because::new(first.clone()).in_the_end(cause))
}

/// What a node says against its network: only a ready one has nothing to say.
fn complaint(node: &Object) -> Option<String> {
    let name = &node.id().name;
    let conditions = node.items("/status/conditions");
    let ready = conditions.iter().find(|it| it["type"] == "Ready");
    let message = ready.and_then(|it| it["message"].as_str()).unwrap_or_default();
    let unavailable =
        conditions.iter().any(|it| it["type"] == "NetworkUnavailable" && it["status"] != "False");
    match ready.map(|it| it["status"] == "True") {
        None => Some(format!("{name} says nothing of itself yet")),
        Some(false) if NO_NETWORK.iter().any(|word| message.contains(word)) => {
            Some(format!("{name}: {message}"))
        }
        _ if unavailable => Some(format!("{name}: NetworkUnavailable")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(conditions: &serde_json::Value) -> Object {
        Object::new(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "a" },
            "status": { "conditions": conditions } }))
        .expect("it is an object")
    }

    #[test]
    fn a_node_is_heard_about_its_network_only() {
        let ready = |status: &str, message: &str| {
            node(&json!([{ "type": "Ready", "status": status, "message": message }]))
        };
        assert_eq!(complaint(&ready("True", "")), None);
        assert_eq!(complaint(&ready("False", "PLEG is not healthy")), None);
        let message = "container runtime network not ready: NetworkReady=false \
                       reason:NetworkPluginNotReady message:cni plugin not initialized";
        assert_eq!(complaint(&ready("False", message)), Some(format!("a: {message}")));
        let unavailable = json!([{ "type": "Ready", "status": "True" },
            { "type": "NetworkUnavailable", "status": "True" }]);
        assert_eq!(complaint(&node(&unavailable)).as_deref(), Some("a: NetworkUnavailable"));
        assert!(complaint(&node(&json!([]))).is_some());
    }
}
