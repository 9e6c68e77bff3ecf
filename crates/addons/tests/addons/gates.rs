//! Every way of not being ready, and every way of only seeming so.

use addons::codes;
use addons::gate::{Answer, Nodes, Route};
use events::{Code, Verdict};
use serde_json::{Value, json};

use crate::world::{NODES, World, gate, sealing_key};

const AGENTS: &str = "DaemonSet kube-system/cilium";
const PODS: &str = "pods in kube-system with k8s-app=cilium";
const OPERATOR: &str = "Deployment kube-system/cilium-operator";
const EVENTS: &str = "events in kube-system";

/// Says what a gate must say of a world: not yet, by this code and these words.
#[track_caller]
fn waits(name: &str, world: &World, code: Code, words: &str) {
    let verdict = world.judged_by(&*gate(name));
    let Verdict::NotYet { because } = &verdict else { panic!("{verdict:?}") };
    let end = because.in_the_end.as_ref().unwrap();
    let told = format!("{} ← {}", because.what, because.chain.join(" ← "));
    assert!(told.contains(words), "`{told}` lacks `{words}`");
    assert_eq!(end.code, code, "{told}");
    assert!(codes::page(code).is_some());
}

/// Says that waiting is over.
#[track_caller]
fn fails(name: &str, world: &World, code: Code, words: &str) {
    let verdict = world.judged_by(&*gate(name));
    let Verdict::Failed { cause } = &verdict else { panic!("{verdict:?}") };
    assert_eq!(cause.code, code, "{cause}");
    assert!(cause.message.contains(words), "{cause}");
}

fn put(at: &'static str, value: Value) -> impl FnOnce(&mut Value) {
    move |object| *object.pointer_mut(at).unwrap_or_else(|| panic!("no {at}")) = value
}

fn status(phase: &str, state: &Value) -> Value {
    json!({
        "phase": phase,
        "startTime": "2026-11-16T01:09:00Z",
        "conditions": [{ "type": "Ready", "status": "False" }],
        "containerStatuses": [{
            "name": "cilium-agent", "restartCount": 7, "state": state,
            "lastState": { "terminated": { "exitCode": 1, "reason": "Error" } },
        }],
    })
}

#[test]
fn cilium_missing_on_one_node_is_named_with_the_node_and_the_reason() {
    let missing = codes::CILIUM_AGENT_MISSING;
    let world = World::well().change(PODS, |pods| drop(pods.as_array_mut().unwrap().remove(2)));
    waits("cilium", &world, missing, "demo-worker-2: Cilium agent not running: there is no pod");
    let event = json!({
        "involvedObject": { "name": "cilium" }, "type": "Warning",
        "reason": "FailedCreate", "message": "quota", "lastTimestamp": "2026-11-16T01:00:00Z",
    });
    waits(
        "cilium",
        &world.set(EVENTS, Answer::Objects(vec![event])),
        missing,
        "FailedCreate: quota",
    );
    let pending = json!({
        "phase": "Pending",
        "conditions": [{ "type": "PodScheduled", "status": "False", "message": "0/3 nodes are available" }],
    });
    let affinity = json!({ "affinity": { "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
            { "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [NODES[1]] }] },
        ]},
    }}});
    let world = World::well().change(PODS, |pods| {
        pods[1]["status"] = pending;
        pods[1]["spec"] = affinity;
    });
    waits("cilium", &world, missing, "demo-worker-1: Cilium agent not running: Pending ← SW0404");
    waits("cilium", &world, missing, "0/3 nodes are available");
}

#[test]
fn a_pod_in_trouble_tells_its_state_and_its_last_event() {
    let missing = codes::CILIUM_AGENT_MISSING;
    for (state, words) in [
        (json!({ "waiting": { "reason": "CrashLoopBackOff" } }), "CrashLoopBackOff ← SW0403"),
        (
            json!({ "waiting": { "reason": "CrashLoopBackOff" } }),
            "exited with code 1 (Error), 7 restarts",
        ),
        (
            json!({ "waiting": { "reason": "ImagePullBackOff", "message": "403" } }),
            "ImagePullBackOff",
        ),
        (
            json!({ "waiting": { "reason": "CreateContainerConfigError", "message": "no secret" } }),
            "no secret",
        ),
        (json!({ "waiting": { "reason": "ContainerCreating" } }), "not running: Pending"),
        (json!({ "terminated": { "exitCode": 137 } }), "exited with code 137"),
    ] {
        let status = status("Pending", &state);
        waits("cilium", &World::well().change(PODS, put("/1/status", status)), missing, words);
    }
    let mount = json!({
        "involvedObject": { "name": "cilium-1" }, "type": "Warning", "reason": "FailedMount",
        "message": "kube-api-access", "lastTimestamp": "2026-11-16T01:00:00Z",
    });
    let later = json!({
        "involvedObject": { "name": "cilium-1" }, "type": "Normal", "reason": "Pulled",
        "message": "later", "lastTimestamp": "2026-11-16T01:05:00Z",
    });
    let creating = status("Pending", &json!({ "waiting": { "reason": "ContainerCreating" } }));
    let world = World::well()
        .change(PODS, put("/1/status", creating))
        .set(EVENTS, Answer::Objects(vec![mount, later]));
    waits("cilium", &world, missing, "SW0406: a volume of a pod cannot be mounted ← FailedMount");
}

