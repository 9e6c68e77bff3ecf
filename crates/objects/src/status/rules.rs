//! Which rule is for which kind.

use super::{Facts, Status, cluster_kinds, network, pods, workloads};
use crate::order::is_kubernetes_own;

type Rule = fn(Facts<'_>) -> Status;

/// Kinds with a rule of their own.
const RULES: &[(&str, &str, Rule)] = &[
    ("apps", "Deployment", workloads::deployment),
    ("apps", "DaemonSet", workloads::daemon_set),
    ("apps", "StatefulSet", workloads::stateful_set),
    ("apps", "ReplicaSet", workloads::replica_set),
    ("batch", "Job", workloads::job),
    ("", "Pod", pods::pod),
    ("", "PersistentVolumeClaim", cluster_kinds::claim),
    ("", "PersistentVolume", cluster_kinds::volume),
    ("", "Service", network::service),
    ("networking.k8s.io", "Ingress", network::ingress),
    ("gateway.networking.k8s.io", "Gateway", network::gateway),
    ("gateway.networking.k8s.io", "HTTPRoute", network::route),
    ("autoscaling", "HorizontalPodAutoscaler", workloads::autoscaler),
    ("policy", "PodDisruptionBudget", workloads::disruption_budget),
    ("", "ReplicationController", workloads::replica_set),
    ("", "Namespace", cluster_kinds::namespace),
    ("", "Node", cluster_kinds::node),
    ("apiextensions.k8s.io", "CustomResourceDefinition", cluster_kinds::definition),
    ("apiregistration.k8s.io", "APIService", cluster_kinds::api_service),
];

/// Groups whose every kind has a controller that writes a Ready condition.
const SPEAKING: &[&str] = &[
    "source.toolkit.fluxcd.io",
    "kustomize.toolkit.fluxcd.io",
    "helm.toolkit.fluxcd.io",
    "image.toolkit.fluxcd.io",
    "cert-manager.io",
];

pub(super) fn by_kind(facts: Facts<'_>) -> Status {
    let kind = facts.0.kind();
    match RULES.iter().find(|(group, name, _)| kind.is(group, name)) {
        Some((_, _, rule)) => rule(facts),
        None => by_conditions(facts),
    }
}

/// A kind without a rule is what its Ready condition says.
fn by_conditions(facts: Facts<'_>) -> Status {
    let group = facts.0.kind().group.as_str();
    if SPEAKING.contains(&group) && facts.is_true("/spec/suspend") {
        return Status::unknown("it is suspended");
    }
    match facts.condition("Ready") {
        Some(ready) if ready.is("True") => Status::Ready,
        Some(ready) => Status::in_progress(ready.says()),
        None if SPEAKING.contains(&group) => {
            Status::in_progress("its controller has not said anything yet")
        }
        None if facts.0.items("/status/conditions").is_empty() => without_conditions(facts, group),
        None => match facts.condition("Available") {
            Some(available) if available.is("True") => Status::Ready,
            Some(available) => Status::in_progress(available.says()),
            None => Status::unknown("it has no condition Ready"),
        },
    }
}

/// Kubernetes' own kinds that have no conditions are ready by being there:
/// settings, rights, classes. Of other kinds nobody knows that.
fn without_conditions(facts: Facts<'_>, group: &str) -> Status {
    if is_kubernetes_own(group) {
        return Status::Ready;
    }
    match facts.0.at("/status") {
        Some(_) => Status::unknown("its status has no conditions"),
        None => Status::unknown("it has no status"),
    }
}
