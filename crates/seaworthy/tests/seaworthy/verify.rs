//! `verify` as a process: on a rehearsed cluster that was kept, and on a real
//! node with a real API server.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rig::{ControlPlane, Kubectl, Node, need};
use serde_json::{Value, json};

use crate::rehearsal::Stage;
use crate::workplace::{Ran, Workplace};

/// Runs verify with a kubeconfig.
fn verify(place: &Workplace, kubeconfig: &Path, more: &[&str]) -> Ran {
    let kubeconfig = kubeconfig.display().to_string();
    let args = ["verify", "--kubeconfig", &kubeconfig];
    place.run(args.iter().chain(more))
}

/// Makes what differs from run to run the same.
fn settled(ran: &Ran) -> String {
    let mut text = String::new();
    for word in ran.stderr.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end().trim_end_matches([':', ';']);
        let is_time = bare.strip_suffix('s').is_some_and(|it| it.parse::<f64>().is_ok());
        match bare {
            bare if is_time => text.push_str(&word.replace(bare, "0.0s")),
            bare if bare.starts_with("https://127.") => {
                text.push_str(&word.replace(bare, "https://SERVER"));
            }
            _ => text.push_str(word),
        }
    }
    text
}

const GATES: [&str; 6] = ["api", "etcd", "nodes", "cni", "workloads", "dns"];

/// The lines of the gates end in any order.
fn in_order(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let is_gate = |line: &&&str| {
        let mut words = line.split_whitespace();
        let verb = words.next().is_some_and(|verb| ["Passed", "Failed", "Unknown"].contains(&verb));
        verb && words.next().is_some_and(|word| GATES.contains(&word))
    };
    let gates = lines.iter().skip(2).take_while(is_gate);
    let end = 2 + gates.count();
    lines[2..end].sort_unstable();
    lines.join("\n")
}

fn shown(ran: &Ran) -> String {
    in_order(&settled(ran))
}

