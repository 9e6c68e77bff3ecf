//! Chains over objects as the real controllers write them.

use super::*;
use crate::manifest;

fn objects(yaml: &str) -> Vec<Object> {
    manifest::read("test", yaml.as_bytes()).unwrap()
}

fn one(yaml: &str) -> Object {
    objects(yaml).remove(0)
}

const DEPLOYMENT: &str = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, uid: d, generation: 1}, \
    spec: {replicas: 1}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}}";

const REPLICA_SETS: &str = "
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, uid: r1, ownerReferences: [{uid: d}], annotations: {deployment.kubernetes.io/revision: '9'}}, spec: {replicas: 0}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-2, uid: r2, ownerReferences: [{uid: d}], annotations: {deployment.kubernetes.io/revision: '10'}}, spec: {replicas: 1}, status: {replicas: 1}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: other, uid: r3, ownerReferences: [{uid: x}], annotations: {deployment.kubernetes.io/revision: '99'}}}";

const PODS: &str = "
{apiVersion: v1, kind: Pod, metadata: {name: web-2-a, uid: p1, ownerReferences: [{uid: r2}]}, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-2-b, uid: p2, ownerReferences: [{uid: r2}]}, spec: {nodeName: n1}, status: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ImagePullBackOff, message: Back-off pulling image}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: old, uid: p3, ownerReferences: [{uid: r1}]}, status: {phase: Failed}}";

const EVENTS: &str = "
{apiVersion: v1, kind: Event, metadata: {name: e1}, type: Warning, reason: Failed, message: 'no such host', count: 4, lastTimestamp: '2026-01-01T00:00:02Z', involvedObject: {uid: p2}}
---
{apiVersion: v1, kind: Event, metadata: {name: e2}, type: Warning, reason: Failed, message: older, lastTimestamp: '2026-01-01T00:00:01Z', involvedObject: {uid: p2}}
---
{apiVersion: v1, kind: Event, metadata: {name: e3}, type: Normal, reason: Pulling, message: pulling, lastTimestamp: '2026-01-01T00:00:03Z', involvedObject: {uid: p2}}
---
{apiVersion: v1, kind: Event, metadata: {name: e4}, type: Warning, reason: Odd, message: of another, lastTimestamp: '2026-01-01T00:00:09Z', involvedObject: {uid: p9}}";

#[test]
fn a_deployment_leads_to_the_event_behind_its_container() {
    let around = Surroundings {
        replica_sets: objects(REPLICA_SETS),
        pods: objects(PODS),
        events: objects(EVENTS),
    };
    assert_eq!(
        explain(&one(DEPLOYMENT), &around).lines(),
        [
            "deployment web: 0 of 1 pods are available",
            "replicaset web-2: 0 of 1 pods are available",
            "pod web-2-b: pending on n1",
            "container app: ImagePullBackOff: Back-off pulling image",
            "event: Failed: no such host (4 times)",
        ]
    );
}

#[test]
fn without_pods_the_owner_s_event_tells_why() {
    let set = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, uid: s, generation: 1}, \
        status: {observedGeneration: 1, desiredNumberScheduled: 3}}";
    let events = "{apiVersion: v1, kind: Event, metadata: {name: e}, type: Warning, reason: FailedCreate, \
        message: 'pods \"agent-\" is forbidden', involvedObject: {uid: s}}";
    let around = Surroundings { events: objects(events), ..Surroundings::default() };
    assert_eq!(
        explain(&one(set), &around).lines(),
        [
            "daemonset agent: 0 of 3 pods are made",
            "event: FailedCreate: pods \"agent-\" is forbidden",
        ]
    );
}

#[test]
fn an_event_that_repeats_the_pod_is_left_out() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, uid: p}, status: {phase: Pending, \
        conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: 0/3 nodes}]}}";
    let event = "{apiVersion: v1, kind: Event, metadata: {name: e}, type: Warning, \
        reason: FailedScheduling, message: 0/3 nodes, involvedObject: {uid: p}}";
    let around = Surroundings { events: objects(event), ..Surroundings::default() };
    assert_eq!(explain(&one(pod), &around).lines(), ["pod p: Unschedulable: 0/3 nodes"]);
}

#[test]
fn nodes_and_claims_speak_for_themselves() {
    let node = "{apiVersion: v1, kind: Node, metadata: {name: cp-1, uid: u}, status: {conditions: [\
        {type: Ready, status: 'False', reason: KubeletNotReady, message: cni plugin not initialized}, \
        {type: DiskPressure, status: 'True', reason: KubeletHasDiskPressure, message: full}, \
        {type: MemoryPressure, status: 'False'}]}}";
    assert_eq!(
        explain(&one(node), &Surroundings::default()).lines(),
        [
            "node cp-1: KubeletNotReady: cni plugin not initialized",
            "condition: KubeletHasDiskPressure: full",
        ]
    );
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, uid: c}, status: {phase: Pending}}";
    let event = "{apiVersion: v1, kind: Event, metadata: {name: e}, type: Warning, reason: ProvisioningFailed, \
        message: 'storageclass \"x\" not found', series: {count: 7}, involvedObject: {uid: c}}";
    let around = Surroundings { events: objects(event), ..Surroundings::default() };
    assert_eq!(
        explain(&one(claim), &around).lines(),
        [
            "persistentvolumeclaim c: it has no volume yet",
            "event: ProvisioningFailed: storageclass \"x\" not found (7 times)",
        ]
    );
}

#[test]
fn what_is_ready_needs_no_reason() {
    let pod =
        "{apiVersion: v1, kind: Pod, metadata: {name: p, uid: p}, status: {phase: Succeeded}}";
    assert_eq!(explain(&one(pod), &Surroundings::default()), Chain::default());
}
