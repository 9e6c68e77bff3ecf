//! The whole way on real machines: from maintenance mode to proven, what goes
//! wrong then, and back. The Talos nodes are real, and so is all that runs on
//! them.
//!
//! One cluster lives through all of it, because each takes a minute to build.

use std::fs;
use std::net::{IpAddr, SocketAddr};

use rig::need::remark;

use crate::detour::Detour;
use crate::middlebox::{self, a_lost_client_certificate_is_named};
use crate::workplace::Ran;
use crate::yard::{Heard, SPARE, Yard, card, until};

/// Where a run is killed, in their order. The calls come before the stages whose runs
/// may already make them while they are being killed.
const KILLED: [Killed; 12] = [
    Killed::In("preflight"),
    Killed::In("secrets"),
    Killed::InCall("apply config to"),
    Killed::In("nodes"),
    Killed::In("identity"),
    Killed::In("config"),
    Killed::InCall("bootstrap etcd on"),
    Killed::In("etcd"),
    Killed::In("api"),
    Killed::In("cni"),
    Killed::In("ready"),
    Killed::In("proof"),
];

/// Where a run is killed.
enum Killed {
    /// Once a stage has begun.
    In(&'static str),
    /// Once a call is meant, before anybody knows what came of it.
    InCall(&'static str),
}

impl Killed {
    /// Kills a run there.
    fn in_turn(&self, yard: &Yard) {
        match *self {
            Self::In(stage) => yard.up_killed_in(stage),
            Self::InCall(kind) => {
                assert!(yard.up_killed_in_call(kind), "no run was left to {kind} anything");
            }
        }
    }
}

#[test]
fn machines_are_proven_through_crashes_told_apart_when_broken_and_released() {
    let Some(yard) = Yard::new(1, 1) else { return };
    for killed in &KILLED {
        killed.in_turn(&yard);
    }
    remark(&format!("`up` on real machines was killed at {} points", KILLED.len()));
    let ran = yard.up(&[]);
    assert_eq!(ran.exit, 0, "{}\n{ran}", yard.file);
    assert!(ran.stderr.contains("datapath 2×2, DNS, egress; 10s stable"), "{ran}");

    no_call_was_taken_twice(&yard);
    nothing_is_changed_a_second_time(&yard);
    others_speak_to_it(&yard);
    a_client_certificate_that_does_not_arrive_is_named(&yard);
    up_names_a_client_certificate_that_does_not_arrive(&yard);
    a_stopped_kubelet_is_named(&yard);
    a_missing_pod_network_is_named(&yard);
    a_wrong_bundle_is_named(&yard);
    a_file_that_changed_is_named(&yard);
    another_card_is_another_machine(&yard);

    let ran = yard.up(&[]);
    assert_eq!(ran.exit, 0, "all of it was mended: {ran}");
    machines_are_released(&yard);
    let leftovers = yard.talos.end();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

#[test]
fn three_control_planes_agree() {
    let Some(yard) = Yard::new(3, 0) else { return };
    let ran = yard.up(&[]);
    told(&ran, 0, &["3 members, leader", "datapath 3×3, DNS, egress"]);
    let stages = ["config", "etcd", "api", "Proven"];
    let lines = ran
        .stderr
        .lines()
        .filter(|line| line.split_whitespace().take(2).any(|word| stages.contains(&word)));
    let lines: Vec<_> = lines.map(str::trim).collect();
    remark(&format!("three real control planes: {}", lines.join("; ")));
    let leftovers = yard.talos.end();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

/// Neither by our own word nor by that of the machines and of Kubernetes.
fn nothing_is_changed_a_second_time(yard: &Yard) {
    let before = (calls_heard(yard), written_by_us(yard));
    let ran = yard.up(&[]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert_eq!(yard.changes(), Vec::<String>::new(), "{ran}");
    assert_eq!((calls_heard(yard), written_by_us(yard)), before, "{ran}");
}

/// Each run that was killed has left it to the next to find out what had arrived. Of a
/// call whose caller was killed nobody has an answer, and it is not made again where it
/// has had its effect.
fn no_call_was_taken_twice(yard: &Yard) {
    let [[config, bootstrap, none], [of_worker, rest @ ..]] = calls_heard(yard);
    for made in [config, bootstrap, of_worker] {
        assert!(made.taken <= 1 && made.taken + made.doubtful >= 1, "{made:?}");
    }
    assert!([none].iter().chain(&rest).all(|it| *it == Heard::default()), "{none:?} {rest:?}");
}

/// What has become of the calls that change a machine, of both of them.
fn calls_heard(yard: &Yard) -> [[Heard; 3]; 2] {
    let calls = ["ApplyConfiguration", "Bootstrap", "Reset"];
    ["cp-1", "w-1"].map(|node| calls.map(|call| yard.heard(node, call)))
}

/// Returns when Kubernetes has last taken a change of ours to an object.
fn written_by_us(yard: &Yard) -> String {
    let ours = "{range .items[*]}{.kind} {.metadata.name} {.metadata.generation} \
                {.metadata.managedFields[?(@.manager=='seaworthy')].time}{'\\n'}{end}";
    let file = yard.workplace.path().join("network.yaml").display().to_string();
    let jsonpath = format!("jsonpath={ours}");
    let get = ["get", "-f", &file, "--show-managed-fields", "-o", &jsonpath];
    let said = yard.kubectl().run(&get).unwrap();
    assert!(said.contains("DaemonSet rig-net 1 20"), "it tells times: {said}");
    said
}

/// kubectl, talosctl, `verify` and `status` with what we give them.
fn others_speak_to_it(yard: &Yard) {
    let nodes = yard.kubectl().run(&["get", "nodes", "-o", "name"]).unwrap();
    assert_eq!(nodes.lines().collect::<Vec<_>>(), ["node/cp-1", "node/w-1"]);
    let members = ["--talosconfig", &yard.talosconfig(), "etcd", "members"];
    let said = yard.talos.talosctl().run(&members).unwrap();
    assert!(said.contains("cp-1"), "{said}");
    let verify = ["verify", "--kubeconfig", "kubeconfig", "--talosconfig", "talosconfig"];
    let ran = yard.workplace.run([&verify[..], &["--wait", "2m"]].concat());
    told(&ran, 0, &["1 member, leader", "rig-net on 2/2 nodes", "2/2 machines ready"]);
    let ran = yard.workplace.run(["status"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stdout.contains("running") && ran.stdout.contains("ready"), "{ran}");
}

/// The node itself says so, to what stands between.
fn a_client_certificate_that_does_not_arrive_is_named(yard: &Yard) {
    let node = yard.node("cp-1").address().to_string();
    let secrets = yard.secrets();
    a_lost_client_certificate_is_named(&yard.workplace, &node, &secrets);
}

/// The same on the way of `up`, which dials the addresses of the cluster file.
fn up_names_a_client_certificate_that_does_not_arrive(yard: &Yard) {
    let [first, worker] = ["cp-1", "w-1"].map(|name| IpAddr::from(yard.node(name).address()));
    let detour = Detour::at(&[first, worker]);
    let talos = SocketAddr::new(first, 50000);
    middlebox::before(talos, detour.listen(talos), &yard.secrets());
    detour.pass(SocketAddr::new(first, 6443));
    detour.pass(SocketAddr::new(worker, 50000));
    let up = yard.workplace.command(["up", "--timeout", "identity=20s"]);
    let ran = yard.workplace.ran(&mut detour.take(&up));
    told(&ran, 3, &["error[SW0303]: cp-1 says that no client certificate was presented"]);
    told(&ran, 3, &["certificate required", "something on the way there ends TLS"]);
    assert_eq!(yard.changes(), Vec::<String>::new(), "{ran}");
}

/// Once Kubernetes has not heard of the node for a while, it calls no pod there ready,
/// those of the network neither: it is the kubelet all the same.
fn a_stopped_kubelet_is_named(yard: &Yard) {
    yard.signal_kubelet("w-1", "STOP");
    let kubectl = yard.kubectl();
    let ready = "jsonpath={.status.conditions[?(@.type=='Ready')].status}";
    let ready = ["get", "node", "w-1", "-o", ready];
    until(|| kubectl.run(&ready).is_ok_and(|said| said == "Unknown"));
    let ran = yard.up(&["--timeout", "cni=20s"]);
    yard.signal_kubelet("w-1", "CONT");
    told(&ran, 3, &["error[SW0312]", "the kubelet of w-1 is not healthy"]);
    let ran = yard.workplace.run(["verify", "--kubeconfig", "kubeconfig", "--wait", "5m"]);
    assert_eq!(ran.exit, 0, "it goes on where it was stopped: {ran}");
}

/// A taint that the network's pods do not tolerate takes them from the node.
fn a_missing_pod_network_is_named(yard: &Yard) {
    let kubectl = yard.kubectl();
    let taint = |taint: &str| kubectl.run(&["taint", "node", "w-1", taint]).unwrap();
    taint("away=now:NoExecute");
    let pods = ["get", "pods", "-n", "kube-system", "-l", "app=rig-net", "-o", "name"];
    let there = [&pods[..], &["--field-selector", "spec.nodeName=w-1"]].concat();
    until(|| kubectl.run(&there).is_ok_and(|pods| pods.is_empty()));
    let ran = yard.up(&["--timeout", "cni=20s"]);
    taint("away-");
    told(&ran, 3, &["error[SW0414]", "w-1: pod network not running", "rig-net"]);
}

fn a_wrong_bundle_is_named(yard: &Yard) {
    let bundle = yard.secrets();
    let kept = fs::read(&bundle).unwrap();
    let file = bundle.display().to_string();
    let other = ["gen", "secrets", "--force", "--output-file", &file];
    yard.talos.talosctl().run(&other).unwrap();
    let ran = yard.up(&[]);
    told(&ran, 3, &["error[SW0210]", "is another one than before", "was signed with the key"]);
    told(&ran, 3, &["cp-1", "nothing was sent to any machine"]);
    assert_eq!(yard.changes(), Vec::<String>::new(), "{ran}");
    let ran = yard.workplace.run(["down", "--yes"]);
    told(&ran, 6, &["error[SW0210]", "is another one than before", "nothing was reset"]);
    fs::write(&bundle, "broken: [").unwrap();
    told(&yard.up(&[]), 3, &["error[SW0210]", "secrets.yaml cannot be used"]);
    fs::remove_file(&bundle).unwrap();
    told(&yard.workplace.run(["down", "--yes"]), 6, &["error[SW0210]", "secrets.yaml is missing"]);
    let ran = yard.workplace.run(["talos", "gen", "--out", "lost"]);
    told(&ran, 2, &["secrets.yaml is missing, and the cluster has been worked on"]);
    events::private::write(&bundle, &kept).unwrap();
}

/// Machines keep what they were given, whatever the file says of them now.
fn a_file_that_changed_is_named(yard: &Yard) {
    let at = |name: &str| format!("{} }}", yard.node(name).address());
    for (file, words) in [
        (yard.file.replace(&at("cp-1"), &at(SPARE)), "cp-1 was built at"),
        (yard.file.replace(&at("w-1"), &at(SPARE)), "w-1 was built at"),
        (yard.file.replace("name: w-1", "name: w-2"), "w-1 was built at"),
    ] {
        yard.workplace.write("cluster.yaml", file);
        let ran = yard.up(&[]);
        told(&ran, 3, &["error[SW0309]", words, "nothing was sent to it"]);
        assert_eq!(yard.changes(), Vec::<String>::new(), "{ran}");
    }
    let patched =
        yard.file.replace("          cluster: {", "          debug: true\n          cluster: {");
    yard.workplace.write("cluster.yaml", patched);
    let ran = yard.up(&["--until", "config"]);
    told(&ran, 0, &["the cluster file means another machine config than w-1 was given"]);
    yard.workplace.write("cluster.yaml", &yard.file);
}

/// The machine that is nobody's waits for a config, and is not the one that is meant.
fn another_card_is_another_machine(yard: &Yard) {
    let (first, spare) = (yard.node("cp-1"), yard.node(SPARE));
    let other = "02:00:00:00:00:99";
    let alone = yard.file.lines().filter(|line| !line.contains("w-1") && !line.contains("pools:"));
    let alone = alone.collect::<Vec<_>>().join("\n").replace("name: yard", "name: other");
    let alone = alone.replace(&first.address().to_string(), &spare.address().to_string());
    yard.workplace.write("other.yaml", alone.replace(&card(first), other));
    let ran = yard.workplace.run(["up", "other.yaml", "--until", "config"]);
    told(&ran, 3, &["error[SW0309]", &format!("it has no network card {other}")]);
    told(&ran, 3, &["no configuration, and no secret, was sent to it"]);
    let mode = yard.workplace.run(["talos", "probe", &spare.address().to_string()]);
    assert!(mode.stdout.contains("maintenance"), "{mode}");
}

fn machines_are_released(yard: &Yard) {
    let ran = yard.workplace.run(["down", "--yes", "--state-dir", "elsewhere"]);
    told(&ran, 6, &["there is no state of yard in elsewhere/yard", "nothing was wiped"]);
    let ran = yard.workplace.run(["down"]);
    told(&ran, 2, &["wipes 2 system disks", "needs a confirmation"]);
    let ran = yard.workplace.run(["down", "--dry-run"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stdout.ends_with("2 to reset, nothing was reset\n"), "{ran}");
    assert!(yard.talos.nodes().iter().all(rig::talos::TalosNode::is_running));
    // The worker is known from earlier runs, and the file that brings the network is not needed.
    let alone = yard.file.lines().filter(|line| !line.contains("w-1") && !line.contains("pools:"));
    yard.workplace.write("cluster.yaml", alone.collect::<Vec<_>>().join("\n"));
    fs::remove_file(yard.workplace.path().join("network.yaml")).unwrap();
    let ran = yard.workplace.run(["down", "--yes"]);
    told(&ran, 0, &["2 to reset", "nothing is left"]);
    until(|| !["cp-1", "w-1"].iter().any(|name| yard.node(name).is_running()));
    assert!(yard.node(SPARE).is_running(), "it is nobody's");
    let again = yard.workplace.run(["down", "--yes"]);
    told(&again, 0, &["0 to reset", "nothing is left"]);
}

/// The node itself says no word of it: its services prepare themselves for ever.
#[test]
fn a_registry_that_does_not_answer_is_named() {
    let Some(yard) = Yard::new(1, 0) else { return };
    let (registry, nobody) = (yard.talos.registry().host(), yard.talos.gateway());
    let mirror = |host: &str| format!("endpoints: ['http://{host}']");
    let file = yard.file.replace(&mirror(&registry), &mirror(&format!("{nobody}:1")));
    assert_ne!(file, yard.file);
    yard.workplace.write("cluster.yaml", file);
    let ran = yard.up(&["--timeout", "etcd=60s"]);
    told(&ran, 3, &["error[SW0329]: cp-1 does not get ghcr.io/siderolabs/kubelet:v1.36.3"]);
    told(&ran, 3, &[&format!("dial tcp {nobody}:1: connect: connection refused")]);
    let leftovers = yard.talos.end();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

fn told(ran: &Ran, exit: i32, words: &[&str]) {
    assert_eq!(ran.exit, exit, "{ran}");
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` is missing: {ran}");
    }
}
