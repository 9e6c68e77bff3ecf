//! Kinds between the cluster and its users.

use super::{check, object};
use crate::{Claims, Status};

#[test]
fn addresses() {
    check(&[
        ("networking.k8s.io/v1.Ingress", "in progress: no controller has given it an address yet"),
        (
            "networking.k8s.io/v1.Ingress\nstatus: {loadBalancer: {ingress: [{hostname: a.example}]}}",
            "ready",
        ),
        (
            "networking.k8s.io/v1.Ingress\nstatus: {loadBalancer: {ingress: [{}]}}",
            "in progress: no controller has given it an address yet",
        ),
        ("networking.k8s.io/v1.IngressClass", "ready"),
        ("gateway.networking.k8s.io/v1.Gateway", "in progress: no controller has taken it up yet"),
        (
            "gateway.networking.k8s.io/v1.Gateway\nstatus: {conditions: [{type: Programmed, status: 'True'}]}",
            "ready",
        ),
        (
            "gateway.networking.k8s.io/v1.HTTPRoute\nspec: {parentRefs: [{name: g}]}",
            "in progress: not every gateway has taken it up yet",
        ),
        (
            "gateway.networking.k8s.io/v1.HTTPRoute\nspec: {parentRefs: [{name: g}]}\nstatus: {parents: [{parentRef: {name: g}, conditions: [{type: Accepted, status: 'True'}, {type: ResolvedRefs, status: 'False', message: no such service}]}]}",
            "in progress: g says: no such service",
        ),
        (
            "gateway.networking.k8s.io/v1.HTTPRoute\nspec: {parentRefs: [{name: g}]}\nstatus: {parents: [{parentRef: {name: g}, conditions: [{type: Accepted, status: 'True'}]}]}",
            "ready",
        ),
    ]);
}

#[test]
fn scalers_and_budgets() {
    check(&[
        (
            "autoscaling/v2.HorizontalPodAutoscaler",
            "in progress: its controller has not said anything yet",
        ),
        (
            "autoscaling/v2.HorizontalPodAutoscaler\nstatus: {conditions: [{type: AbleToScale, status: 'True'}, {type: ScalingActive, status: 'False', reason: FailedGetResourceMetric, message: no metrics}]}",
            "in progress: FailedGetResourceMetric: no metrics",
        ),
        (
            "autoscaling/v2.HorizontalPodAutoscaler\nstatus: {conditions: [{type: AbleToScale, status: 'False', reason: FailedGetScale, message: no target}, {type: ScalingActive, status: 'True'}]}",
            "in progress: FailedGetScale: no target",
        ),
        (
            "autoscaling/v2.HorizontalPodAutoscaler\nstatus: {conditions: [{type: AbleToScale, status: 'True'}, {type: ScalingActive, status: 'False', reason: ScalingDisabled}]}",
            "ready",
        ),
        (
            "autoscaling/v2.HorizontalPodAutoscaler\nstatus: {conditions: [{type: AbleToScale, status: 'True'}, {type: ScalingActive, status: 'True'}]}",
            "ready",
        ),
        (
            "policy/v1.PodDisruptionBudget generation: 1",
            "in progress: its controller has not seen it yet",
        ),
        ("policy/v1.PodDisruptionBudget generation: 1\nstatus: {observedGeneration: 1}", "ready"),
        (
            "policy/v1.PodDisruptionBudget generation: 2\nstatus: {observedGeneration: 1}",
            "in progress: its controller has seen generation 1 of 2",
        ),
    ]);
}

#[test]
fn volumes_and_claims() {
    check(&[
        ("v1.PersistentVolume", "in progress: nobody has seen it yet"),
        ("v1.PersistentVolume\nstatus: {phase: Available}", "ready"),
        (
            "v1.PersistentVolume\nstatus: {phase: Released}",
            "unknown: its claim is gone, and nobody has reclaimed it",
        ),
        ("v1.PersistentVolume\nstatus: {phase: Failed, message: no plugin}", "failed: no plugin"),
        (
            "v1.ReplicationController\nspec: {replicas: 1}\nstatus: {replicas: 1}",
            "in progress: 0 of 1 pods are available",
        ),
        (
            "apps/v1.StatefulSet generation: 1\nspec: {replicas: 2, minReadySeconds: 9}\nstatus: {observedGeneration: 1, replicas: 2, readyReplicas: 2, availableReplicas: 1, currentRevision: a, updateRevision: a}",
            "in progress: 1 of 2 pods are available",
        ),
        (
            "apps/v1.StatefulSet generation: 1\nspec: {replicas: 0}\nstatus: {observedGeneration: 1, replicas: 0}",
            "ready",
        ),
    ]);
}

#[test]
fn a_claim_may_wait_for_its_first_pod() {
    let status = |text: &str| Status::with(&object(text), Claims::BoundWhenUsed).to_string();
    assert_eq!(status("v1.PersistentVolumeClaim\nstatus: {phase: Pending}"), "ready");
    assert_eq!(
        status(
            "v1.PersistentVolumeClaim annotations: {volume.kubernetes.io/selected-node: n}\n\
             status: {phase: Pending}"
        ),
        "in progress: it has no volume yet"
    );
    assert_eq!(
        status("v1.PersistentVolumeClaim\nstatus: {phase: Lost}"),
        "failed: its volume is gone"
    );
}
