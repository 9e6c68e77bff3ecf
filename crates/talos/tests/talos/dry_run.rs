//! Our configs on a real node that runs those of talosctl: Talos itself says
//! whether they mean the same.

use std::thread;
use std::time::{Duration, Instant};

use events::Role as Duty;
use rig::need;
use talos::config::{Cluster, MachineConfig, Node};
use talos::credentials::{Context, Identity, Role, Talosconfig};
use talos::secrets::Bundle;

use crate::config::{documents, node, plain};
use crate::judged::{contract, generated};
use crate::newest_form::{Explanations, NAMED, as_one};
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
        self.apply(&newest, address, &self.admin());
        let changes = self.look(&newest, address);
        assert!(changes.contains("No changes."), "it runs the newest form: {changes}");
        self.is_explained(&newest, &self.look(&ours, address));
        self.apply(&ours, address, &self.admin());
        self.look(&theirs(self.judge, NEWEST - 1, &self.bundle, cluster, node), address)
    }

    /// The node's own words about what ours would change of the newest form, put
    /// into effect here, make of it just what the list of differences says.
    fn is_explained(&self, newest: &str, changes: &str) {
        let before = self.judge.canonical_text(newest).unwrap();
        let after = as_one(documents(&put_into_effect(&before, changes)));
        let mut explanations = Explanations::new().and(NAMED, &[]);
        let wrong = explanations.wrong(&documents(&before), &after);
        assert_eq!(wrong, Vec::<String>::new(), "{changes}");
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

/// Applies a unified diff. Whatever it shows of the old text has to be there.
fn put_into_effect(old: &str, diff: &str) -> String {
    let old: Vec<_> = old.lines().collect();
    let mut new = Vec::new();
    let mut at = 0;
    let mut lines = diff.lines().skip_while(|line| !line.starts_with("@@ "));
    while let Some(head) = lines.next().filter(|line| line.starts_with("@@ ")) {
        let (from, mut gone, mut come) = ranges(head);
        new.extend_from_slice(&old[at..from]);
        at = from;
        while gone + come > 0 {
            let line = lines.next().expect("a part is as long as its head says");
            let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            if mark != "+" {
                assert_eq!(old.get(at), Some(&text), "line {}", at + 1);
                (at, gone) = (at + 1, gone - 1);
            }
            if mark != "-" {
                new.push(text);
                come -= 1;
            }
        }
    }
    assert!(at > 0, "no diff: {diff}");
    new.extend_from_slice(&old[at..]);
    new.join("\n")
}

/// Reads where a part of a diff begins in the old text, and how many lines it has
/// of the old one and of the new one.
fn ranges(head: &str) -> (usize, usize, usize) {
    let mut words = head.split([' ', '-', '+', '@']).filter(|word| !word.is_empty());
    let mut range = || {
        let (from, count) = words.next().map(|word| word.split_once(',').unwrap_or((word, "1")))?;
        Some((from.parse::<usize>().ok()?, count.parse().ok()?))
    };
    let parsed = range().and_then(|(from, gone)| Some((from.saturating_sub(1), gone, range()?.1)));
    parsed.unwrap_or_else(|| panic!("{head}"))
}

#[test]
fn a_diff_is_put_into_effect() {
    let old = "a\nb\nc\nd\ne\nf\n";
    let diff =
        "said\n--- a\n+++ b\n@@ -1,3 +1,2 @@\n a\n-b\n c\n@@ -5 +4,2 @@\n-e\n+E\n+--- e\n\nmore\n";
    assert_eq!(put_into_effect(old, diff), "a\nc\nd\nE\n--- e\nf");
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
