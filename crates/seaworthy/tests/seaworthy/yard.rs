//! Real Talos nodes in maintenance mode, and a cluster file that names them.

#![expect(clippy::disallowed_methods, reason = "real machines take real time")]

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rig::Kubectl;
use rig::talos::{PodImages, Talos, TalosNode, kubelet_settings};
use serde_json::Value;

use crate::workplace::{Ran, Workplace};

/// A machine that the cluster file does not name.
pub(crate) const SPARE: &str = "spare";

/// How long a stage may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// Real nodes in maintenance mode, and a cluster file that names them.
pub(crate) struct Yard {
    pub(crate) talos: Talos,
    pub(crate) workplace: Workplace,
    /// The cluster file.
    pub(crate) file: String,
    _alone: MutexGuard<'static, ()>,
}

/// What has become of calls to a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// How many were taken and answered.
    pub(crate) taken: usize,
    /// How many callers were gone before their answer.
    pub(crate) doubtful: usize,
}

impl Yard {
    pub(crate) fn new(control_planes: usize, workers: usize) -> Option<Self> {
        rig::need::talos_parts()?;
        let alone = alone();
        let pods = PodImages::pack().unwrap();
        let mut talos = Talos::with(&pods).unwrap();
        for place in 1..=control_planes {
            talos.add(&format!("cp-{place}")).unwrap();
        }
        for place in 1..=workers {
            talos.add(&format!("w-{place}")).unwrap();
        }
        let named = control_planes + workers;
        talos.add(SPARE).unwrap();
        let workplace = Workplace::new();
        workplace.write("network.yaml", pods.network());
        let egress = serve(talos.gateway(), "hello");
        let file = file(&talos, control_planes, named, &pods.probe(), &egress);
        workplace.write("cluster.yaml", &file);
        Some(Self { talos, workplace, file, _alone: alone })
    }

    pub(crate) fn up(&self, more: &[&str]) -> Ran {
        self.workplace.run([&["up"], more].concat())
    }

    /// Runs `up` and kills it once a stage has begun.
    pub(crate) fn up_killed_in(&self, stage: &str) {
        self.up_killed_at(stage, |event| {
            event["event"] == "stage-started" && event["unit"]["stage"] == stage
        });
    }

    /// Runs `up` and kills it once it means to make a call of this kind for the
    /// first time: the call has been sent or is about to be, and mostly nobody
    /// has taken down what came of it. Returns whether it did: a run that was to
    /// be killed before may have come so far.
    pub(crate) fn up_killed_in_call(&self, kind: &str) -> bool {
        let is_meant = |event: &Value| event["event"] == "intent" && event["call"]["kind"] == kind;
        if self.runs().iter().any(|run| events_of(run).iter().any(is_meant)) {
            return false;
        }
        self.up_killed_at(kind, is_meant);
        true
    }

