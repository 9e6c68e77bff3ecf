//! One table: what an object says, and what we make of it.

mod ailments;
mod network;
mod strangers;

use super::*;
use crate::manifest;

/// Reads `apiVersion.Kind metadata`, and the rest of the object from the next line on.
fn object(text: &str) -> Object {
    let (kind, rest) = text.trim_start().split_once('\n').unwrap_or((text, ""));
    let (kind, metadata) = kind.split_once(' ').unwrap_or((kind, ""));
    let (api_version, kind) = kind.rsplit_once('.').unwrap();
    let yaml = format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x, {metadata}}}\n{rest}\n"
    );
    manifest::read(text, yaml.as_bytes()).unwrap().remove(0)
}

fn status(text: &str) -> String {
    Status::of(&object(text)).to_string()
}

#[track_caller]
fn check(table: &[(&str, &str)]) {
    for (object, wanted) in table {
        assert_eq!(&status(object), wanted, "\n{object}");
    }
}

const DEPLOYED: &str = "apps/v1.Deployment generation: 2
spec: {replicas: 2}
status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2,
  conditions: [{type: Available, status: 'True'}, {type: Progressing, status: 'True', reason: NewReplicaSetAvailable}]}";

#[test]
fn what_holds_for_every_kind() {
    check(&[
        (
            "v1.ConfigMap deletionTimestamp: '2026-01-01T00:00:00Z'",
            "terminating: it is being deleted",
        ),
        (
            "v1.ConfigMap deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [a/b, c]",
            "terminating: it is being deleted, and kept by a/b, c",
        ),
        (
            "example.com/v1.Thing generation: 3\nstatus: {observedGeneration: 2, conditions: [{type: Ready, status: 'True'}]}",
            "in progress: its controller has seen generation 2 of 3",
        ),
        (
            "example.com/v1.Thing generation: 3\nstatus: {observedGeneration: '2'}",
            "in progress: its controller has seen generation 2 of 3",
        ),
        (
            "example.com/v1.Thing generation: 3\nstatus: {observedGeneration: '3', conditions: [{type: Ready, status: 'True'}]}",
            "ready",
        ),
        (
            "example.com/v1.Thing\nstatus: {conditions: [{type: Stalled, status: 'True', reason: BadSpec, message: no url}]}",
            "failed: BadSpec: no url",
        ),
        (
            "example.com/v1.Thing\nstatus: {conditions: [{type: Reconciling, status: 'True', reason: Busy}, {type: Ready, status: 'True'}]}",
            "in progress: Reconciling is True: Busy",
        ),
    ]);
}

#[test]
fn kinds_without_a_rule_are_what_their_conditions_say() {
    check(&[
        ("v1.ConfigMap", "ready"),
        ("rbac.authorization.k8s.io/v1.ClusterRole", "ready"),
        ("batch/v1.CronJob\nspec: {suspend: true}", "ready"),
        ("example.com/v1.Thing", "unknown: it has no status"),
        ("example.com/v1.Thing\nstatus: {}", "unknown: it has no status"),
        ("example.com/v1.Thing\nstatus: {phase: Fine}", "ready"),
        ("example.com/v1.Thing\nstatus: {conditions: [{type: Odd, status: 'True'}]}", "ready"),
        (
            "example.com/v1.Thing\nstatus: {conditions: [{type: Available, status: 'False', message: not yet}]}",
            "in progress: not yet",
        ),
        (
            "example.com/v1.Thing\nstatus: {conditions: [{type: Ready, status: 'Unknown', reason: Waiting}]}",
            "in progress: Ready is Unknown: Waiting",
        ),
        (
            "example.com/v1.Thing generation: 2\nstatus: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}",
            "in progress: its conditions are of an older generation",
        ),
        (
            "kustomize.toolkit.fluxcd.io/v1.Kustomization",
            "in progress: its controller has not said anything yet",
        ),
        (
            "kustomize.toolkit.fluxcd.io/v1.Kustomization\nstatus: {conditions: [{type: Ready, status: 'False', reason: DependencyNotReady, message: \"dependency 'flux-system/infra' is not ready\"}]}",
            "in progress: DependencyNotReady: dependency 'flux-system/infra' is not ready",
        ),
        (
            "helm.toolkit.fluxcd.io/v2.HelmRelease generation: 1\nstatus: {observedGeneration: 1, conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}",
            "ready",
        ),
    ]);
}

