//! A cluster that talosctl has made, as people have them: what our own client
//! is measured against.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Host, Talos, TalosError, TalosNode, Talosctl};
use crate::component::component;
use crate::control_plane::binary;
use crate::janitor::Leftover;
use crate::kubectl::Kubectl;
use crate::node::run_tool;
use crate::run::RunError;

/// How long a step may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// How many nodes of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The control planes.
    pub control_planes: usize,
    /// The workers.
    pub workers: usize,
}

/// A real Talos cluster with a kubeconfig and a talosconfig.
#[derive(Debug)]
pub struct TalosCluster {
    talos: Talos,
    shape: Shape,
    folder: PathBuf,
    kubectl: Kubectl,
}

impl TalosCluster {
    /// Brings up a cluster with talosctl and waits until all nodes are ready.
    pub fn start(shape: Shape) -> Result<Self, TalosError> {
        let cluster = Self::start_without_network(shape)?;
        cluster.connect_pods()?;
        Ok(cluster)
    }

    /// Brings up a cluster with talosctl whose API is ready, and whose pods
    /// have no network yet.
    pub fn start_without_network(shape: Shape) -> Result<Self, TalosError> {
        let mut talos = Talos::start()?;
        for place in 1..=shape.control_planes {
            talos.add(&format!("cp-{place}"))?;
        }
        for place in 1..=shape.workers {
            talos.add(&format!("w-{place}"))?;
        }
        let folder = talos.dir().join("cluster");
        let kubectl = Kubectl::new(&binary("kubectl")?, &folder.join("kubeconfig"));
        let cluster = Self { talos, shape, folder, kubectl };
        cluster.generate()?;
        cluster.configure()?;
        cluster.bootstrap()?;
        cluster.await_api()?;
        Ok(cluster)
    }

    /// Returns the nodes and what they hang on.
    pub fn talos(&self) -> &Talos {
        &self.talos
    }

    /// Returns the control planes.
    pub fn control_planes(&self) -> &[TalosNode] {
        &self.talos.nodes()[..self.shape.control_planes]
    }

    /// Returns the workers.
    pub fn workers(&self) -> &[TalosNode] {
        &self.talos.nodes()[self.shape.control_planes..]
    }

    /// Returns the folder with `secrets.yaml`, `talosconfig`, `kubeconfig`,
    /// `controlplane.yaml` and `worker.yaml`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns kubectl, as administrator.
    pub fn kubectl(&self) -> &Kubectl {
        &self.kubectl
    }

    /// Runs talosctl as administrator, for one node.
    pub fn talosctl(&self, node: Ipv4Addr, args: &[&str]) -> Result<String, TalosError> {
        let (config, endpoint) = (self.file("talosconfig"), self.endpoint());
        let node = node.to_string();
        let access = ["--talosconfig", &config, "--endpoints", &endpoint, "--nodes", &node];
        Ok(self.ctl().run(&[&access, args].concat())?)
    }

    /// Takes everything away and says what would not go.
    pub fn end(self) -> Vec<Leftover> {
        self.talos.end()
    }

    fn generate(&self) -> Result<(), TalosError> {
        self.write("", "")?;
        let kubernetes = component("kubelet").expect("the catalogue has it").version.as_str();
        let all = self.write("all.yaml", &patch_of_all(&self.talos.registry().host()))?;
        let planes = self.write("control-planes.yaml", PATCH_OF_CONTROL_PLANES)?;
        let secrets = self.file("secrets.yaml");
        self.ctl().run(&["gen", "secrets", "--output-file", &secrets])?;
        let endpoint = format!("https://{}:6443", self.endpoint());
        self.ctl().run(&[
            "gen",
            "config",
            "rig",
            &endpoint,
            "--kubernetes-version",
            kubernetes.trim_start_matches('v'),
            "--with-secrets",
            &secrets,
            "--output",
            &self.folder.display().to_string(),
            "--force",
            "--with-docs=false",
            "--with-examples=false",
            "--config-patch",
            &format!("@{all}"),
            "--config-patch-control-plane",
            &format!("@{planes}"),
        ])?;
        Ok(())
    }

    /// Gives every node its config, as soon as it takes one.
    fn configure(&self) -> Result<(), TalosError> {
        for (place, node) in self.talos.nodes().iter().enumerate() {
            let is_plane = place < self.shape.control_planes;
            let kind = if is_plane { "controlplane.yaml" } else { "worker.yaml" };
            let named = format!("{}.yaml", node.name());
            let text = fs::read_to_string(self.folder.join(kind)).map_err(self.unwritten())?;
            let host = format!("hostname: {}\nauto: \"off\"", node.name());
            let config = self.write(&named, &text.replace("auto: stable", &host))?;
            let address = node.address().to_string();
            let apply = ["apply-config", "--insecure", "--nodes", &address, "--file", &config];
            until("a node took no config", || {
                self.ctl().run(&apply).map(drop).map_err(|error| error.to_string())
            })?;
        }
        Ok(())
    }