/// What is left in a folder.
fn left(place: &Workplace) -> Vec<String> {
    let entries = fs::read_dir(place.path()).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_kept_rehearsal_is_healthy() {
    let stage = Stage::new();
    let (exit, text) = stage.rehearse(&["--keep", "--speed", "60", "--until", "ready"]);
    assert_eq!(exit, 0, "{text}");
    let kubeconfig = stage.place.path().join(".seaworthy/demo.rehearsal-1/kubeconfig");
    let elsewhere = Workplace::new();
    let ran = verify(&elsewhere, &kubeconfig, &[]);
    assert_eq!(ran.exit, 0, "{ran}");
    insta::assert_snapshot!("verify_kept", shown(&ran));
    assert_eq!(left(&elsewhere), Vec::<String>::new(), "nothing is left where nobody asked");
    // What a simulator says is marked, in what machines read too.
    let ran = verify(&elsewhere, &kubeconfig, &["-o", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(ran.stdout.contains("\"simulated\": true"), "{}", ran.stdout);
    assert_eq!(report["outcome"], "healthy", "{report:#}");
    // What stays so for a while is proven.
    let ran = verify(&elsewhere, &kubeconfig, &["--gate", "api,nodes", "--stable", "1s"]);
    told(&ran, 0, &["Proven"]);
    // Asked for, the journal stays and its reports come from it.
    let ran = verify(&elsewhere, &kubeconfig, &["--state-dir", "kept"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let ran = elsewhere.run(["report", "--state-dir", "kept"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stdout.contains("REPORT.html"), "{ran}");
}

/// Of a node whose kubelet cannot start, Kubernetes knows nothing; its machine
/// knows the volume that is missing.
#[test]
fn machines_say_what_their_nodes_lack() {
    let stage = Stage::new();
    let fault = ["--keep", "--speed", "60", "--until", "ready", "--fault", "kubelet-volume-mount"];
    let (exit, text) = stage.rehearse(&fault);
    assert_eq!(exit, 3, "{text}");
    let place = &stage.place;
    let servers: Value =
        serde_json::from_str(&place.run(["sim", "servers", "-o", "json"]).stdout).unwrap();
    let workers = servers.as_array().unwrap().iter();
    let workers = workers.filter(|it| it["name"].as_str().unwrap().contains("worker"));
    let nodes: Vec<_> =
        workers.flat_map(|it| ["--node", it["address"].as_str().unwrap()]).collect();
    talosconfig(place, "talosconfig", &nodes);
    let look = || machines(place, "talosconfig", &[]);
    let unwell = look();
    assert_eq!(unwell.exit, 3, "{unwell}");
    assert!(unwell.stderr.contains("error[SW0312]: 1 of 5 machines is not ready"), "{unwell}");
    assert!(unwell.stderr.contains("kube-api-access"), "{unwell}");
    assert_eq!(place.run(["sim", "fault", "--mend", "kubelet-volume-mount"]).exit, 0);
    let mended = until(look, |ran| ran.exit == 0);
    told(&mended, 0, &["5/5 machines ready"]);
    machines_that_are_named_have_to_answer(place, &nodes);
    machines_that_only_kubernetes_knows_are_asked(place);
}

/// Writes a talosconfig of the rehearsed cluster.
fn talosconfig(place: &Workplace, name: &str, nodes: &[&str]) {
    let config = ["talosconfig", "--rehearsal", "--out", name];
    assert_eq!(place.run(config.iter().chain(nodes)).exit, 0);
}

/// Asks the machines of the rehearsed cluster.
fn machines(place: &Workplace, talosconfig: &str, more: &[&str]) -> Ran {
    let kubeconfig = ".seaworthy/demo.rehearsal-1/kubeconfig".as_ref();
    let gate = ["--talosconfig", talosconfig, "--gate", "machines"];
    verify(place, kubeconfig, &[&gate, more].concat())
}

/// What is not seen is not healthy.
fn machines_that_are_named_have_to_answer(place: &Workplace, nodes: &[&str]) {
    // No packet leaves for a broadcast address: there is no way to it.
    talosconfig(place, "beyond", &[nodes, &["--node", "127.255.255.255"]].concat());
    let why = "127.255.255.255 cannot be reached on port 50000: no route to the node";
    let message = "error[SW0301]: 1 of 6 machines did not answer";
    told(&machines(place, "beyond", &[]), 3, &[message, why, "leave it out of the talosconfig"]);
    // What is called by a name has to be known to Kubernetes by it.
    talosconfig(place, "called", &["--node", "demo-cp-1", "--node", "nobody"]);
    let why = "nobody: no Node is called so";
    told(&machines(place, "called", &["--machines", "named"]), 3, &["1 of 4 machines", why]);
}

/// Our own talosconfig names control planes only, so that `talosctl reset` is never
/// for all machines; `verify` asks workers all the same.
fn machines_that_only_kubernetes_knows_are_asked(place: &Workplace) {
    talosconfig(place, "own", &[]);
    told(&machines(place, "own", &[]), 0, &["5/5 machines ready"]);
    let named = machines(place, "own", &["--machines", "named"]);
    told(&named, 0, &["3/3 machines ready; 3 of 5 nodes asked"]);
}

fn told(ran: &Ran, exit: i32, words: &[&str]) {
    assert_eq!(ran.exit, exit, "{ran}");
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` is missing: {ran}");
    }
}

/// Looks again until something is so, or for a while.
fn until(look: impl Fn() -> Ran, is_so: impl Fn(&Ran) -> bool) -> Ran {
    for _ in 0..50 {
        let ran = look();
        if is_so(&ran) {
            return ran;
        }
        pause();
    }
    look()
}

/// A real node, without DNS.
#[test]
fn a_real_node_is_judged_by_what_it_says() {
    let Some((kubernetes, node)) = need::node() else { return };
    let place = Workplace::new();
    let all =
        verify(&place, kubernetes.access().kubeconfig(), &["--wait", "30s", "--gate", "nodes"]);
    assert_eq!(all.exit, 0, "{all}");
    no_dns(&place, &kubernetes);
    a_workload_that_cannot_start(&place, &kubernetes);
    rights(&place, &kubernetes);
    a_node_that_is_gone(&place, &kubernetes, node);
}

fn no_dns(place: &Workplace, kubernetes: &ControlPlane) {
    let kubeconfig = kubernetes.access().kubeconfig();
    let ran = verify(place, kubeconfig, &[]);
    assert_eq!(ran.exit, 3, "{ran}");
    insta::assert_snapshot!("verify_without_dns", masked(&shown(&ran), kubernetes));
    let ran = verify(place, kubeconfig, &["--gate", "api,etcd,nodes,cni,workloads"]);
    assert_eq!(ran.exit, 0, "{ran}");
    insta::assert_snapshot!("verify_some_gates", masked(&shown(&ran), kubernetes));
}

fn masked(text: &str, kubernetes: &ControlPlane) -> String {
    let version = kubernetes.kubectl().run(&["version", "-o", "json"]).unwrap();
    let version: Value = serde_json::from_str(&version).unwrap();
    let version = version["serverVersion"]["gitVersion"].as_str().unwrap();
    let kubeconfig = kubernetes.access().kubeconfig().display().to_string();
    let text = text.replace(kubernetes.access().server(), "https://SERVER");
    text.replace(version, "VERSION").replace(&kubeconfig, "KUBECONFIG")
}

/// The reason is found behind the workload, with the real kubelet's words.
fn a_workload_that_cannot_start(place: &Workplace, kubernetes: &ControlPlane) {
    let broken = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": "broken", "namespace": "kube-system" },
        "spec": { "replicas": 1, "selector": { "matchLabels": { "app": "broken" } },
            "template": { "metadata": { "labels": { "app": "broken" } }, "spec": { "containers": [{
                "name": "main", "image": "rig.local/nothing:v1", "imagePullPolicy": "Never" }] } } },
    });
    kubernetes.kubectl().apply(&broken.to_string()).unwrap();
    let mut ran = verify(place, kubernetes.access().kubeconfig(), &["--gate", "workloads"]);
    for _ in 0..100 {
        if ran.stderr.contains("container main: ErrImageNeverPull") {
            break;
        }
        pause();
        ran = verify(place, kubernetes.access().kubeconfig(), &["--gate", "workloads"]);
    }
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("error[SW0601]: 1 of 1 system workloads is not ready"), "{ran}");
    assert!(ran.stderr.contains("container main: ErrImageNeverPull"), "{ran}");
    kubernetes.kubectl().run(&["-n", "kube-system", "delete", "deployment", "broken"]).unwrap();
}

/// With just the printed role verify sees all; what is taken away is not seen,
/// and never called healthy.
fn rights(place: &Workplace, kubernetes: &ControlPlane) {
    let granted = place.run(["verify", "--print-rbac"]);
    assert_eq!(granted.exit, 0, "{granted}");
    kubernetes.kubectl().apply(&granted.stdout).unwrap();
    let granted = place.run(["verify", "--print-rbac", "-o", "json"]);
    let granted: Value = serde_json::from_str(&granted.stdout).unwrap();
    let role = &granted["items"][0];
    let kubeconfig = as_account(place, kubernetes);
    let ran = verify(place, &kubeconfig, &["--gate", "api,etcd,nodes,cni,workloads"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let ran = verify(place, &kubeconfig, &[]);
    assert!(
        ran.stderr.contains("error[SW0314]: the cluster has no DNS"),
        "seen, and judged: {ran}"
    );
    for (gate, resource) in [
        ("api", "apiservices"),
        ("nodes", "leases"),
        ("nodes", "nodes"),
        ("cni", "daemonsets"),
        ("workloads", "statefulsets"),
        ("dns", "services"),
    ] {
        kubernetes.kubectl().apply(&without(role, resource).to_string()).unwrap();
        let ran = until_refused(place, &kubeconfig, gate);
        assert_eq!(ran.exit, 3, "{gate} without {resource}: {ran}");
        assert!(ran.stderr.contains("error[SW0102]"), "{gate} without {resource}: {ran}");
        assert!(ran.stderr.contains("not allowed"), "{gate} without {resource}: {ran}");
        let grant = "seaworthy verify --print-rbac --bind-user system:serviceaccount:kube-system:";
        assert!(ran.stderr.contains(grant), "{gate} without {resource}: {ran}");
        assert!(ran.stderr.contains("Unknown"), "neither passed nor failed: {ran}");
    }
}

/// The API server takes a moment to see that a right is gone.
fn until_refused(place: &Workplace, kubeconfig: &Path, gate: &str) -> Ran {
    let look = || verify(place, kubeconfig, &["--gate", gate]);
    until(look, |ran| ran.stderr.contains("not allowed"))
}

/// The role without a resource, and without a rule that has none left.
fn without(role: &Value, resource: &str) -> Value {
    let mut role = role.clone();
    let rules = role["rules"].as_array_mut().unwrap();
    for resources in rules.iter_mut().filter_map(|rule| rule["resources"].as_array_mut()) {
        resources.retain(|one| one != resource);
    }
    rules.retain(|rule| rule["resources"].as_array().is_none_or(|left| !left.is_empty()));
    role
}

/// A kubeconfig for the service account that was printed: it has the role and nothing else.
fn as_account(place: &Workplace, kubernetes: &ControlPlane) -> PathBuf {
    let kubectl = kubernetes.kubectl();
    let ask = |line: &str| kubectl.run(&line.split(' ').collect::<Vec<_>>()).unwrap();
    let token = ask("-n kube-system create token seaworthy-verify");
    let mut config: Value =
        serde_json::from_slice(&fs::read(kubernetes.access().kubeconfig()).unwrap()).unwrap();
    config["users"][0]["user"] = json!({ "token": token.trim() });
    place.write("verifier.json", config.to_string())
}

fn a_node_that_is_gone(place: &Workplace, kubernetes: &ControlPlane, node: Node) {
    let name = node.name().to_owned();
    cordon(kubernetes.kubectl(), &name);
    let ran = verify(place, kubernetes.access().kubeconfig(), &["--gate", "nodes"]);
    assert!(ran.stderr.contains("1/1 ready, 1 cordoned"), "{ran}");
    drop(node);
    let mut ran = verify(place, kubernetes.access().kubeconfig(), &["--gate", "nodes"]);
    for _ in 0..300 {
        if ran.exit == 3 {
            break;
        }
        pause();
        ran = verify(place, kubernetes.access().kubeconfig(), &["--gate", "nodes"]);
    }
    assert_eq!(ran.exit, 3, "{ran}");
    let told = ran.stderr.contains("error[SW0313]: 1 of 1 nodes is not ready")
        || ran.stderr.contains("the cluster has no node");
    assert!(told, "{ran}");
}

fn cordon(kubectl: &Kubectl, name: &str) {
    kubectl.run(&["cordon", name]).unwrap();
}

#[test]
fn doors_that_are_closed_are_told_apart() {
    let Some(kubernetes) = need::control_plane() else { return };
    let place = Workplace::new();
    let config: Value =
        serde_json::from_slice(&fs::read(kubernetes.access().kubeconfig()).unwrap()).unwrap();

    // Nobody is there.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut dead = config.clone();
    dead["clusters"][0]["cluster"]["server"] = format!("https://{closed}").into();
    let ran = verify(&place, &place.write("dead.json", dead.to_string()), &[]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("refused") && ran.stderr.contains("--wait"), "{ran}");

    // Somebody is there, and does not know us.
    let mut stranger = config.clone();
    stranger["users"][0]["user"] = json!({ "token": "hunter22" });
    let ran = verify(&place, &place.write("stranger.json", stranger.to_string()), &[]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("does not know who asks"), "{ran}");
    assert!(!ran.stderr.contains("hunter22"), "{ran}");

    // The certificate is of another authority.
    let mut other = config.clone();
    let user = other["users"][0]["user"]["client-certificate-data"].clone();
    other["clusters"][0]["cluster"]["certificate-authority-data"] = user;
    let ran = verify(&place, &place.write("other.json", other.to_string()), &[]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("certificate"), "{ran}");

    // A control plane without a node is not healthy. What the kubeconfig names
    // lies beside it, wherever verify runs.
    let mut beside = config.clone();
    let user = beside["users"][0]["user"].as_object_mut().unwrap();
    for (key, file) in [("client-certificate", "me.crt"), ("client-key", "me.key")] {
        let data = user.remove(&format!("{key}-data")).unwrap();
        place.write(file, STANDARD.decode(data.as_str().unwrap()).unwrap());
        user.insert(key.to_owned(), file.into());
    }
    let beside = place.write("beside.json", beside.to_string());
    let elsewhere = Workplace::new();
    let ran = verify(&elsewhere, &beside, &["--gate", "nodes"]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("the cluster has no node"), "{ran}");
}

#[test]
fn what_was_asked_wrongly_is_told_with_the_nearest_name() {
    let place = Workplace::new();
    let ran = place.run(["verify"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("--kubeconfig"), "{ran}");
    let ran = verify(&place, Path::new("nowhere"), &[]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("could not read the kubeconfig nowhere"), "{ran}");
    let ran = verify(&place, Path::new("nowhere"), &["--gate", "node"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("did you mean `nodes`?"), "{ran}");
    let ran = verify(&place, Path::new("nowhere"), &["--gate", "machines"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("machines are asked with a talosconfig"), "{ran}");
    let broken = place.write("broken", "clusters: [\n");
    let ran = verify(&place, &broken, &[]);
    assert_eq!(ran.exit, 2, "{ran}");
    let config = json!({ "apiVersion": "v1", "kind": "Config", "clusters": [], "users": [],
        "contexts": [{ "name": "production", "context": { "cluster": "a", "user": "a" } }] });
    let config = place.write("config", config.to_string());
    let ran = verify(&place, &config, &["--context", "prodction"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("did you mean `production`?"), "{ran}");
}

#[expect(clippy::disallowed_methods, reason = "real components are waited for")]
fn pause() {
    std::thread::sleep(Duration::from_millis(200));
}