#[test]
fn deployments() {
    let with = |change: (&str, &str)| DEPLOYED.replace(change.0, change.1);
    let cases = [
        (DEPLOYED.to_owned(), "ready"),
        ("apps/v1.Deployment generation: 1".to_owned(), "in progress: its controller has not seen it yet"),
        (with(("replicas: 2, updatedReplicas", "replicas: 1, updatedReplicas")), "in progress: 1 of 2 pods are made"),
        (with(("updatedReplicas: 2", "updatedReplicas: 1")), "in progress: 1 of 2 pods are up to date"),
        (with(("availableReplicas: 2, ", "")), "in progress: 0 of 2 pods are available"),
        (with(("readyReplicas: 2", "readyReplicas: 1")), "in progress: 1 of 2 pods are ready"),
        (with(("replicas: 2, updatedReplicas", "replicas: 3, updatedReplicas")), "in progress: 1 old pods are still there"),
        (with(("{type: Available, status: 'True'}", "{type: Available, status: 'False', reason: MinimumReplicasUnavailable, message: wait}")), "in progress: MinimumReplicasUnavailable: wait"),
        (with(("reason: NewReplicaSetAvailable", "reason: ProgressDeadlineExceeded, message: gave up")), "failed: ProgressDeadlineExceeded: gave up"),
        (with(("spec: {replicas: 2}", "spec: {replicas: 2, paused: true}")), "ready"),
        (with(("spec: {replicas: 2}", "spec: {replicas: 2, paused: true}")).replace("updatedReplicas: 2", "updatedReplicas: 1"), "in progress: its rollout is paused with 1 of 2"),
        ("apps/v1.Deployment generation: 1\nspec: {replicas: 0}\nstatus: {observedGeneration: 1}".to_owned(), "ready"),
        ("apps/v1.Deployment generation: 1\nstatus: {observedGeneration: 1, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: exceeded quota}]}".to_owned(), "in progress: FailedCreate: exceeded quota"),
    ];
    for (object, wanted) in cases {
        assert_eq!(status(&object), wanted, "\n{object}");
    }
}

#[test]
fn other_workloads() {
    check(&[
        (
            "apps/v1.ReplicaSet\nspec: {replicas: 1}\nstatus: {replicas: 1, availableReplicas: 1, readyReplicas: 1}",
            "ready",
        ),
        (
            "apps/v1.ReplicaSet\nstatus: {conditions: [{type: ReplicaFailure, status: 'True', message: no quota}]}",
            "in progress: no quota",
        ),
        (
            "apps/v1.ReplicaSet\nspec: {replicas: 0}\nstatus: {replicas: 1}",
            "in progress: 1 old pods are still there",
        ),
        ("apps/v1.DaemonSet generation: 1", "in progress: its controller has not seen it yet"),
        (
            "apps/v1.DaemonSet generation: 1\nstatus: {observedGeneration: 1}",
            "in progress: it is not known yet how many nodes need a pod",
        ),
        (
            "apps/v1.DaemonSet generation: 1\nstatus: {observedGeneration: 1, desiredNumberScheduled: 0}",
            "ready",
        ),
        (
            "apps/v1.DaemonSet generation: 1\nstatus: {observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3, numberReady: 3}",
            "ready",
        ),
        (
            "apps/v1.DaemonSet generation: 1\nstatus: {observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 2, numberReady: 3}",
            "in progress: 2 of 3 pods are available",
        ),
        (
            "apps/v1.DaemonSet generation: 1\nstatus: {observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 1, numberAvailable: 3, numberReady: 3}",
            "in progress: 1 of 3 pods are up to date",
        ),
        (
            "apps/v1.DaemonSet generation: 1\nspec: {updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 1, numberAvailable: 3, numberReady: 3}",
            "ready",
        ),
        (
            "apps/v1.StatefulSet generation: 1\nspec: {replicas: 3}\nstatus: {observedGeneration: 1, replicas: 3, readyReplicas: 2}",
            "in progress: 2 of 3 pods are ready",
        ),
        (
            "apps/v1.StatefulSet generation: 1\nspec: {replicas: 0}\nstatus: {observedGeneration: 1}",
            "ready",
        ),
        (
            "apps/v1.StatefulSet generation: 1\nspec: {replicas: 3}\nstatus: {observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}",
            "in progress: 1 of 3 pods are up to date",
        ),
        (
            "apps/v1.StatefulSet generation: 1\nspec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}}\nstatus: {observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}",
            "ready",
        ),
        (
            "apps/v1.StatefulSet generation: 1\nspec: {replicas: 3, updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}",
            "ready",
        ),
        (
            "apps/v1.StatefulSet generation: 1\nspec: {replicas: 3}\nstatus: {observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 3, currentRevision: a, updateRevision: b}",
            "in progress: its revision is not settled yet",
        ),
        ("batch/v1.Job", "in progress: it has not started"),
        (
            "batch/v1.Job\nspec: {completions: 2}\nstatus: {startTime: now, active: 1, succeeded: 1, failed: 3}",
            "in progress: 1 of 2 pods have succeeded, 3 have failed",
        ),
        ("batch/v1.Job\nstatus: {conditions: [{type: Complete, status: 'True'}]}", "ready"),
        (
            "batch/v1.Job\nstatus: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: too often}]}",
            "failed: BackoffLimitExceeded: too often",
        ),
    ]);
}

