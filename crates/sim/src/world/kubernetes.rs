//! The Kubernetes of one cluster: one store, served on every control plane,
//! with a kubelet for every node.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use ipnet::Ipv4Net;
use serde_json::Value;
use tokio::task::{AbortHandle, JoinHandle};

use super::lives::Lives;
use super::node_marks::NodeMarks;
use crate::kube::kubelet::NodeSettings;
use crate::kube::{Key, Kube, Server, server_config};
use crate::talos::{KubernetesNode, MachineConfig, NodeFacts};
use crate::tenants::{self, Cloud, Tenants};
use crate::{Clock, Effects, Tempo, wire};

/// The port of the API on every control plane.
const API_PORT: u16 = 6443;

/// The Kubernetes of one cluster; it ends when it is dropped.
pub(super) struct Kubernetes {
    kube: Kube,
    tenants: Tenants,
    tempo: Tempo,
    effects: Effects,
    lives: Lives,
    /// What runs once for the whole cluster.
    central: Vec<AbortHandle>,
    /// What runs on each node, by its address.
    running: BTreeMap<Ipv4Addr, Vec<AbortHandle>>,
    /// The addresses of the machines that it was ever on and that still exist,
    /// whether they run or not.
    machines: BTreeSet<Ipv4Addr>,
    joined: u8,
}

impl Kubernetes {
    pub(super) fn begin(
        (tempo, clock): (Tempo, Clock),
        effects: Effects,
        lives: Lives,
        cloud: Arc<dyn Cloud>,
        knobs: tenants::Knobs,
    ) -> Self {
        let kube = Kube::empty(clock, 1);
        Self {
            tenants: Tenants::new(kube.clone(), cloud, knobs, tempo),
            kube,
            tempo,
            effects,
            lives,
            central: Vec::new(),
            running: BTreeMap::new(),
            machines: BTreeSet::new(),
            joined: 0,
        }
    }

    /// Changes what is wrong inside the cluster.
    pub(super) fn turn(&self, knobs: tenants::Knobs) {
        self.tenants.turn(|now| *now = knobs);
    }

    /// Serves the API on a control plane. Controllers begin with the first.
    pub(super) fn serve(&mut self, node: &NodeFacts, config: &Arc<MachineConfig>) {
        let hostname = config.hostname.clone().unwrap_or_else(|| node.hostname.clone());
        let (kube, version) = (self.kube.clone(), version(config).to_owned());
        let mirror = async move { kube.mirror_static_pods(&hostname, &version).await };
        self.keep(node, &tokio::spawn(mirror));
        if self.central.is_empty() {
            if let Some(services) =
                config.cluster.service_subnets.iter().find_map(|it| it.parse().ok())
            {
                self.kube.serve_within(services);
            }
            self.central = self.start();
        }
        let (kube, effects) = (self.kube.clone(), self.effects.clone());
        let (address, config) = (node.address, Arc::clone(config));
        let private = node.private_address;
        let serving = async move {
            // A control plane whose certificates are of no use never answers.
            let _ = api(kube, effects, address, private, &config).await;
        };
        self.keep(node, &tokio::spawn(serving));
    }

    fn start(&self) -> Vec<AbortHandle> {
        let (kube, tempo) = (self.kube.clone(), self.tempo);
        let controllers = tokio::spawn(async move { kube.run_controllers(tempo).await });
        let tidings = tokio::spawn(tell(self.kube.clone(), self.lives.clone()));
        let tenants = self.tenants.clone();
        let tenants = tokio::spawn(async move { tenants.run().await });
        vec![controllers.abort_handle(), tidings.abort_handle(), tenants.abort_handle()]
    }

    /// Lets a node join, once there is an API to join.
    pub(super) fn join(&mut self, node: &NodeFacts, hostname: &str, config: &Arc<MachineConfig>) {
        let settings = self.settings(node, hostname, config);
        let (kube, tempo) = (self.kube.clone(), self.tempo);
        let trouble = self.lives.trouble(&node.hostname);
        let kubelet = async move { kube.run_kubelet(settings, tempo, trouble).await };
        self.keep(node, &tokio::spawn(kubelet));
    }

