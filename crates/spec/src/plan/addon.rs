//! Which addons are installed, in which version, by whom.

use serde::Serialize;

use crate::cluster::{Addon, AddonName, By, Cluster};
use crate::scalar::Version;
use crate::versions;

/// An addon with everything decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddonPlan {
    /// Which one.
    pub name: AddonName,
    /// In which version.
    pub version: Version,
    /// In which namespace.
    pub namespace: String,
    /// Who installs it.
    pub by: By,
}

/// Plans the addons in the order in which they are needed.
pub(super) fn addons(cluster: &Cluster) -> Vec<AddonPlan> {
    let mut addons: Vec<AddonPlan> =
        cluster.addons.iter().map(|addon| decide(cluster, addon)).collect();
    addons.sort_by_key(|addon| addon.name);
    addons
}

fn decide(cluster: &Cluster, addon: &Addon) -> AddonPlan {
    let name = addon.name.value;
    let version = addon.version.as_ref().map(|version| version.value.clone());
    AddonPlan {
        name,
        version: version
            .unwrap_or_else(|| versions::default_version(name, &cluster.kubernetes.version)),
        namespace: addon.namespace.as_ref().map_or_else(
            || usual_namespace(name).to_owned(),
            |namespace| namespace.value.to_string(),
        ),
        by: addon.by.as_ref().map_or(By::Seaworthy, |by| by.value),
    }
}

fn usual_namespace(name: AddonName) -> &'static str {
    match name {
        AddonName::Flux => "flux-system",
        AddonName::ProxmoxCsi => "csi-proxmox",
        // kubeseal looks for its controller in kube-system.
        _ => "kube-system",
    }
}
