//! Controllers and kubelets on a paused clock: nothing waits, nothing polls.

use std::time::Duration;

use serde_json::{Value, json};
use sim::kube::kubelet::{NodeSettings, Trouble};
use sim::kube::{Key, Kube, WatchEvent, WatchOptions, Write};
use sim::{Clock, Tempo};
use tokio::sync::watch;
use tokio::time::Instant;

const PODS: Key = Key::core("pods");
const NODES: Key = Key::core("nodes");
const DAEMON_SETS: Key = Key::new("apps", "daemonsets");
const LEASES: Key = Key::new("coordination.k8s.io", "leases");
const EVENTS: Key = Key::core("events");

/// Starts a cluster with nodes, and returns what can go wrong on each.
fn cluster(
    count: u8,
    tempo: Tempo,
    trouble: impl Fn(u8) -> Trouble,
) -> (Kube, Vec<watch::Sender<Trouble>>) {
    let kube = Kube::empty(Clock::real(), 1);
    let controllers = kube.clone();
    tokio::spawn(async move { controllers.run_controllers(tempo).await });
    let mut troubles = Vec::new();
    for number in 1..=count {
        let name = format!("node-{number}");
        let (address, prefix) = (format!("10.0.64.{number}"), format!("10.244.{number}"));
        let node = NodeSettings::new(&name, &address, &prefix);
        let (sender, trouble) = watch::channel(trouble(number));
        troubles.push(sender);
        let kube = kube.clone();
        tokio::spawn(async move { kube.run_kubelet(node, tempo, trouble).await });
    }
    (kube, troubles)
}

fn daemon_set(name: &str, labels: &Value, host_network: bool) -> Value {
    // The network of pods comes from whoever writes there.
    let volumes = match name {
        "cilium" => json!([{ "name": "cni", "hostPath": { "path": "/etc/cni/net.d" } }]),
        _ => json!([]),
    };
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": { "name": name, "namespace": "kube-system" },
        "spec": { "selector": { "matchLabels": labels }, "template": {
            "metadata": { "labels": labels },
            "spec": { "hostNetwork": host_network, "tolerations": [{ "operator": "Exists" }],
                "containers": [{ "name": "agent", "image": "example.com/agent:1" }],
                "volumes": volumes },
        } },
    })
}

/// Waits until an object of a kind is as it should be.
async fn until(kube: &Kube, key: &Key, holds: impl Fn(&[Value]) -> bool) {
    let place = kube.place(key, "", "").unwrap();
    let mut watch = kube.watch(&place, &WatchOptions::default()).unwrap();
    loop {
        let all: Vec<Value> = kube.all(key, "").iter().map(|one| (**one).clone()).collect();
        if holds(&all) {
            return;
        }
        assert!(!matches!(watch.next().await, None | Some(WatchEvent::Error(_))));
    }
}

async fn make(kube: &Kube, object: Value) {
    until(kube, &Key::core("namespaces"), |all| all.len() >= 4).await;
    let mut place = kube.place_of(&object).unwrap();
    place.name.clear();
    kube.create(&place, object, &Write::by("test")).unwrap();
}

fn ready(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array().unwrap();
    conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

#[tokio::test(start_paused = true)]
async fn a_large_cluster_settles_in_no_time() {
    let start = Instant::now();
    let (kube, _troubles) = cluster(53, Tempo::INSTANT, |_| Trouble::default());
    make(&kube, daemon_set("cilium", &json!({ "k8s-app": "cilium" }), true)).await;
    until(&kube, &NODES, |all| all.len() == 53 && all.iter().all(ready)).await;
    until(&kube, &DAEMON_SETS, |all| all.iter().all(|one| one["status"]["numberReady"] == 53))
        .await;
    assert_eq!(kube.all(&LEASES, "kube-node-lease").len(), 53);
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn delays_pass_in_simulated_time() {
    let start = Instant::now();
    let (kube, _troubles) = cluster(2, Tempo::times(1), |number| Trouble {
        slowness: if number == 2 { 10 } else { 1 },
        ..Trouble::default()
    });
    make(&kube, daemon_set("cilium", &json!({ "k8s-app": "cilium" }), true)).await;
    until(&kube, &NODES, |all| all.iter().any(ready)).await;
    let first = start.elapsed();
    assert!(first > Duration::from_secs(10) && first < Duration::from_secs(30), "{first:?}");
    until(&kube, &NODES, |all| all.len() == 2 && all.iter().all(ready)).await;
    assert!(start.elapsed() > 5 * first, "{:?} after {first:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn troubles_stay_on_their_node() {
    let (kube, troubles) = cluster(4, Tempo::INSTANT, |number| Trouble {
        no_network_plugin: number == 2,
        volumes_fail: number == 3,
        never_registers: number == 4,
        ..Trouble::default()
    });
    make(&kube, daemon_set("cilium", &json!({ "k8s-app": "cilium" }), true)).await;
    make(&kube, daemon_set("probe", &json!({ "app": "probe" }), false)).await;
    let named = |all: &[Value], wanted: &str| {
        all.iter().any(|one| one["metadata"]["name"] == wanted && ready(one))
    };
    until(&kube, &NODES, |all| named(all, "node-1") && named(all, "node-3")).await;
    let running = |pod: &Value| {
        pod["metadata"]["labels"]["app"] == "probe" && pod["status"]["phase"] == "Running"
    };
    until(&kube, &PODS, |all| all.iter().any(running)).await;
    until(&kube, &EVENTS, |all| all.iter().any(|one| one["reason"] == "FailedMount")).await;
    let nodes = kube.all(&NODES, "");
    assert_eq!(nodes.len(), 3, "node-4 never registers");
    let second = nodes.iter().find(|one| one["metadata"]["name"] == "node-2").unwrap();
    assert!(!ready(second));
    let probes = kube.all(&PODS, "kube-system");
    let running: Vec<&Value> =
        probes.iter().filter(|pod| running(pod)).map(|pod| &pod["spec"]["nodeName"]).collect();
    assert_eq!(running, ["node-1"]);
    // With the troubles gone, all nodes and their pods come up.
    for trouble in &troubles {
        trouble.send_replace(Trouble::default());
    }
    until(&kube, &NODES, |all| all.len() == 4 && all.iter().all(ready)).await;
    until(&kube, &DAEMON_SETS, |all| all.iter().all(|one| one["status"]["numberReady"] == 4)).await;
}
