//! Which of several objects that could be next goes first.

use crate::Kind;

/// What other objects stand on, lowest first. Only breaks ties: what must wait
/// has an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Rank {
    /// What objects are in.
    Namespaces,
    /// Kinds that come with the set.
    Definitions,
    /// Rights, settings, storage, services: what pods refer to.
    Foundations,
    /// What makes pods.
    Workloads,
    /// Objects of kinds that are not Kubernetes' own: their controllers are workloads.
    Customs,
    /// What stands in the way of requests: harmful before its pods are ready.
    Interceptors,
}

/// Kinds by rank; Kubernetes' own kinds that are not here are foundations.
const RANKS: &[(&str, &str, Rank)] = &[
    ("", "Namespace", Rank::Namespaces),
    ("apiextensions.k8s.io", "CustomResourceDefinition", Rank::Definitions),
    ("", "Pod", Rank::Workloads),
    ("", "ReplicationController", Rank::Workloads),
    ("apps", "DaemonSet", Rank::Workloads),
    ("apps", "Deployment", Rank::Workloads),
    ("apps", "ReplicaSet", Rank::Workloads),
    ("apps", "StatefulSet", Rank::Workloads),
    ("batch", "CronJob", Rank::Workloads),
    ("batch", "Job", Rank::Workloads),
    ("autoscaling", "HorizontalPodAutoscaler", Rank::Workloads),
    ("networking.k8s.io", "Ingress", Rank::Workloads),
    ("apiregistration.k8s.io", "APIService", Rank::Interceptors),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration", Rank::Interceptors),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", Rank::Interceptors),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy", Rank::Interceptors),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", Rank::Interceptors),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", Rank::Interceptors),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", Rank::Interceptors),
];

impl Rank {
    /// Returns the rank of a kind.
    pub(super) fn of(kind: &Kind) -> Self {
        let listed = RANKS.iter().find(|(group, name, _)| kind.is(group, name));
        match listed {
            Some((_, _, rank)) => *rank,
            None if is_kubernetes_own(&kind.group) => Self::Foundations,
            None => Self::Customs,
        }
    }
}

/// Kubernetes' own groups that have a dot; a defined kind's group always has
/// one. The ending says nothing: snapshots and gateways have it, and are
/// defined in the cluster and served by somebody's controller.
const OWN_GROUPS: &[&str] = &[
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Returns whether a group comes with Kubernetes itself.
pub(crate) fn is_kubernetes_own(group: &str) -> bool {
    !group.contains('.') || OWN_GROUPS.contains(&group)
}
