//! Which rule is for which kind.

use serde_json::Value;

use super::{Facts, Status, cluster_kinds, network, pods, storage, workloads};
use crate::Kind;
use crate::order::is_kubernetes_own;

type Rule = fn(Facts<'_>) -> Status;

const GATEWAYS: &str = "gateway.networking.k8s.io";

/// Kinds with a rule of their own.
const RULES: &[(&str, &str, Rule)] = &[
    ("apps", "Deployment", workloads::deployment),
    ("apps", "DaemonSet", workloads::daemon_set),
    ("apps", "StatefulSet", workloads::stateful_set),
    ("apps", "ReplicaSet", workloads::replica_set),
    ("batch", "Job", workloads::job),
    ("", "Pod", pods::pod),
    ("", "PersistentVolumeClaim", storage::claim),
    ("", "PersistentVolume", storage::volume),
    ("snapshot.storage.k8s.io", "VolumeSnapshot", storage::snapshot),
    ("snapshot.storage.k8s.io", "VolumeSnapshotContent", storage::snapshot),
    ("snapshot.storage.k8s.io", "VolumeSnapshotClass", |_| Status::Ready),
    ("", "Service", network::service),
    ("networking.k8s.io", "Ingress", network::ingress),
    (GATEWAYS, "Gateway", network::gateway),
    (GATEWAYS, "GatewayClass", network::gateway_class),
    (GATEWAYS, "ReferenceGrant", |_| Status::Ready),
    ("autoscaling", "HorizontalPodAutoscaler", workloads::autoscaler),
    ("policy", "PodDisruptionBudget", workloads::disruption_budget),
    ("", "ReplicationController", workloads::replica_set),
    ("", "Namespace", cluster_kinds::namespace),
    ("", "Node", cluster_kinds::node),
    ("apiextensions.k8s.io", "CustomResourceDefinition", cluster_kinds::definition),
    ("apiregistration.k8s.io", "APIService", cluster_kinds::api_service),
    ("certificates.k8s.io", "CertificateSigningRequest", cluster_kinds::signing_request),
    ("source.toolkit.fluxcd.io", "HelmRepository", helm_repository),
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
        None if is_route(kind) => network::route(facts),
        None => by_conditions(facts),
    }
}

/// Routes of all protocols are written alike, and there will be more.
fn is_route(kind: &Kind) -> bool {
    kind.group == GATEWAYS && kind.kind.ends_with("Route")
}

/// What somebody has suspended is as he wants it. Its controller does not even
/// look at it, so its generation says nothing. Not so where it was not ready
/// before: then nothing is going to change that.
pub(super) fn suspended(facts: Facts<'_>) -> Option<Status> {
    let speaks = SPEAKING.contains(&facts.0.kind().group.as_str());
    if !speaks || !facts.is_true("/spec/suspend") {
        return None;
    }
    let unready = facts.last_condition("Ready").filter(|ready| !ready.is("True"));
    Some(unready.map_or(Status::Ready, |ready| {
        Status::unknown(format!("it is suspended, and was not ready: {}", ready.says()))
    }))
}

/// Of a registry for charts Flux keeps nothing but the address: no controller
/// looks at it, so it never has a status.
fn helm_repository(facts: Facts<'_>) -> Status {
    match facts.text("/spec/type") {
        Some("oci") => Status::Ready,
        _ => by_conditions(facts),
    }
}

/// A kind without a rule is what its Ready condition says, else what its
/// Available condition says.
fn by_conditions(facts: Facts<'_>) -> Status {
    let speaks = SPEAKING.contains(&facts.0.kind().group.as_str());
    let available = || facts.condition("Available").filter(|_| !speaks);
    match facts.condition("Ready").or_else(available) {
        Some(condition) if condition.is("True") => Status::Ready,
        Some(condition) => Status::in_progress(condition.says()),
        None if speaks => Status::in_progress("its controller has not said anything yet"),
        None => without_ready(facts),
    }
}

/// As kstatus has it, what has no Ready condition is ready, but not before its
/// controller has looked at it. Kubernetes' own kinds need none: settings,
/// rights, classes. Of others that have no status yet, nobody knows whether
/// they ever will.
fn without_ready(facts: Facts<'_>) -> Status {
    if facts.has_old_conditions() {
        return Status::in_progress("its conditions are of an older generation");
    }
    if facts.has_unknown_conditions() {
        return Status::in_progress("its controller has not said anything yet");
    }
    let status = facts.0.at("/status").and_then(Value::as_object);
    match status {
        Some(status) if !status.is_empty() => Status::Ready,
        _ if is_kubernetes_own(&facts.0.kind().group) => Status::Ready,
        _ => Status::unknown("it has no status"),
    }
}