    fn up_killed_at(&self, place: &str, is_there: impl Fn(&Value) -> bool) {
        let before = self.runs();
        let mut command = self.workplace.command(["up"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let since = Instant::now();
        loop {
            let is_new = self.runs().len() > before.len();
            if is_new && self.events().iter().any(&is_there) {
                break;
            }
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended before {place}: {ended:?}");
            assert!(since.elapsed() < PATIENCE, "it never came to {place}");
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Returns what the newest journal says.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.runs().pop().map(|run| events_of(&run)).unwrap_or_default()
    }

    /// Returns what the newest run has changed, or was about to.
    pub(crate) fn changes(&self) -> Vec<String> {
        let events = self.events();
        let intents = events.iter().filter(|event| event["event"] == "intent");
        intents.map(|event| event["call"].to_string()).collect()
    }

    fn runs(&self) -> Vec<PathBuf> {
        let folder = self.workplace.path().join(".seaworthy/yard/runs");
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut runs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        // Names of runs begin with their time.
        runs.sort();
        runs
    }

    /// Returns a node by name.
    pub(crate) fn node(&self, name: &str) -> &TalosNode {
        self.talos.nodes().iter().find(|node| node.name() == name).unwrap()
    }

    /// Sends a signal to the kubelet of a node.
    pub(crate) fn signal_kubelet(&self, node: &str, signal: &str) {
        let script = "for p in /proc/[0-9]*; do \
            case \"$(tr '\\0' ' ' < $p/cmdline 2>/dev/null)\" in \
              */kubelet\\ --*) kill -$0 ${p#/proc/} && echo hit;; esac; done";
        let output = self.node(node).inside("sh").args(["-c", script, signal]).output().unwrap();
        assert!(output.stdout.starts_with(b"hit"), "{output:?}");
    }

    /// Returns what has become of the calls of a kind, by the node's own log.
    pub(crate) fn heard(&self, node: &str, call: &str) -> Heard {
        let (config, node) = (self.talosconfig(), self.node(node).address().to_string());
        let logs = ["--talosconfig", &config, "--nodes", &node, "logs", "apid"];
        let log = self.talos.talosctl().run(&logs).unwrap();
        let method = format!(" [/machine.MachineService/{call}]");
        let codes =
            log.lines().filter_map(|line| line.split_once(&method)?.0.split(' ').next_back());
        let mut heard = Heard::default();
        for code in codes {
            match code {
                "OK" => heard.taken += 1,
                // Nothing was changed.
                "FailedPrecondition" | "Unimplemented" | "PermissionDenied" => {}
                _ => heard.doubtful += 1,
            }
        }
        heard
    }

    /// Returns where the secrets bundle lies that `up` has made.
    pub(crate) fn secrets(&self) -> PathBuf {
        self.workplace.path().join(".seaworthy/yard/secrets.yaml")
    }

    /// Returns where the talosconfig lies that we make.
    pub(crate) fn talosconfig(&self) -> String {
        let ran = self.workplace.run(["talosconfig"]);
        assert_eq!(ran.exit, 0, "{ran}");
        self.workplace.write("talosconfig", &ran.stdout).display().to_string()
    }

    /// Returns kubectl with the kubeconfig that we make.
    pub(crate) fn kubectl(&self) -> Kubectl {
        let ran = self.workplace.run(["kubeconfig"]);
        assert_eq!(ran.exit, 0, "{ran}");
        let path = self.workplace.write("kubeconfig", ran.stdout);
        Kubectl::new(&rig::need::binary("kubectl").unwrap(), &path)
    }
}

/// Returns what the journal of a run says.
fn events_of(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("journal.jsonl")).unwrap_or_default();
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.map(|mut line| line["event"]["what"].take()).collect()
}

/// Returns the hardware address of a node's network card.
pub(crate) fn card(node: &TalosNode) -> String {
    let output = node.inside("cat").arg("/sys/class/net/eth0/address").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Waits for the turn to build a cluster. Several at once, beside what else is
/// tested, are more than two cores do in time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static BUILDING: Mutex<()> = Mutex::new(());
    BUILDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until something is so.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "it never came to that");
        thread::sleep(Duration::from_millis(500));
    }
}

/// A server outside of the cluster that says the same to everybody, for as long as the
/// test's process lives.
pub(crate) fn serve(gateway: Ipv4Addr, body: &'static str) -> String {
    let listener = TcpListener::bind((gateway, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 1024];
            let read = stream.read(&mut request).unwrap_or_default();
            // Some first ask how long it is.
            let told = if request[..read].starts_with(b"HEAD") { "" } else { body };
            let length = body.len();
            let answer = format!("HTTP/1.0 200 OK\r\nContent-Length: {length}\r\n\r\n{told}");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/")
}

fn file(talos: &Talos, control_planes: usize, named: usize, probe: &str, egress: &str) -> String {
    let [a, b, c, _] = talos.gateway().octets();
    let registry = talos.registry().host();
    let mut nodes = String::new();
    for (place, node) in talos.nodes().iter().take(named).enumerate() {
        let pool = if place < control_planes { "control-plane" } else { "workers" };
        let (name, mac, address) = (node.name(), card(node), node.address());
        let _ = writeln!(
            nodes,
            "        - {{ name: {name}, pool: {pool}, mac: '{mac}', address: {address} }}"
        );
    }
    let pools = match named - control_planes {
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
