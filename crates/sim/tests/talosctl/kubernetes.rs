//! What is around the simulated node: a Kubernetes that its control plane
//! serves and its kubelet joins.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};
use sim::kube::kubelet::{NodeSettings, Trouble};
use sim::kube::{Key, Kube, Server, Write, server_config};
use sim::talos::{Cluster, Clusters, KubernetesNode, MachineConfig, Node, NodeFacts, Surroundings};
use sim::{Clock, Effects, Tempo};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::AbortHandle;

const VERSION: &str = "v1.36.3";
const PORT: u16 = 6443;
const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

pub(crate) struct Kubernetes {
    clusters: Clusters,
    kube: Kube,
    tempo: Tempo,
    node: OnceLock<Node>,
    /// What runs for which node.
    running: Mutex<Vec<(Ipv4Addr, AbortHandle)>>,
}

impl Kubernetes {
    pub(crate) fn new(tempo: Tempo) -> Self {
        let kube = Kube::empty(Clock::real(), 1);
        Self {
            clusters: Clusters::default(),
            kube,
            tempo,
            node: OnceLock::new(),
            running: Mutex::default(),
        }
    }

    /// Says which node is told what Kubernetes thinks of it.
    pub(crate) fn is_around(&self, node: &Node) {
        let _ = self.node.set(node.clone());
    }

    /// Says which pods give the others a network, on every node.
    pub(crate) fn connect_pods(&self) {
        let labels = json!({ "k8s-app": "cilium" });
        let set = json!({
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": { "name": "cilium", "namespace": "kube-system" },
            "spec": { "selector": { "matchLabels": labels }, "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "hostNetwork": true,
                    "tolerations": [{ "operator": "Exists" }],
                    "containers": [{ "name": "agent", "image": "example.com/agent:1" }],
                    "volumes": [{ "name": "cni", "hostPath": { "path": "/etc/cni/net.d" } }],
                },
            } },
        });
        let namespace = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "kube-system" },
        });
        for object in [namespace, set] {
            let mut place = self.kube.place_of(&object).unwrap();
            place.name.clear();
            self.kube.create(&place, object, &Write::by("test")).unwrap();
        }
    }

    fn run(&self, node: &NodeFacts, task: impl Future<Output = ()> + Send + 'static) {
        let task = tokio::spawn(task).abort_handle();
        self.running.lock().unwrap().push((node.address, task));
    }

    async fn tell(kube: Kube, node: Node) {
        let mut revision = kube.revision();
        loop {
            revision.borrow_and_update();
            if let Some(seen) = kube.all(&Key::core("nodes"), "").first() {
                let ready = |it: &Value| it["type"] == "Ready" && it["status"] == "True";
                let conditions = seen["status"]["conditions"].as_array().cloned();
                let ready = conditions.unwrap_or_default().iter().any(ready);
                node.kubernetes_says(Some(KubernetesNode { ready, unschedulable: false }));
            }
            if revision.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Surroundings for Kubernetes {
    fn cluster(&self, config: &MachineConfig) -> Cluster {
        self.clusters.of(config)
    }

    fn control_plane_up(&self, node: &NodeFacts, config: &Arc<MachineConfig>) {
        let (kube, tempo, name) = (self.kube.clone(), self.tempo, node.hostname.clone());
        let (address, config) = (node.address, Arc::clone(config));
        self.run(node, async move { kube.run_controllers(tempo).await });
        let kube = self.kube.clone();
        self.run(node, async move { kube.mirror_static_pods(&name, VERSION).await });
        let kube = self.kube.clone();
        self.run(node, async move {
            let now = kube.clock().now();
            let pair = config.kubernetes_server(&[IpAddr::V4(address)], now).unwrap();
            let authority = &config.cluster.kubernetes_ca.certificate;
            let tls = server_config(&pair.certificate, &pair.key.unwrap(), authority).unwrap();
            let server = Server::new(kube, Effects::default(), VERSION, authority).unwrap();
            let listener = TcpListener::bind((address, PORT)).await.unwrap();
            server.serve(listener, tls).await;
        });
        if let Some(told) = self.node.get() {
            self.run(node, Self::tell(self.kube.clone(), told.clone()));
        }
    }

    fn kubelet_up(&self, node: &NodeFacts, hostname: &str, config: &Arc<MachineConfig>) {
        if !config.is_control_plane() {
            // It is gone before there is an API to register with.
            return;
        }
        let address = node.address.to_string();
        let settings = NodeSettings {
            labels: vec![(CONTROL_PLANE.to_owned(), String::new())],
            taints: vec![json!({ "key": CONTROL_PLANE, "effect": "NoSchedule" })],
            ..NodeSettings::new(hostname, &address, "10.244.0")
        };
        let (kube, tempo, (_, trouble)) =
            (self.kube.clone(), self.tempo, watch::channel(Trouble::default()));
        self.run(node, async move { kube.run_kubelet(settings, tempo, trouble).await });
    }

    fn kubernetes_down(&self, node: &NodeFacts) {
        let mut running = self.running.lock().unwrap();
        for (_, task) in running.extract_if(.., |(address, _)| *address == node.address) {
            task.abort();
        }
    }
}
