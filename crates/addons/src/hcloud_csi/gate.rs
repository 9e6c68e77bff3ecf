//! The gate of the storage driver: volumes can be had on every node.

use events::{Failure, Verdict};
use serde_json::Value;

use super::{DRIVER, STORAGE_CLASS};
use crate::codes;
use crate::gate::{
    Finding, Gate, Inquiry, Look, Need, Nodes, PerNode, Replicated, Roll, Seen, items, kinds, name,
    verdict,
};

/// Proves that the controller is there, and that every kubelet knows the driver.
#[derive(Clone, Debug)]
pub struct HcloudCsiGate {
    /// Where the driver is.
    pub namespace: String,
    /// The nodes that must have the plugin.
    pub nodes: Nodes,
}

impl HcloudCsiGate {
    fn controller(&self) -> Replicated<'_> {
        Replicated {
            namespace: &self.namespace,
            name: "hcloud-csi-controller",
            labels: "app.kubernetes.io/name=hcloud-csi,app.kubernetes.io/component=controller",
        }
    }

    fn plugins(&self) -> PerNode<'_> {
        PerNode {
            what: "storage plugin",
            namespace: &self.namespace,
            name: "hcloud-csi-node",
            labels: "app.kubernetes.io/name=hcloud-csi,app.kubernetes.io/component=node",
            missing: codes::CSI_PLUGIN_MISSING,
        }
    }

    fn inquire(&self, seen: &Seen) -> Result<Verdict, Failure> {
        let mut inquiry = Inquiry::default();
        let roll = self.nodes.roll(seen, &mut inquiry)?;
        self.plugins().judge(seen, &roll, &mut inquiry)?;
        self.controller().judge(seen, &mut inquiry)?;
        // Without the plugin there is nobody to register the driver.
        let registered = seen.list(&Look::all(kinds::CSI_NODE))?;
        if inquiry.is_clear() {
            inquiry.found_all(unregistered(&roll, registered));
        }
        for look in described() {
            if seen.get(&look)?.is_none() {
                let message = format!("{look} does not exist");
                inquiry.found(Finding::new(codes::STORAGE_OBJECT_MISSING, message));
            }
        }
        let nodes = roll.len();
        Ok(inquiry.conclude(format!("driver registered on {nodes}/{nodes} nodes")))
    }
}

impl Gate for HcloudCsiGate {
    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Nodes::need(), Look::all(kinds::CSI_NODE).decides()];
        needs.extend(self.plugins().needs());
        needs.extend(self.controller().needs());
        needs.extend(described().map(Look::decides));
        needs
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        verdict(self.inquire(seen))
    }
}

/// What describes the driver to the cluster.
fn described() -> [Look; 2] {
    [Look::one(kinds::CSI_DRIVER, DRIVER), Look::one(kinds::STORAGE_CLASS, STORAGE_CLASS)]
}

fn unregistered<'a>(
    roll: &Roll<'a>,
    registered: &'a [Value],
) -> impl Iterator<Item = Finding> + use<'a> {
    let lists = |node: &Value| {
        let own = registered.iter().filter(|one| name(one) == name(node));
        own.flat_map(|one| items(one, "/spec/drivers")).any(|driver| driver["name"] == DRIVER)
    };
    roll.iter().filter(move |node| !lists(node)).map(|node| {
        let own = name(node);
        Finding::new(
            codes::CSI_DRIVER_UNREGISTERED,
            format!("{own}: its CSINode does not list {DRIVER}"),
        )
        .next(format!("kubectl get csinode {own} -o yaml"), "shows which drivers it knows")
    })
}
