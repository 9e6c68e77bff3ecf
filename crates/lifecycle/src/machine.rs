//! The machine behind a node, whoever provides it, and what journals call it.

use clouds::hetzner::HetznerError;
use clouds::{Cloud as _, Host};
use spec::plan::NodePlan;

use crate::{Ground, Site};

/// Finds the machine of a node; none where it is not there.
pub(crate) async fn find(site: &Site, node: &NodePlan) -> Result<Option<Host>, HetznerError> {
    match &site.ground {
        Ground::Hetzner(hetzner) => hetzner.host(&node.name).await,
        Ground::Machines(machines) => {
            let Ok(found) = machines.host(&node.name).await;
            Ok(found)
        }
    }
}

/// Returns what a node on its machine is called where something is sent there,
/// such as `cp-1 (server 42)`.
pub(crate) fn target(node: &str, machine: &Host) -> String {
    format!("{node} ({machine})")
}

/// Returns the key under which the fingerprint of a machine is kept that was
/// given its config.
pub(crate) fn pin(machine: &Host) -> String {
    format!("identity of {machine}")
}
