//! The smallest world that a node can live in.

use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex},
    time::Duration,
};

use sim::{
    Clock, Effects, Tempo,
    talos::{
        Cluster, Clusters, KubernetesNode, MachineConfig, Node, NodeFacts, Settings, Stage,
        Surroundings,
    },
};

use crate::{client::Client, secrets::Secrets};

/// How much faster than real time the tests run.
const SPEED: u32 = 50;

/// What the nodes told their surroundings.
#[derive(Default)]
pub(crate) struct Told {
    clusters: Clusters,
    lines: Mutex<Vec<String>>,
}

/// Some nodes of one cluster.
pub(crate) struct World {
    pub(crate) secrets: Secrets,
    pub(crate) told: Arc<Told>,
    pub(crate) effects: Effects,
    pub(crate) tempo: Tempo,
}

impl Surroundings for Told {
    fn cluster(&self, config: &MachineConfig) -> Cluster {
        self.clusters.of(config)
    }

    fn control_plane_up(&self, node: &NodeFacts, config: &Arc<MachineConfig>) {
        assert!(config.cluster.kubernetes_ca.key.is_some());
        self.say(&format!("api {}", node.hostname));
    }

    fn kubelet_up(&self, _: &NodeFacts, hostname: &str, config: &Arc<MachineConfig>) {
        assert_eq!(config.kubelet.node_ip_subnets, ["10.0.64.0/19"]);
        self.say(&format!("kubelet {hostname}"));
    }

    fn kubernetes_down(&self, node: &NodeFacts) {
        self.say(&format!("down {}", node.hostname));
    }

    fn powered_off(&self, node: &NodeFacts) {
        self.say(&format!("off {}", node.hostname));
    }
}

impl Told {
    fn say(&self, line: &str) {
        self.lines.lock().unwrap().push(line.to_owned());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

impl World {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            secrets: Secrets::new(name),
            told: Arc::default(),
            effects: Effects::default(),
            tempo: Tempo::times(SPEED),
        }
    }

    /// Starts a node; its address is its test's own.
    pub(crate) fn node(&self, hostname: &str, address: [u8; 4]) -> Node {
        self.node_with(hostname, address, |_| {})
    }

    pub(crate) fn node_with(
        &self,
        hostname: &str,
        address: [u8; 4],
        settle: impl FnOnce(&mut Settings),
    ) -> Node {
        self.machine(hostname, address, |_, settings| settle(settings))
    }

    /// Starts a node of another version.
    pub(crate) fn node_of(&self, version: &str, hostname: &str, address: [u8; 4]) -> Node {
        self.machine(hostname, address, |facts, _| version.clone_into(&mut facts.version))
    }

    pub(crate) fn machine(
        &self,
        hostname: &str,
        address: [u8; 4],
        settle: impl FnOnce(&mut NodeFacts, &mut Settings),
    ) -> Node {
        let mut settings = Settings::new(self.tempo, Clock::real(), self.effects.clone());
        let mut facts = NodeFacts::cloud_server(hostname, Ipv4Addr::from(address));
        facts.private_address = Some(Ipv4Addr::new(10, 0, 64, address[3]));
        settle(&mut facts, &mut settings);
        Node::start(facts, settings, Arc::clone(&self.told) as Arc<dyn Surroundings>)
    }

    /// Waits for maintenance mode and applies a configuration.
    pub(crate) async fn apply(&self, node: &Node, config: &str) {
        node.reaches(Stage::Maintenance).await;
        let mut client = Client::insecure(node).await.unwrap();
        client.apply(config).await.unwrap();
    }

    /// Makes a control plane of a node, up to an authenticated call.
    pub(crate) async fn control_plane(&self, node: &Node) -> Client {
        self.apply(node, &self.secrets.control_plane(&node.facts().hostname)).await;
        self.admin(node).await
    }

    /// Returns an administrator's client, once a call that only administrators
    /// may make has been answered on a new connection.
    pub(crate) async fn admin(&self, node: &Node) -> Client {
        self.client(node, "os:admin").await
    }

    pub(crate) async fn client(&self, node: &Node, role: &str) -> Client {
        eventually("an authenticated call", async || {
            let pair = self.secrets.talos.client(role);
            let mut client = Client::mutual(node, &self.secrets.talos, &pair).await.ok()?;
            let read = client.get("config", "MachineConfigs.config.talos.dev", "v1alpha1").await;
            match (read, role) {
                (Ok(_), _) => Some(client),
                // Denied by a server that asked for the certificate: roles hold.
                (Err(status), role) if role != "os:admin" => (status.code()
                    == tonic::Code::PermissionDenied
                    && self.admin_has_answered(node).await)
                    .then_some(client),
                (Err(_), _) => None,
            }
        })
        .await
    }

    async fn admin_has_answered(&self, node: &Node) -> bool {
        let pair = self.secrets.talos.client("os:admin");
        let Ok(mut client) = Client::mutual(node, &self.secrets.talos, &pair).await else {
            return false;
        };
        client.get("config", "MachineConfigs.config.talos.dev", "v1alpha1").await.is_ok()
    }
}

/// What Kubernetes says about a node that is ready.
pub(crate) fn ready() -> KubernetesNode {
    KubernetesNode { ready: true, unschedulable: false }
}

/// Asks until there is an answer, for at most 20 seconds.
#[expect(clippy::disallowed_methods, reason = "a test polls the world as a client would")]
pub(crate) async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..2_000 {
        if let Some(answer) = ask().await {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} never came");
}