#[test]
fn an_image_that_does_not_come_is_final_after_a_while() {
    let mut status = status("Pending", &json!({ "waiting": { "reason": "ImagePullBackOff" } }));
    let world = World::well().change(PODS, put("/1/status", status.clone()));
    waits("cilium", &world, codes::CILIUM_AGENT_MISSING, "ImagePullBackOff");
    status["startTime"] = json!("2026-11-16T01:00:00Z");
    let world = World::well().change(PODS, put("/1/status", status));
    fails("cilium", &world, codes::CILIUM_AGENT_MISSING, "demo-worker-1");
    let wrong = self::status("Pending", &json!({ "waiting": { "reason": "InvalidImageName" } }));
    let world = World::well().change(PODS, put("/0/status", wrong));
    fails("cilium", &world, codes::CILIUM_AGENT_MISSING, "demo-cp-1");
}

#[test]
fn cilium_is_not_fooled() {
    let behind = codes::WORKLOAD_BEHIND;
    let missing = codes::CILIUM_AGENT_MISSING;
    let stale = World::well().change(AGENTS, put("/metadata/generation", json!(3)));
    waits("cilium", &stale, behind, "has not seen its newest form");
    for (field, words) in [
        ("/status/desiredNumberScheduled", "2 of 3 pods wanted"),
        ("/status/updatedNumberScheduled", "2 of 3 pods of its newest form"),
        ("/status/numberReady", "2 of 3 pods ready"),
        ("/status/numberAvailable", "2 of 3 pods available"),
    ] {
        waits("cilium", &World::well().change(AGENTS, put(field, json!(2))), behind, words);
    }
    let stranger = |pods: &mut Value| pods[1]["metadata"]["ownerReferences"][0]["uid"] = json!("x");
    waits("cilium", &World::well().change(PODS, stranger), missing, "demo-worker-1");
    let leaving = |pods: &mut Value| {
        pods[1]["metadata"]["deletionTimestamp"] = json!("2026-11-16T01:09:59Z");
    };
    waits("cilium", &World::well().change(PODS, leaving), missing, "being deleted");
    let twice = |pods: &mut Value| pods[1]["spec"]["nodeName"] = json!(NODES[0]);
    waits("cilium", &World::well().change(PODS, twice), missing, "demo-worker-1");
    let taint = |nodes: &mut Value| {
        nodes[0]["spec"]["taints"] = json!([{ "key": "node.cilium.io/agent-not-ready" }]);
    };
    waits("cilium", &World::well().change("nodes", taint), codes::CILIUM_TAINT_LEFT, "demo-cp-1");
    let network = put("/2/status/conditions/0/status", json!("True"));
    let world = World::well().change("nodes", network);
    waits("cilium", &world, codes::NETWORK_UNAVAILABLE, "demo-worker-2");
    let world = World::well().change("nodes", |nodes| drop(nodes.as_array_mut().unwrap().pop()));
    waits("cilium", &world, codes::NODE_ABSENT, "demo-worker-2: the node has not registered");
}

#[test]
fn a_cluster_that_nobody_planned_needs_nodes_too() {
    let anywhere =
        addons::cilium::CiliumGate { namespace: "kube-system".into(), nodes: Nodes::Registered };
    assert!(matches!(World::well().judged_by(&anywhere), Verdict::Ready { .. }));
    let empty = World::well().set("nodes", Answer::Objects(Vec::new()));
    let Verdict::NotYet { because } = empty.judged_by(&anywhere) else { panic!() };
    assert!(because.what.contains("no node has registered"), "{}", because.what);
}

#[test]
fn a_deployment_in_part_is_not_available() {
    for (field, value, words) in [
        ("/status/readyReplicas", 1, "1 of 2 pods ready"),
        ("/status/availableReplicas", 1, "1 of 2 pods available"),
        ("/status/updatedReplicas", 1, "1 of 2 pods of its newest form"),
        ("/status/replicas", 3, "1 pods of an older form still run"),
        ("/status/observedGeneration", 2, "has not seen its newest form"),
        ("/spec/replicas", 0, "scaled to zero"),
    ] {
        let world = World::well().change(OPERATOR, put(field, json!(value)));
        waits("cilium", &world, codes::WORKLOAD_BEHIND, words);
    }
    let crashing = status("Running", &json!({ "waiting": { "reason": "CrashLoopBackOff" } }));
    let world = World::well()
        .change(OPERATOR, put("/status/availableReplicas", json!(1)))
        .change("pods in kube-system with io.cilium/app=operator", put("/1/status", crashing));
    waits("cilium", &world, codes::POD_CRASHES, "pod cilium-operator-1: CrashLoopBackOff");
}