#[test]
fn pods() {
    check(&[
        ("v1.Pod", "in progress: nobody has seen it yet"),
        ("v1.Pod\nstatus: {phase: Pending}", "in progress: it has no node yet"),
        (
            "v1.Pod\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: 0/3 nodes}]}",
            "in progress: Unschedulable: 0/3 nodes",
        ),
        (
            "v1.Pod\nspec: {nodeName: n}\nstatus: {phase: Pending, conditions: [{type: ContainersReady, status: 'False', reason: ContainersNotReady, message: 'containers with unready status: [app]'}], containerStatuses: [{name: app, state: {waiting: {reason: ContainerCreating}}}]}",
            "in progress: ContainersNotReady: containers with unready status: [app]",
        ),
        (
            "v1.Pod\nspec: {nodeName: n}\nstatus: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ImagePullBackOff, message: Back-off pulling image}}}]}",
            "failed: container app: ImagePullBackOff: Back-off pulling image",
        ),
        (
            "v1.Pod\nspec: {nodeName: n}\nstatus: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: CreateContainerConfigError, message: 'secret \"x\" not found'}}}]}",
            "failed: container app: CreateContainerConfigError: secret \"x\" not found",
        ),
        (
            "v1.Pod\nspec: {nodeName: n}\nstatus: {phase: Running, containerStatuses: [{name: app, state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}, lastState: {terminated: {exitCode: 3, reason: Error}}}]}",
            "failed: container app: CrashLoopBackOff: back-off 10s: last ended with Error, exit code 3",
        ),
        (
            "v1.Pod\nspec: {nodeName: n}\nstatus: {phase: Running, containerStatuses: [{name: app, state: {terminated: {exitCode: 137, reason: OOMKilled}}}]}",
            "in progress: container app: OOMKilled: exit code 137",
        ),
        (
            "v1.Pod\nspec: {nodeName: n}\nstatus: {phase: Running, initContainerStatuses: [{name: init, state: {terminated: {exitCode: 0}}}], conditions: [{type: Ready, status: 'False', reason: ContainersNotReady}]}",
            "in progress: Ready is False: ContainersNotReady",
        ),
        ("v1.Pod\nstatus: {phase: Running, conditions: [{type: Ready, status: 'True'}]}", "ready"),
        ("v1.Pod\nstatus: {phase: Succeeded}", "ready"),
        (
            "v1.Pod\nstatus: {phase: Failed, reason: Evicted, message: low on memory}",
            "failed: low on memory",
        ),
        (
            "v1.Pod\nstatus: {phase: Failed, containerStatuses: [{name: app, state: {terminated: {exitCode: 1, reason: Error}}}]}",
            "failed: container app: Error: exit code 1",
        ),
        ("v1.Pod\nstatus: {phase: Unknown}", "unknown: its phase is Unknown"),
    ]);
}

#[test]
fn what_a_cluster_is_made_of() {
    check(&[
        ("v1.Node", "in progress: its kubelet has not said anything yet"),
        (
            "v1.Node\nstatus: {conditions: [{type: Ready, status: 'Unknown', reason: NodeStatusUnknown, message: Kubelet stopped posting node status.}]}",
            "in progress: NodeStatusUnknown: Kubelet stopped posting node status.",
        ),
        ("v1.Node\nstatus: {conditions: [{type: Ready, status: 'True'}]}", "ready"),
        ("v1.Service\nspec: {type: ClusterIP}", "ready"),
        (
            "v1.Service\nspec: {type: LoadBalancer, clusterIP: 10.0.0.1}\nstatus: {loadBalancer: {}}",
            "in progress: its load balancer has no address yet",
        ),
        (
            "v1.Service\nspec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}",
            "ready",
        ),
        ("v1.PersistentVolumeClaim\nstatus: {phase: Pending}", "in progress: it has no volume yet"),
        ("v1.PersistentVolumeClaim\nstatus: {phase: Bound}", "ready"),
        ("v1.PersistentVolumeClaim\nstatus: {phase: Lost}", "failed: its volume is gone"),
        ("v1.Namespace\nstatus: {phase: Active}", "ready"),
        ("v1.Namespace\nstatus: {phase: Terminating}", "terminating: it is being deleted"),
        ("v1.Namespace", "in progress: it is not active yet"),
        (
            "apiextensions.k8s.io/v1.CustomResourceDefinition",
            "in progress: the API does not serve it yet",
        ),
        (
            "apiextensions.k8s.io/v1.CustomResourceDefinition\nstatus: {conditions: [{type: NamesAccepted, status: 'False', reason: PluralConflict, message: taken}]}",
            "failed: PluralConflict: taken",
        ),
        (
            "apiextensions.k8s.io/v1.CustomResourceDefinition\nstatus: {conditions: [{type: Established, status: 'False', reason: Installing}]}",
            "in progress: the API does not serve it yet",
        ),
        (
            "apiextensions.k8s.io/v1.CustomResourceDefinition\nstatus: {conditions: [{type: NamesAccepted, status: 'True'}, {type: Established, status: 'True'}]}",
            "ready",
        ),
        (
            "apiregistration.k8s.io/v1.APIService",
            "in progress: the API has not asked its server yet",
        ),
        (
            "apiregistration.k8s.io/v1.APIService\nstatus: {conditions: [{type: Available, status: 'False', reason: FailedDiscoveryCheck, message: no answer}]}",
            "in progress: FailedDiscoveryCheck: no answer",
        ),
        (
            "apiregistration.k8s.io/v1.APIService\nstatus: {conditions: [{type: Available, status: 'True'}]}",
            "ready",
        ),
    ]);
}
