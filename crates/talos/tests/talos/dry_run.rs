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

#[test]
fn a_node_with_the_config_of_talosctl_sees_no_change_in_ours() {
    let Some(mut talos) = need::talos() else { return };
    let Some(judge) = Judge::find() else { return };
    let address = talos.add("cp-1").unwrap().address().to_string();
    let bundle = bundle(1);
    let identity = Identity::talos(&bundle, Role::Admin, now(), &mut rng(2)).unwrap();
    let context =
        Context { endpoints: vec![address.clone()], nodes: vec![address.clone()], identity };
    let talosconfig = Talosconfig::new("rig", context).to_yaml();
    let talosconfig = judge.file("talosconfig", talosconfig.reveal());
    let plane = Node { hostname: "cp-1".to_owned(), ..node(Duty::ControlPlane) };
    for minor in [12, 13, 11, 8] {
        let endpoint = format!("https://{address}:6443");
        let cluster = Cluster {
            contract: contract(minor),
            endpoint,
            kubernetes: "v1.36.3".to_owned(),
            cert_sans: vec!["api.example.com".to_owned()],
            ..plain()
        };
        let theirs = judge.file("theirs.yaml", &theirs(&judge, minor, &bundle, &cluster, &plane));
        let apply = ["apply-config", "--nodes", &address, "--file", &theirs];
        // Only the first finds the node in maintenance mode.
        let way = if minor == 12 {
            vec!["--insecure"]
        } else {
            vec!["--talosconfig", talosconfig.as_str()]
        };
        until(|| judge.run(&[&apply[..], &way].concat()));

        let ours = MachineConfig::render(&bundle, &cluster, &plane).unwrap();
        let ours = judge.file("ours.yaml", ours.yaml().reveal());
        let dry_run = ["apply-config", "--dry-run", "--nodes", &address, "--file", &ours];
        let admin = ["--talosconfig", talosconfig.as_str()];
        let output = until(|| {
            let output = judge.command().args(dry_run).args(admin).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(said) } else { Err(said) }
        });
        let changes = |line: &&str| {
            line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
        };
        let changes: Vec<_> = output.lines().filter(changes).collect();
        assert_eq!(changes, [""; 0], "1.{minor}: {output}");
        assert!(output.contains("No changes."), "1.{minor}: {output}");
    }
    assert_eq!(talos.end(), Vec::new());
}
