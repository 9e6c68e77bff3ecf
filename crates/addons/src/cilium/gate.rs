//! The gate of Cilium: it works on every node, or it does not work.

use events::{Failure, Verdict};
use serde_json::Value;

use crate::codes;
use crate::gate::{
    Finding, Gate, Inquiry, Need, Nodes, PerNode, Replicated, Seen, condition, has_taint, name,
    text, verdict,
};

/// Proves that every node has a working agent, and waits for none.
#[derive(Clone, Debug)]
pub struct CiliumGate {
    /// Where Cilium is.
    pub namespace: String,
    /// The nodes that must have an agent.
    pub nodes: Nodes,
}

const NOT_READY: &str = "node.cilium.io/agent-not-ready";

impl CiliumGate {
    fn agents(&self) -> PerNode<'_> {
        PerNode {
            what: "Cilium agent",
            namespace: &self.namespace,
            name: "cilium",
            labels: "k8s-app=cilium",
            missing: codes::CILIUM_AGENT_MISSING,
        }
    }

    fn operator(&self) -> Replicated<'_> {
        Replicated {
            namespace: &self.namespace,
            name: "cilium-operator",
            labels: "io.cilium/app=operator",
        }
    }

    fn inquire(&self, seen: &Seen) -> Result<Verdict, Failure> {
        let mut inquiry = Inquiry::default();
        let roll = self.nodes.roll(seen, &mut inquiry)?;
        self.agents().judge(seen, &roll, &mut inquiry)?;
        self.operator().judge(seen, &mut inquiry)?;
        inquiry.found_all(roll.iter().filter_map(waiting));
        let nodes = roll.len();
        Ok(inquiry.conclude(format!("agents on {nodes}/{nodes} nodes, operator available")))
    }
}

impl Gate for CiliumGate {
    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Nodes::need()];
        needs.extend(self.agents().needs());
        needs.extend(self.operator().needs());
        needs
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        verdict(self.inquire(seen))
    }
}

/// What a node itself says against its network.
fn waiting(node: &Value) -> Option<Finding> {
    let own = name(node);
    if has_taint(node, NOT_READY) {
        let message = format!("{own}: taint {NOT_READY} is still there");
        return Some(
            Finding::new(codes::CILIUM_TAINT_LEFT, message)
                .next(format!("kubectl describe node {own}"), "shows taints and events"),
        );
    }
    unavailable(node)
}

/// A node that says nothing about its network does not say that it is broken.
pub(crate) fn unavailable(node: &Value) -> Option<Finding> {
    let said = condition(node, "NetworkUnavailable").filter(|one| one["status"] != "False")?;
    let status = text(said, "/status").unwrap_or_default();
    let message = format!("{}: NetworkUnavailable is {status}", name(node));
    Some(
        Finding::new(codes::NETWORK_UNAVAILABLE, message)
            .because(text(said, "/message").filter(|text| !text.is_empty())),
    )
}
