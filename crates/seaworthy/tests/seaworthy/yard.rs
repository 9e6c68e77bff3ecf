//! Real Talos nodes in maintenance mode, and a cluster file that names them.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use rig::talos::{PodImages, Talos, kubelet_settings};

use crate::workplace::{Ran, Workplace};

/// Real nodes in maintenance mode, and a cluster file that names them.
pub(crate) struct Yard {
    pub(crate) talos: Talos,
    pub(crate) workplace: Workplace,
    /// The cluster file.
    pub(crate) file: String,
}

impl Yard {
    pub(crate) fn new(control_planes: usize, workers: usize) -> Option<Self> {
        rig::need::talos_parts()?;
        let pods = PodImages::pack().unwrap();
        let mut talos = Talos::with(&pods).unwrap();
        for place in 1..=control_planes {
            talos.add(&format!("cp-{place}")).unwrap();
        }
        for place in 1..=workers {
            talos.add(&format!("w-{place}")).unwrap();
        }
        let workplace = Workplace::new();
        workplace.write("network.yaml", pods.network());
        let egress = serve(talos.gateway());
        let file = file(&talos, control_planes, &pods.probe(), &egress);
        workplace.write("cluster.yaml", &file);
        Some(Self { talos, workplace, file })
    }

    pub(crate) fn up(&self) -> Ran {
        self.workplace.run(["up"])
    }
}

/// A server outside of the cluster, for as long as the test's process lives.
fn serve(gateway: Ipv4Addr) -> String {
    let listener = TcpListener::bind((gateway, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        }
    });
    format!("http://{address}/")
}

fn file(talos: &Talos, control_planes: usize, probe: &str, egress: &str) -> String {
    let [a, b, c, _] = talos.gateway().octets();
    let registry = talos.registry().host();
    let mut nodes = String::new();
    for (place, node) in talos.nodes().iter().enumerate() {
        let pool = if place < control_planes { "control-plane" } else { "workers" };
        let (name, address) = (node.name(), node.address());
        let _ = writeln!(nodes, "        - {{ name: {name}, pool: {pool}, address: {address} }}");
    }
    let pools = match talos.nodes().len() - control_planes {
        0 => "",
        _ => "  pools: [{ name: workers }]\n",
    };
    let endpoint = match control_planes {
        1 => "{}".to_owned(),
        // Nothing balances between them here; the first one stands for all.
        _ => format!("{{ hostname: {} }}", talos.nodes()[0].address()),
    };
    let kubelet = kubelet_settings();
    format!(
        "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: yard }}
spec:
  cloud:
    machines:
      network: {a}.{b}.{c}.0/24
      nodes:
{nodes}  talos:
    version: v1.14.1
    install: {{ disk: /dev/sda }}
    forwardKubeDNSToHost: true
    registries:
      registry.k8s.io: {{ endpoints: ['http://{registry}'], skipFallback: true }}
      ghcr.io: {{ endpoints: ['http://{registry}'], skipFallback: true }}
    patches:
      - inline:
          machine: {{ kubelet: {{ extraConfig: {kubelet} }} }}
          cluster: {{ discovery: {{ enabled: false }} }}
  kubernetes: {{ version: v1.36.3 }}
  controlPlane: {endpoint}
{pools}  manifests:
    - {{ name: network, path: network.yaml, after: api }}
  proof: {{ image: '{probe}', egress: '{egress}' }}
  stabilityWindow: 10s
"
    )
}
