//! Our configs on a real node that runs those of talosctl: Talos itself says
//! whether they mean the same.

use std::thread;
use std::time::{Duration, Instant};

use events::Role as Duty;
use rig::need;
use talos::config::{Cluster, MachineConfig, Node};
use talos::credentials::{Context, Identity, Role, Talosconfig};
use talos::secrets::Bundle;

use crate::config::{node, plain};
use crate::judged::{contract, generated};
use crate::sample::{bundle, now, rng};
use crate::talosctl::Judge;

const PATIENCE: Duration = Duration::from_mins(3);
/// The form that finds the nodes in maintenance mode.
const FIRST: u32 = 12;

/// The form that has documents of its own for nearly everything.
const NEWEST: u32 = 14;

/// Repeats until it works.
#[expect(clippy::disallowed_methods, reason = "a real node takes real time")]
fn until(mut look: impl FnMut() -> Result<String, String>) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match look() {
            Ok(seen) => return seen,
            Err(why) => assert!(Instant::now() < deadline, "{why}"),
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// What talosctl writes for a host that it is to name as we do.
fn theirs(judge: &Judge, minor: u32, bundle: &Bundle, cluster: &Cluster, node: &Node) -> String {
    let config = generated(judge, minor, bundle, cluster, node);
    let host = if minor < 12 {
        format!("machine: {{network: {{hostname: {}}}}}", node.hostname)
    } else {
        let kind = "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: 'off'\nhostname: ";
        format!("{kind}{}\n", node.hostname)
    };
    let documents = judge.patch(&config, &[&host]).unwrap();
    let texts: Vec<_> = documents.iter().map(ToString::to_string).collect();
    texts.join("\n---\n")
}

/// What of a real node a dry run of ours would change.
struct DryRun<'a> {
    judge: &'a Judge,
    talosconfig: String,
    bundle: Bundle,
}

impl DryRun<'_> {
    /// Gives a node the config of talosctl and has it look at ours.
    fn differences(&self, minor: u32, cluster: &Cluster, node: &Node, address: &str) -> String {
        let theirs = theirs(self.judge, minor, &self.bundle, cluster, node);
        // Only the first finds the node in maintenance mode.
        let way: &[&str] = if minor == FIRST { &["--insecure"] } else { &self.admin() };
        self.apply(&theirs, address, way);
        self.look(&self.ours(cluster, node), address)
    }

    /// Gives a node the newest form of talosctl, then ours, and has it look at
    /// the form of talosctl that is like ours.
    fn there_and_back(&self, cluster: &Cluster, node: &Node, address: &str) -> String {
        let newest = theirs(self.judge, NEWEST, &self.bundle, cluster, node);
        let ours = self.ours(cluster, node);
        self.look(&newest, address);
        self.apply(&newest, address, &self.admin());
        let changes = self.look(&newest, address);
        assert!(changes.contains("No changes."), "it runs the newest form: {changes}");
        self.look(&ours, address);
        self.apply(&ours, address, &self.admin());
        self.look(&theirs(self.judge, NEWEST - 1, &self.bundle, cluster, node), address)
    }

    fn admin(&self) -> [&str; 2] {
        ["--talosconfig", self.talosconfig.as_str()]
    }

    fn ours(&self, cluster: &Cluster, node: &Node) -> String {
        let ours = MachineConfig::render(&self.bundle, cluster, node).unwrap();
        ours.yaml().reveal().to_owned()
    }

    fn apply(&self, config: &str, address: &str, way: &[&str]) {
        let file = self.judge.file("applied.yaml", config);
        let apply = ["apply-config", "--nodes", address, "--file", &file];
        until(|| self.judge.run(&[&apply[..], way].concat()));
    }

    /// Returns what the node says that a config would change.
    fn look(&self, config: &str, address: &str) -> String {
        let file = self.judge.file("looked-at.yaml", config);
        let dry_run = ["apply-config", "--dry-run", "--nodes", address, "--file", &file];
        until(|| {
            let output = self.judge.command().args(dry_run).args(self.admin()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(said) } else { Err(said) }
        })
    }
}

#[track_caller]
fn changes_nothing(what: &str, output: &str) {
    let changes = |line: &&str| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
    };
    let changes: Vec<_> = output.lines().filter(changes).collect();
    assert_eq!(changes, [""; 0], "{what}: {output}");
    assert!(output.contains("No changes."), "{what}: {output}");
}

/// A worker is asked by way of the control plane, which also signs its certificate.
#[test]
fn a_node_with_the_config_of_talosctl_sees_no_change_in_ours() {
    let Some(mut talos) = need::talos() else { return };
    let Some(judge) = Judge::find() else { return };
    let [plane, worker] = ["cp-1", "worker-1"].map(|name| talos.add(name).unwrap().address());
    let [plane, worker] = [plane, worker].map(|address| address.to_string());
    let bundle = bundle(1);
    let identity = Identity::talos(&bundle, Role::Admin, now(), &mut rng(2)).unwrap();
    let context = Context { endpoints: vec![plane.clone()], nodes: vec![], identity };
    let talosconfig = Talosconfig::new("rig", context).to_yaml();
    let talosconfig = judge.file("talosconfig", talosconfig.reveal());
    let dry_run = DryRun { judge: &judge, talosconfig, bundle };
    let nodes = [("cp-1", Duty::ControlPlane, &plane), ("worker-1", Duty::Worker, &worker)];
    let cluster = |minor| Cluster {
        contract: contract(minor),
        endpoint: format!("https://{plane}:6443"),
        kubernetes: "v1.36.3".to_owned(),
        cert_sans: vec!["api.example.com".to_owned()],
        ..plain()
    };
    for minor in [FIRST, 13, 11, 8] {
        for (name, duty, address) in nodes {
            let node = Node { hostname: name.to_owned(), ..node(duty) };
            let output = dry_run.differences(minor, &cluster(minor), &node, address);
            changes_nothing(&format!("{name} 1.{minor}"), &output);
        }
    }
    // A dry run compares documents, of which the newest form has others: a node
    // goes there and back, and nothing stays behind.
    for (name, duty, address) in nodes {
        let node = Node { hostname: name.to_owned(), ..node(duty) };
        let output = dry_run.there_and_back(&cluster(NEWEST), &node, address);
        changes_nothing(&format!("{name} there and back"), &output);
    }
    assert_eq!(talos.end(), Vec::new());
}