#[test]
fn the_cloud_controller_must_know_every_node() {
    let nodes = |change: fn(&mut Value)| World::well().change("nodes", change);
    let taint = nodes(|nodes| {
        let key = "node.cloudprovider.kubernetes.io/uninitialized";
        nodes[1]["spec"]["taints"] = json!([{ "key": key, "effect": "NoSchedule" }]);
    });
    waits("ccm", &taint, codes::NODE_UNINITIALIZED, "demo-worker-1");
    let none = nodes(|nodes| drop(nodes[1]["spec"].as_object_mut().unwrap().remove("providerID")));
    waits("ccm", &none, codes::NODE_UNINITIALIZED, "no providerID");
    let foreign = nodes(|nodes| nodes[1]["spec"]["providerID"] = json!("hcloud://102"));
    fails(
        "ccm",
        &foreign,
        codes::PROVIDER_ID_WRONG,
        "demo-worker-1: its providerID is hcloud://102",
    );
    let prefix = nodes(|nodes| nodes[1]["spec"]["providerID"] = json!("hcloud://1011"));
    fails("ccm", &prefix, codes::PROVIDER_ID_WRONG, "hcloud://1011");
    let public =
        nodes(|nodes| nodes[2]["status"]["addresses"][1]["address"] = json!("203.0.113.9"));
    waits("ccm", &public, codes::ADDRESS_WRONG, "203.0.113.9, its server's 10.0.64.13");
}

#[test]
fn every_node_needs_a_route_to_its_own_address() {
    let route = |destination: &str, gateway: &str| Route {
        destination: destination.parse().unwrap(),
        gateway: gateway.parse().unwrap(),
    };
    let good = [route("10.0.128.0/24", "10.0.64.11"), route("10.0.129.0/24", "10.0.64.12")];
    let routes =
        |routes: Vec<Route>| World::well().set("the network's routes", Answer::Routes(routes));
    let missing = codes::ROUTE_MISSING;
    waits("ccm", &routes(good.to_vec()), missing, "demo-worker-2: the network has no route");
    let wrong = [&good[..], &[route("10.0.130.0/24", "10.0.64.11")]].concat();
    waits("ccm", &routes(wrong), missing, "leads to 10.0.64.11, not to 10.0.64.13");
    let wide = [&good[..], &[route("10.0.130.0/23", "10.0.64.13")]].concat();
    waits("ccm", &routes(wide), missing, "demo-worker-2");
    let without = World::well().change("nodes", |nodes| {
        nodes[0]["spec"].as_object_mut().unwrap().remove("podCIDR");
    });
    waits("ccm", &without, missing, "no range of pod addresses");
}

#[test]
fn storage_must_be_there_on_every_node() {
    let pods = "pods in kube-system with \
                app.kubernetes.io/name=hcloud-csi,app.kubernetes.io/component=node";
    let world = World::well().change(pods, |pods| drop(pods.as_array_mut().unwrap().remove(0)));
    waits("csi", &world, codes::CSI_PLUGIN_MISSING, "demo-cp-1: storage plugin not running");
    for change in [
        (|list: &mut Value| list[1]["spec"]["drivers"] = json!([])) as fn(&mut Value),
        |list| list[1]["spec"]["drivers"] = json!(null),
        |list| list[1]["spec"]["drivers"][0]["name"] = json!("other.csi"),
        |list| list[1]["metadata"]["name"] = json!("stranger"),
    ] {
        let world = World::well().change("csinodes", change);
        waits("csi", &world, codes::CSI_DRIVER_UNREGISTERED, "demo-worker-1: its CSINode");
    }
    let world = World::well().set("CSIDriver csi.hetzner.cloud", Answer::Absent);
    waits("csi", &world, codes::STORAGE_OBJECT_MISSING, "CSIDriver");
    let controller = "Deployment kube-system/hcloud-csi-controller";
    let world = World::well().change(controller, put("/status/availableReplicas", json!(0)));
    waits("csi", &world, codes::WORKLOAD_BEHIND, "0 of 2 pods available");
}

