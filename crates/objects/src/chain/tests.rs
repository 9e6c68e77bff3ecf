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
        objects: objects(&format!("{REPLICA_SETS}\n---\n{PODS}")),
        events: objects(EVENTS),
        ..Surroundings::default()
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

#[track_caller]
fn check(root: &str, others: &str, wanted: &[&str]) {
    let around = Surroundings { objects: objects(others), ..Surroundings::default() };
    assert_eq!(explain(&one(root), &around).lines(), wanted);
}

const SERVICE: &str = "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: a, uid: s}, \
    spec: {selector: {app: web}}}";

#[test]
fn a_service_leads_to_the_pod_behind_its_endpoint() {
    let slice = |endpoints: &str| {
        format!(
            "{{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {{name: web-x, namespace: a, \
             labels: {{kubernetes.io/service-name: web}}}}, endpoints: {endpoints}}}"
        )
    };
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a, uid: p}, status: {phase: Running, \
        conditions: [{type: Ready, status: 'False', reason: ContainersNotReady}]}}";
    let unready = slice("[{conditions: {ready: false}, targetRef: {name: p}}]");
    check(
        SERVICE,
        &format!("{unready}\n---\n{pod}"),
        &[
            "service web: none of its 1 endpoints is ready",
            "endpointslice web-x: 0 of 1 endpoints are ready",
            "pod p: Ready is False: ContainersNotReady",
        ],
    );
    check(
        SERVICE,
        &slice("[]"),
        &["service web: its selector matches no pod", "endpointslice web-x: it has no endpoints"],
    );
    check(SERVICE, &slice("[{conditions: {ready: true}}]"), &[]);
    let api = "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.x}, \
        spec: {service: {name: web, namespace: a}}, status: {conditions: [{type: Available, \
        status: 'False', reason: MissingEndpoints, message: no one}]}}";
    check(
        api,
        &format!("{SERVICE}\n---\n{}", slice("[]")),
        &[
            "apiservice v1.x: MissingEndpoints: no one",
            "service web: its selector matches no pod",
            "endpointslice web-x: it has no endpoints",
        ],
    );
}

#[test]
fn a_pod_without_a_node_leads_to_its_claim_and_the_class() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a, uid: p}, spec: {volumes: \
        [{persistentVolumeClaim: {claimName: data}}]}, status: {phase: Pending}}";
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: a, uid: c}, \
        spec: {storageClassName: fast}, status: {phase: Pending}}";
    let class = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, \
        provisioner: csi.example.com, volumeBindingMode: WaitForFirstConsumer}";
    check(
        pod,
        &format!("{claim}\n---\n{class}"),
        &[
            "pod p: it has no node yet",
            "persistentvolumeclaim data: it has no volume yet",
            "storageclass fast: csi.example.com makes its volumes, once a pod needs one",
        ],
    );
    let around = Surroundings {
        absent: vec![leads::kind("storage.k8s.io/v1", "StorageClass").named(None, "fast")],
        ..Surroundings::default()
    };
    assert_eq!(
        explain(&one(claim), &around).lines(),
        ["persistentvolumeclaim data: it has no volume yet", "storageclass fast: it is not there"]
    );
}

#[test]
fn flux_leads_to_what_it_depends_on_its_source_or_what_it_made() {
    let kustomization = |name: &str, spec: &str, status: &str| {
        format!(
            "{{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {{name: {name}, \
             namespace: flux}}, spec: {{{spec}}}, status: {{{status}}}}}"
        )
    };
    let ready = |status: &str, message: &str| {
        format!("conditions: [{{type: Ready, status: '{status}', message: {message}}}]")
    };
    let source = "sourceRef: {kind: GitRepository, name: fleet}";
    let apps = kustomization(
        "apps",
        &format!("dependsOn: [{{name: infra}}], {source}"),
        &ready("False", "waits"),
    );
    let infra = kustomization("infra", source, &ready("False", "no source"));
    let repository = |status: &str| {
        format!(
            "{{apiVersion: source.toolkit.fluxcd.io/v1beta2, kind: GitRepository, metadata: {{name: fleet, \
             namespace: flux}}, status: {{{status}}}}}"
        )
    };
    check(
        &apps,
        &format!("{infra}\n---\n{}", repository(&ready("False", "auth failed"))),
        &[
            "kustomization apps: waits",
            "kustomization infra: no source",
            "gitrepository fleet: auth failed",
        ],
    );
    let made = "inventory: {entries: [{id: a_web_apps_Deployment, v: v1}, {id: _x_rbac.authorization.k8s.io_ClusterRole, v: v1}]}";
    let unhealthy = kustomization(
        "infra",
        source,
        &format!("{}, {made}", ready("False", "health check failed")),
    );
    let web = DEPLOYMENT.replace("name: web,", "name: web, namespace: a,");
    check(
        &unhealthy,
        &format!("{}\n---\n{web}", repository(&ready("True", "stored"))),
        &["kustomization infra: health check failed", "deployment web: 0 of 1 pods are available"],
    );
    // Two that wait for each other end the chain.
    let circle = kustomization("infra", "dependsOn: [{name: apps}]", &ready("False", "waits too"));
    check(
        &apps,
        &format!("{circle}\n---\n{apps}"),
        &["kustomization apps: waits", "kustomization infra: waits too"],
    );
}

#[test]
fn a_pod_on_a_node_that_is_not_ready_leads_there() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a, uid: p}, spec: {nodeName: n1}, \
        status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}}";
    let node = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: Ready, \
        status: Unknown, message: Kubelet stopped posting}]}}";
    check(pod, node, &["pod p: Ready is False", "node n1: Kubelet stopped posting"]);
}

#[test]
fn logs_come_last_and_can_be_left_out() {
    let pod = one(
        "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a, uid: p}, status: {phase: Running, \
        containerStatuses: [{name: app, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}}]}}",
    );
    let lines = vec!["password hunter22 is wrong".to_owned()];
    let log = LogTail { pod: pod.id().clone(), container: "app".to_owned(), lines };
    let around = Surroundings {
        logs: vec![log],
        blind: vec!["could not list events".to_owned()],
        ..Surroundings::default()
    };
    let chain = explain(&pod, &around);
    assert_eq!(
        chain.lines()[1..],
        [
            "container app: CrashLoopBackOff: last ended with Error, exit code 1",
            "log of app: password hunter22 is wrong",
            "not seen: could not list events",
        ]
    );
    let kept = chain.without_logs().lines();
    assert_eq!(kept.last().unwrap(), "log of app: it is not kept, as it may hold secrets");
    assert!(!kept.concat().contains("hunter22"), "{kept:?}");
}
