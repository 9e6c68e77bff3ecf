//! A gate on a real API server, whose controllers write the statuses.

use addons::Gate;
use addons::cilium::{self, CiliumGate};
use addons::gate::{Answer, Look, Nodes, Seen};
use events::Verdict;
use rig::{Kubectl, need};
use serde_json::{Value, json};

use crate::world::now;

const NODE: &str = "demo-cp-1";

/// Looks through kubectl at the very paths that the looks name.
fn look(kubectl: &Kubectl, gate: &dyn Gate) -> Seen {
    gate.needs().into_iter().fold(Seen::at(now()), |seen, need| {
        let answer = ask(kubectl, &need.look);
        seen.saw(need.look, Ok(answer))
    })
}

fn ask(kubectl: &Kubectl, look: &Look) -> Answer {
    let path = look.path().unwrap();
    let path = match look {
        Look::List { labels: Some(labels), .. } => {
            let labels = labels.replace('/', "%2F").replace('=', "%3D").replace(',', "%2C");
            format!("{path}?labelSelector={labels}")
        }
        _ => path,
    };
    let body = match kubectl.run(&["get", "--raw", &path]) {
        Ok(text) => serde_json::from_str::<Value>(&text).unwrap(),
        Err(error) if error.to_string().contains("NotFound") => return Answer::Absent,
        Err(error) => panic!("{error}"),
    };
    match body.get("items").and_then(Value::as_array) {
        Some(items) => Answer::Objects(items.clone()),
        None => Answer::Object(body),
    }
}

fn kube(kubectl: &Kubectl, line: &str) -> String {
    kubectl.run(&line.split(' ').collect::<Vec<_>>()).unwrap()
}

fn cilium() -> addons::Rendered {
    cilium::render(&cilium::Values {
        version: "1.20.0".into(),
        namespace: "kube-system".into(),
        routing: cilium::Routing::Tunnel,
        encryption: cilium::Encryption::None,
        api: "127.0.0.1:7445".parse().unwrap(),
        control_planes: 1,
    })
}

/// Plays the kubelet: the pods run and are ready.
fn run_pods(kubectl: &Kubectl) {
    let ready =
        json!({ "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" });
    let patch = json!({ "status": { "phase": "Running", "conditions": [ready] } }).to_string();
    for pod in kube(kubectl, "-n kube-system get pods -o name").lines() {
        let args =
            ["-n", "kube-system", "patch", pod, "--subresource=status", "--type=strategic", "-p"];
        kubectl.run(&[&args[..], &[&patch]].concat()).unwrap();
    }
}

#[test]
fn real_controllers_and_the_gate_agree_about_cilium() {
    let Some(plane) = need::control_plane() else {
        return;
    };
    let kubectl = plane.kubectl();
    let gate =
        CiliumGate { namespace: "kube-system".into(), nodes: Nodes::These(vec![NODE.into()]) };
    let judge = || gate.judge(&look(kubectl, &gate));
    let told = |verdict: &Verdict| format!("{verdict}");
    assert!(told(&judge()).starts_with("no node has registered"), "{:?}", judge());

    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": NODE, "labels": {
            "node-role.kubernetes.io/control-plane": "", "kubernetes.io/os": "linux",
        }},
    });
    kubectl.apply(&node.to_string()).unwrap();
    let room =
        json!({ "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "110" } } });
    let patch = ["patch", "node", NODE, "--subresource=status", "--type=merge", "-p"];
    kubectl.run(&[&patch[..], &[&room.to_string()]].concat()).unwrap();
    assert!(told(&judge()).contains("DaemonSet kube-system/cilium does not exist"));

    for object in cilium().objects() {
        kubectl.apply(&object.to_string()).unwrap();
    }
    let wait = |what: &str| kube(kubectl, &format!("-n kube-system wait {what} --timeout=60s"));
    wait("ds/cilium --for=jsonpath={.status.currentNumberScheduled}=1");
    wait("deploy/cilium-operator --for=jsonpath={.status.replicas}=1");
    wait("pod --all --for=condition=PodScheduled");
    let verdict = judge();
    let Verdict::NotYet { because } = &verdict else { panic!("{verdict:?}") };
    assert!(because.what.contains("demo-cp-1: Cilium agent not running: Pending"), "{verdict}");

    run_pods(kubectl);
    kube(kubectl, "-n kube-system rollout status ds/cilium --timeout=60s");
    kube(kubectl, "-n kube-system rollout status deploy/cilium-operator --timeout=60s");
    let verdict = judge();
    let Verdict::Ready { evidence } = &verdict else { panic!("{verdict:?}") };
    assert_eq!(evidence.summary, "agents on 1/1 nodes, operator available");

    kube(kubectl, "taint node demo-cp-1 node.cilium.io/agent-not-ready=:NoSchedule");
    assert!(told(&judge()).contains("agent-not-ready is still there"));
}