    /// Ends what runs on a node.
    pub(super) fn leave(&mut self, node: &NodeFacts) {
        for task in self.running.remove(&node.address).unwrap_or_default() {
            task.abort();
        }
    }

    /// Forgets a machine that is gone for good, and says whether others are left.
    pub(super) fn outlives(&mut self, node: &NodeFacts) -> bool {
        let was_here = self.machines.remove(&node.address);
        !was_here || !self.machines.is_empty()
    }

    /// Returns all objects of all kinds.
    pub(super) fn objects(&self) -> Vec<Arc<Value>> {
        let resources = self.kube.resources();
        resources.iter().flat_map(|resource| self.kube.all(&resource.key, "")).collect()
    }

    fn keep(&mut self, node: &NodeFacts, task: &JoinHandle<()>) {
        self.machines.insert(node.address);
        self.running.entry(node.address).or_default().push(task.abort_handle());
    }

    fn settings(
        &mut self,
        node: &NodeFacts,
        hostname: &str,
        config: &MachineConfig,
    ) -> NodeSettings {
        let internal = node.private_address.unwrap_or(node.address).to_string();
        self.joined += 1;
        let marks = NodeMarks::of(node, config);
        NodeSettings {
            labels: marks.labels,
            taints: marks.taints,
            architecture: node.arch.clone(),
            kubelet_version: version(config).to_owned(),
            os_image: format!("Talos ({})", node.version),
            ..NodeSettings::new(hostname, &internal, &pod_prefix(config, self.joined))
        }
    }
}

impl Drop for Kubernetes {
    fn drop(&mut self) {
        let running = std::mem::take(&mut self.running).into_values().flatten();
        running.chain(self.central.drain(..)).for_each(|task| task.abort());
    }
}

/// Returns the version of Kubernetes that a configuration asks for.
fn version(config: &MachineConfig) -> &str {
    let image = config.kubelet.image.as_deref().and_then(|image| image.rsplit(':').next());
    image.unwrap_or("v1.36.3")
}

/// The n-th /24 of the pods' network.
fn pod_prefix(config: &MachineConfig, n: u8) -> String {
    let network = config.cluster.pod_subnets.iter().find_map(|it| it.parse::<Ipv4Net>().ok());
    let [a, b, c, _] = network.map_or([10, 244, 0, 0], |it| it.network().octets());
    format!("{a}.{b}.{}", c.wrapping_add(n))
}

async fn api(
    kube: Kube,
    effects: Effects,
    address: Ipv4Addr,
    private: Option<Ipv4Addr>,
    config: &MachineConfig,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let addresses: Vec<_> =
        [Some(address), private].into_iter().flatten().map(IpAddr::V4).collect();
    let pair = config.kubernetes_server(&addresses, kube.clock().now())?;
    let authority = &config.cluster.kubernetes_ca.certificate;
    let tls = server_config(&pair.certificate, pair.key.as_deref().unwrap_or_default(), authority)?;
    let server = Server::new(kube, effects, version(config), authority)?;
    let listener = wire::listen(SocketAddr::new(IpAddr::V4(address), API_PORT))?;
    server.serve(listener, tls).await;
    Ok(())
}

/// Tells every machine what Kubernetes says about its node.
async fn tell(kube: Kube, lives: Lives) {
    let mut revision = kube.revision();
    loop {
        revision.borrow_and_update();
        for node in kube.all(&Key::core("nodes"), "") {
            let name = node["metadata"]["name"].as_str().unwrap_or_default();
            if let Some(machine) = lives.node(name) {
                machine.kubernetes_says(Some(said(&node)));
            }
        }
        if revision.changed().await.is_err() {
            return;
        }
    }
}

fn said(node: &Value) -> KubernetesNode {
    let conditions = node["status"]["conditions"].as_array().map(Vec::as_slice);
    let ready = conditions.unwrap_or_default().iter().find(|it| it["type"] == "Ready");
    KubernetesNode {
        ready: ready.is_some_and(|it| it["status"] == "True"),
        unschedulable: node["spec"]["unschedulable"] == true,
    }
}