    /// Starts etcd on the first control plane. What may be sent again is only
    /// what provably started nothing: a second request at the wrong moment
    /// would leave etcd stopped for good.
    fn bootstrap(&self) -> Result<(), TalosError> {
        let first = self.control_planes()[0].address();
        until("the first control plane was not ready for etcd", || {
            let services = self.talosctl(first, &["services"]).map_err(|e| e.to_string())?;
            let etcd = services.lines().find(|line| line.contains(" etcd ")).unwrap_or_default();
            let waits = etcd.contains("Preparing") || etcd.contains("Waiting");
            if waits { Ok(()) } else { Err(etcd.to_owned()) }
        })?;
        until("etcd was not started", || match self.talosctl(first, &["bootstrap"]) {
            Ok(_) => Ok(()),
            Err(error) => {
                let said = error.to_string();
                let harmless = ["not available yet", "time is not in sync", "connection refused"];
                if harmless.iter().any(|text| said.contains(text)) {
                    Err(said)
                } else {
                    panic!("bootstrap: {said}")
                }
            }
        })
    }

    fn await_api(&self) -> Result<(), TalosError> {
        let first = self.control_planes()[0].address();
        let kubeconfig = self.file("kubeconfig");
        self.talosctl(first, &["kubeconfig", "--force", "--merge=false", &kubeconfig])?;
        until("the API server was not ready", || {
            self.kubectl.run(&["get", "--raw", "/readyz"]).map(drop).map_err(|e| e.to_string())
        })
    }

    fn all_ready(&self) -> Result<(), String> {
        let path = r#"jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status} {end}"#;
        let seen = self.kubectl.run(&["get", "nodes", "-o", path]).map_err(|e| e.to_string())?;
        let ready = seen.matches("=True").count();
        if ready == self.talos.nodes().len() { Ok(()) } else { Err(seen) }
    }

    /// Gives the pods of each node a subnet, and each node a route to those of
    /// the others; then waits until all nodes are ready.
    pub fn connect_pods(&self) -> Result<(), TalosError> {
        for (place, node) in self.talos.nodes().iter().enumerate() {
            node.put("/etc/cni/net.d/10-rig.conflist", &pod_network(place))?;
            for (other, neighbour) in self.talos.nodes().iter().enumerate() {
                if other != place {
                    let route = [&pod_subnet(other), "via", &neighbour.address().to_string()];
                    run_tool(node.inside("ip").args(["route", "replace"]).args(route))?;
                }
            }
        }
        until("not all nodes were ready", || self.all_ready())
    }

    fn ctl(&self) -> &Talosctl {
        self.talos.talosctl()
    }

    fn endpoint(&self) -> String {
        self.control_planes()[0].address().to_string()
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> Result<String, TalosError> {
        fs::create_dir_all(&self.folder).map_err(self.unwritten())?;
        if !name.is_empty() {
            fs::write(self.folder.join(name), text).map_err(self.unwritten())?;
        }
        Ok(self.file(name))
    }

    fn unwritten(&self) -> impl Fn(std::io::Error) -> RunError + use<> {
        let path = self.folder.clone();
        move |source| RunError::Write { path: path.clone(), source }
    }
}

/// The pods' network is ours, so that it is the same everywhere.
const PATCH_OF_CONTROL_PLANES: &str = "\
apiVersion: v1alpha1
kind: KubeFlannelCNIConfig
$patch: delete
";

/// Images come from our registry, and nobody asks the discovery service.
fn patch_of_all(registry: &str) -> String {
    let mirror = |name: &str| {
        format!(
            "apiVersion: v1alpha1\nkind: RegistryMirrorConfig\nname: {name}\n\
             endpoints: [{{url: \"http://{registry}\"}}]\nskipFallback: true\n---\n"
        )
    };
    let mut patch = mirror("registry.k8s.io") + &mirror("ghcr.io");
    patch += "apiVersion: v1alpha1\nkind: DiscoveryServiceConfig\nname: default\n$patch: delete\n";
    let kubelet = json!({
        "apiVersion": "v1alpha1",
        "kind": "KubeletConfig",
        "config": kubelet_settings(),
    });
    format!("{patch}---\n{kubelet}\n")
}

/// Returns what the config of every kubelet in the rig has to say, whoever
/// writes that config.
pub fn kubelet_settings() -> Value {
    json!({
        "failCgroupV1": !Host::look().split_control_groups,
        // A full disk on a developer's machine must not keep pods away.
        "evictionHard": { "nodefs.available": "0%", "imagefs.available": "0%", "memory.available": "0%" },
        "imageGCHighThresholdPercent": 100,
    })
}

fn pod_subnet(place: usize) -> String {
    format!("10.244.{place}.0/24")
}

fn pod_network(place: usize) -> String {
    let list = json!({
        "cniVersion": "1.0.0",
        "name": "rig",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": true,
                "ipMasq": true,
                "hairpinMode": true,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{ "subnet": pod_subnet(place) }]],
                    "routes": [{ "dst": "0.0.0.0/0" }],
                },
            },
            { "type": "portmap", "capabilities": { "portMappings": true } },
        ],
    });
    format!("{list:#}\n")
}

fn until(
    what: &'static str,
    mut look: impl FnMut() -> Result<(), String>,
) -> Result<(), TalosError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let Err(because) = look() else { return Ok(()) };
        if Instant::now() > deadline {
            return Err(TalosError::Late { what, seconds: PATIENCE.as_secs(), because });
        }
        thread::sleep(Duration::from_millis(300));
    }
}
