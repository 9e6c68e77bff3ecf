//! What is applied besides the addons, and what the network of pods is proven
//! with.

use serde::Serialize;

use super::Stage;
use crate::cluster::{After, Cluster};
use crate::scalar::Egress;

/// Objects that are applied besides the addons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ManifestPlan {
    /// Their name in reports.
    pub name: String,
    /// The file or folder, as the cluster file says it.
    pub path: String,
    /// The stage that applies them.
    pub stage: Stage,
}

/// What the network of pods is proven with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProofPlan {
    /// The image of the probe pods.
    pub image: String,
    /// What pods must reach outside.
    pub egress: Egress,
}

/// Kubernetes' own test server: it dials others when asked to.
const PROBE_IMAGE: &str = "registry.k8s.io/e2e-test-images/agnhost:2.57";

pub(super) fn manifests(cluster: &Cluster) -> Vec<ManifestPlan> {
    let plan = |source: &crate::ManifestSource| ManifestPlan {
        name: source.name.to_string(),
        path: source.path.to_string(),
        stage: applied_by(source.after()),
    };
    cluster.manifests.iter().map(plan).collect()
}

/// The stage that may begin once the other is proven.
fn applied_by(after: After) -> Stage {
    match after {
        After::Api => Stage::Cni,
        After::Ready => Stage::Gitops,
        After::Gitops => Stage::Proof,
    }
}

impl ProofPlan {
    pub(super) fn of(cluster: &Cluster) -> Self {
        let asked = cluster.proof.as_ref();
        let image =
            asked.and_then(|proof| proof.image.as_ref()).map(|image| image.value.to_string());
        let egress = asked.and_then(|proof| proof.egress.as_ref());
        Self {
            image: image.unwrap_or_else(|| PROBE_IMAGE.to_owned()),
            egress: egress.map(|egress| egress.value.clone()).unwrap_or_default(),
        }
    }

    /// Whether the file asks for nothing else than usual.
    pub(super) fn is_default(&self) -> bool {
        self.image == PROBE_IMAGE && self.egress == Egress::default()
    }
}