#[test]
fn sealed_secrets_must_seal_for_our_key() {
    let look = "/v1/cert.pem of service kube-system/sealed-secrets-controller";
    let served = |text: &str| World::well().set(look, Answer::Text(text.to_owned()));
    let foreign = served(sealing_key(2).certificate().pem());
    fails("seal", &foreign, codes::SEALING_KEY_FOREIGN, "seals for key");
    let unreadable = codes::SEALING_CERTIFICATE_UNREADABLE;
    for text in
        ["", "<html>502</html>", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
    {
        waits("seal", &served(text), unreadable, "serves no certificate");
    }
    // An old pod that still answers decides nothing.
    let controller = "Deployment kube-system/sealed-secrets-controller";
    let rolling = foreign.change(controller, put("/status/updatedReplicas", json!(1)));
    waits("seal", &rolling, codes::WORKLOAD_BEHIND, "1 of 2");
}

#[test]
fn flux_must_have_applied_what_the_branch_says() {
    let behind = codes::FLUX_BEHIND;
    let old = "main@sha1:0000000000";
    let (repositories, kustomizations) = ("gitrepositories", "kustomizations");
    let at = |look, at, value: Value| World::well().change(look, put(at, value));
    for (world, words) in [
        (at(repositories, "/0/status/artifact/revision", json!(old)), "GitRepository"),
        (
            at(kustomizations, "/0/status/lastAppliedRevision", json!(old)),
            "flux-system/flux-system is at main@sha1:0000000000",
        ),
        (at(kustomizations, "/1/status/lastAppliedRevision", json!(old)), "flux-system/apps"),
        (at(kustomizations, "/1/status/observedGeneration", json!(3)), "newest form"),
        (at(kustomizations, "/1/status/conditions/0/observedGeneration", json!(3)), "newest form"),
        (at(repositories, "/0/metadata/generation", json!(5)), "newest form"),
        (
            at("helmreleases", "/0/status/history/0/status", json!("failed")),
            "newest release is failed",
        ),
        (at("helmreleases", "/0/status/history", json!([])), "newest release is unknown"),
        (at(kustomizations, "/1/spec/sourceRef/name", json!("gone")), "not at an unknown revision"),
    ] {
        waits("flux", &world, behind, words);
    }
    let everything_old = at(repositories, "/0/status/artifact/revision", json!(old)).change(
        kustomizations,
        |list| {
            for i in 0..2 {
                list[i]["status"]["lastAppliedRevision"] = json!(old);
            }
        },
    );
    waits("flux", &everything_old, behind, "not at main@sha1:4be1c0ffee (and 2 more)");
}

#[test]
fn flux_says_why_it_is_not_ready() {
    let condition = |kind: &str, status: &str| json!([{ "type": kind, "status": status, "reason": "BuildFailed", "message": "no matches for kind" }]);
    let change = |i: usize, conditions: Value| {
        World::well()
            .change("kustomizations", move |list| list[i]["status"]["conditions"] = conditions)
    };
    let failed = change(1, condition("Ready", "False"));
    waits("flux", &failed, codes::FLUX_NOT_READY, "BuildFailed: no matches for kind");
    waits("flux", &change(1, condition("Ready", "Unknown")), codes::FLUX_NOT_READY, "not ready");
    waits("flux", &change(1, json!([])), codes::FLUX_NOT_READY, "not ready");
    let stalled = change(1, condition("Stalled", "True"));
    fails("flux", &stalled, codes::FLUX_STALLED, "apps is stalled");
    let mending = stalled
        .change("kustomizations", put("/0/status/lastAppliedRevision", json!("main@sha1:0")));
    let verdict = mending.judged_by(&*gate("flux"));
    assert!(matches!(verdict, Verdict::NotYet { .. }), "a newer revision may mend it: {verdict}");
    let paused =
        World::well().change("kustomizations", |list| list[1]["spec"]["suspend"] = json!(true));
    waits("flux", &paused, codes::FLUX_SUSPENDED, "apps is suspended");
    let rootless =
        World::well().change("kustomizations", |list| drop(list.as_array_mut().unwrap().remove(0)));
    waits("flux", &rootless, codes::FLUX_OBJECT_MISSING, "Kustomization flux-system/flux-system");
    let source = "Deployment flux-system/source-controller";
    let down = World::well().change(source, put("/status/availableReplicas", json!(0)));
    waits("flux", &down, codes::WORKLOAD_BEHIND, "source-controller");
}

#[test]
fn the_metrics_api_must_be_available_and_ours() {
    let api = "APIService v1beta1.metrics.k8s.io";
    let unavailable = codes::METRICS_UNAVAILABLE;
    for (world, words) in [
        (
            World::well().change(api, put(
                "/status/conditions/0",
                json!({ "type": "Available", "status": "False", "message": "MissingEndpoints" }),
            )),
            "MissingEndpoints",
        ),
        (World::well().change(api, put("/status/conditions", json!([]))), "nobody has looked"),
        (World::well().change(api, put("/spec/service/name", json!("x"))), "another service"),
        // An API without a service is served by the API server itself: always available.
        (World::well().change(api, put("/spec/service", json!(null))), "another service"),
    ] {
        waits("metrics", &world, unavailable, words);
    }
}
