//! Many simulated nodes: one control plane, and its workers.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use events::Role as NodeRole;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sim::talos::{
    Cluster, Clusters, MachineConfig as Given, Node as Machine, NodeFacts, Settings, Stage,
    Surroundings,
};
use sim::{Clock, Effects, Tempo};
use talos::client::{Apply, Node};
use talos::config::{Cni, Install, InstallDisk, KubeProxy, MachineConfig};
use talos::credentials::{Identity, Role};
use talos::secrets::Bundle;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

use crate::permits::Permits;
use crate::sample::{bundle, now, rng};

/// How long to wait before a node is asked again.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a node may take to restart its API.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many nodes are hundreds.
pub(crate) const NODES: usize = 200;
/// How much memory they and their clients may take, in MB.
pub(crate) const MEMORY: u64 = 400;

pub(crate) struct Fleet {
    machines: Vec<Machine>,
    bundle: Arc<Bundle>,
    admin: Identity,
}

#[derive(Default)]
struct Around(Clusters);

impl Surroundings for Around {
    fn cluster(&self, config: &Given) -> Cluster {
        self.0.of(config)
    }

    fn control_plane_up(&self, _: &NodeFacts, _: &Arc<Given>) {}

    fn kubelet_up(&self, _: &NodeFacts, _: &str, _: &Arc<Given>) {}

    fn kubernetes_down(&self, _: &NodeFacts) {}
}

impl Fleet {
    /// Starts nodes and waits for maintenance mode.
    pub(crate) async fn start(network: u8, count: usize) -> Self {
        let around = Arc::new(Around::default());
        let machines: Vec<_> = (0..count).map(|place| machine(network, place, &around)).collect();
        for machine in &machines {
            machine.reaches(Stage::Maintenance).await;
        }
        let bundle = Arc::new(bundle(1));
        let admin = Identity::talos(&bundle, Role::Admin, now(), &mut rng(5)).unwrap();
        Self { machines, bundle, admin }
    }

    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        let api = |machine: &Machine| SocketAddr::from((machine.facts().address, Node::PORT));
        self.machines.iter().map(api)
    }

    /// Gives every node its config and waits until each lets its administrator
    /// in, all at once.
    #[expect(clippy::disallowed_methods, reason = "it polls the nodes as a client would")]
    pub(crate) async fn configure(&self) {
        let (permits, mut tasks) = (Arc::new(Permits::new()), JoinSet::new());
        for (place, address) in self.addresses().enumerate() {
            let (permits, bundle) = (Arc::clone(&permits), Arc::clone(&self.bundle));
            let (node, admin) = (Node::at(address), self.admin.clone());
            tasks.spawn(async move {
                let role = if place == 0 { NodeRole::ControlPlane } else { NodeRole::Worker };
                let (config, target) = (config(&bundle, place, role), address.to_string());
                let apply = Apply { target: &target, config: &config };
                let permit = permits.for_call(apply.call()).await;
                let client = node.maintenance(None).await.unwrap();
                client.apply_configuration(permit, &apply).await.unwrap();
                assert!(client.ends(PATIENCE).await, "the node restarts its API");
                // It is not back at once: it restarts, and workers have yet to
                // get a certificate.
                tokio::time::sleep(PAUSE).await;
                while node.prove_admin(&admin).await.is_err() {
                    tokio::time::sleep(PAUSE).await;
                }
            });
        }
        tasks.join_all().await;
    }

    /// Shakes hands with every node, all at once, until the node has agreed.
    ///
    /// A node lets nobody in without a certificate, and says so after our side
    /// of the handshake is over: it is over for both once the node has spoken.
    pub(crate) async fn shake_hands(&self) {
        let (tls, mut tasks) = (Arc::new(self.tls()), JoinSet::new());
        for address in self.addresses() {
            let connector = TlsConnector::from(Arc::clone(&tls));
            tasks.spawn(async move {
                let stream = TcpStream::connect(address).await.unwrap();
                let name = ServerName::IpAddress(address.ip().into());
                let mut stream = connector.connect(name, stream).await.unwrap();
                stream.read_u8().await.unwrap();
            });
        }
        tasks.join_all().await;
    }

    /// Returns what an administrator says in TLS, by the library alone.
    fn tls(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.admin.authority().der().to_vec().into()).unwrap();
        let chain = vec![self.admin.certificate().der().to_vec().into()];
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots);
        let mut config = config.with_client_auth_cert(chain, key(&self.admin)).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        config.resumption = rustls::client::Resumption::disabled();
        config
    }
}

/// The library does not know Talos's label of a key in PKCS #8.
fn key(of: &Identity) -> PrivateKeyDer<'static> {
    let lines = of.secret().reveal().lines().filter(|line| !line.starts_with("-----"));
    let der = BASE64_STANDARD.decode(lines.collect::<String>()).unwrap();
    PrivateKeyDer::Pkcs8(der.into())
}

fn config(bundle: &Bundle, place: usize, role: NodeRole) -> MachineConfig {
    let cluster = talos::config::Cluster {
        cni: Cni::None,
        kube_proxy: KubeProxy::Disabled,
        ..talos::config::Cluster::new("fleet", "v1.36.3", "https://127.96.0.1:6443")
    };
    let disk = InstallDisk::Device("/dev/sda".to_owned());
    let install = Install { disk, image: "ghcr.io/siderolabs/installer:v1.14.1".to_owned() };
    let node = talos::config::Node::new(role, &format!("node-{place}"), install);
    MachineConfig::render(bundle, &cluster, &node).unwrap()
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.machines.iter().for_each(Machine::power_off);
    }
}

fn machine(network: u8, place: usize, around: &Arc<Around>) -> Machine {
    let [high, low] = u16::try_from(place + 1).unwrap().to_be_bytes();
    let address = Ipv4Addr::new(127, 96 + network, high, low);
    let facts = NodeFacts::cloud_server(&format!("node-{place}"), address);
    let settings = Settings::new(Tempo::INSTANT, Clock::real(), Effects::default());
    Machine::start(facts, settings, Arc::clone(around) as Arc<dyn Surroundings>)
}

/// Returns what the kernel says about this process's memory, in MB.
pub(crate) fn memory(what: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}
