//! In which order an addon's objects are delivered, and what is awaited on the way.

use serde_json::Value;

use crate::{Rendered, SecretObject};

/// Objects that are delivered together.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// What they have in common.
    pub phase: Phase,
    /// The objects.
    pub objects: Vec<&'a Value>,
    /// The Secrets among them.
    pub secrets: Vec<&'a SecretObject>,
}

/// What other objects stand on, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// What objects are in.
    Namespaces,
    /// New kinds.
    Definitions,
    /// Rights, settings, secrets, storage, services: what pods refer to.
    Foundations,
    /// What makes pods.
    Workloads,
    /// Objects of new kinds, for the workloads to act on.
    Customs,
    /// What makes others wait until the workloads answer.
    Interceptors,
}

/// What must be so before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The objects exist. Whether they work is the gate's question.
    Existing,
    /// The namespaces are `Active`.
    Active,
    /// The definitions are `Established`: their kinds are served.
    Established,
}

const WORKLOADS: &[&str] = &["DaemonSet", "Deployment", "StatefulSet", "Job", "CronJob", "Pod"];

impl Rendered {
    /// Returns the objects in steps. Steps without objects are left out.
    pub fn steps(&self) -> Vec<Step<'_>> {
        Phase::ALL.into_iter().map(|phase| self.step(phase)).filter(|s| !s.is_empty()).collect()
    }

    fn step(&self, phase: Phase) -> Step<'_> {
        let objects = self.objects().iter().filter(|object| Phase::of(object) == phase).collect();
        let secrets = self.secrets().iter().filter(|_| phase == Phase::Foundations).collect();
        Step { phase, objects, secrets }
    }
}

impl Step<'_> {
    fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.secrets.is_empty()
    }
}

impl Phase {
    /// All phases in their order.
    pub const ALL: [Self; 6] = [
        Self::Namespaces,
        Self::Definitions,
        Self::Foundations,
        Self::Workloads,
        Self::Customs,
        Self::Interceptors,
    ];

    /// Returns what is awaited after it.
    pub fn awaits(self) -> Awaited {
        match self {
            Self::Namespaces => Awaited::Active,
            Self::Definitions => Awaited::Established,
            Self::Foundations | Self::Workloads | Self::Customs | Self::Interceptors => {
                Awaited::Existing
            }
        }
    }

    /// Returns the phase of an object.
    pub fn of(object: &Value) -> Self {
        let api_version = object["apiVersion"].as_str().unwrap_or_default();
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        match object["kind"].as_str().unwrap_or_default() {
            "Namespace" if group.is_empty() => Self::Namespaces,
            "CustomResourceDefinition" => Self::Definitions,
            "APIService" => Self::Interceptors,
            _ if group == "admissionregistration.k8s.io" => Self::Interceptors,
            kind if WORKLOADS.contains(&kind) && is_kubernetes_own(group) => Self::Workloads,
            _ if is_kubernetes_own(group) => Self::Foundations,
            _ => Self::Customs,
        }
    }
}

/// Kubernetes' own groups have no dot, or end like this.
fn is_kubernetes_own(group: &str) -> bool {
    !group.contains('.') || group.ends_with(".k8s.io")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_stand_on_comes_first_and_is_awaited() {
        for (api_version, kind, phase, awaited) in [
            ("v1", "Namespace", Phase::Namespaces, Awaited::Active),
            (
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                Phase::Definitions,
                Awaited::Established,
            ),
            ("v1", "Secret", Phase::Foundations, Awaited::Existing),
            ("storage.k8s.io/v1", "CSIDriver", Phase::Foundations, Awaited::Existing),
            ("apps/v1", "Deployment", Phase::Workloads, Awaited::Existing),
            ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", Phase::Customs, Awaited::Existing),
            ("example.com/v1", "Job", Phase::Customs, Awaited::Existing),
            ("apiregistration.k8s.io/v1", "APIService", Phase::Interceptors, Awaited::Existing),
        ] {
            let found = Phase::of(&json!({ "apiVersion": api_version, "kind": kind }));
            assert_eq!((found, found.awaits()), (phase, awaited), "{kind}");
        }
    }

    #[test]
    fn secrets_come_before_the_pods_that_read_them() {
        let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": {} });
        let head = json!({ "apiVersion": "v1", "kind": "Secret" });
        let rendered = Rendered::of_chart(vec![pod]).with_secret(SecretObject::new(head, []));
        let phases: Vec<_> = rendered.steps().iter().map(|step| step.phase).collect();
        assert_eq!(phases, [Phase::Foundations, Phase::Workloads]);
    }
}
