//! `talosconfig` and `kubeconfig` for clusters that other tools have made.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rig::talos::{Shape, TalosCluster};
use serde_json::Value;
use talos::credentials::Talosconfig;

use crate::talos_gen::{CLUSTER, bundle, workplace};
use crate::workplace::Workplace;
use crate::yard::{alone, until};

#[test]
fn a_talosconfig_says_what_was_asked_for() {
    let workplace = workplace(CLUSTER);
    let args = ["talosconfig", "--secrets", "mine.yaml", "--endpoint", "10.0.0.1"];
    let more = ["--endpoint", "10.0.0.2", "--node", "10.0.0.7", "--role", "os:reader"];
    let roles = ["--role", "os:etcd:backup", "--ttl", "2h", "--name", "far"];
    let ran = workplace.run(args.into_iter().chain(more).chain(roles));
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{ran}");
    let config = Talosconfig::from_yaml(&ran.stdout).unwrap();
    assert_eq!(config.current, "far");
    let context = config.current().unwrap();
    assert_eq!(
        (&*context.endpoints, &*context.nodes),
        (&["10.0.0.1".to_owned(), "10.0.0.2".to_owned()][..], &["10.0.0.7".to_owned()][..],)
    );
    let facts = context.identity.certificate().facts();
    assert_eq!(facts.organizations, ["os:reader", "os:etcd:backup"]);
    assert_eq!(facts.not_after.duration_since(facts.not_before).as_hours(), 2);
    assert!(context.identity.certificate().is_signed_by(bundle(1).os.certificate()));
}

/// A node is dialled by another one, at the usual port.
#[test]
fn a_talosconfig_says_a_port_only_of_endpoints() {
    let workplace = workplace(CLUSTER);
    let args = ["talosconfig", "--secrets", "mine.yaml", "--endpoint", "10.0.0.1:50000"];
    let ran = workplace.run(args.into_iter().chain(["--endpoint", "[fd00::1]:443"]));
    assert_eq!(ran.exit, 0, "{ran}");
    let config = Talosconfig::from_yaml(&ran.stdout).unwrap();
    let context = config.current().unwrap();
    assert_eq!(context.endpoints, ["10.0.0.1", "[fd00::1]:443"]);
    assert_eq!(context.nodes, ["10.0.0.1", "fd00::1"]);
    for (endpoint, why) in [
        ("", "it names no host"),
        ("a b", "no name and no address has a blank"),
        ("https://10.0.0.1", "leave the rest of the URL out"),
    ] {
        let ran = workplace.run(args[..3].iter().chain(&["--endpoint", endpoint]));
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{ran}");
        assert!(ran.stderr.contains(why), "{ran}");
    }
}

#[test]
fn machines_are_told_in_json() {
    let workplace = workplace(CLUSTER);
    for (command, name) in [("kubeconfig", "/clusters/0/name"), ("talosconfig", "/context")] {
        let args = [command, "--secrets", "mine.yaml", "--endpoint", "10.0.0.1", "--name", "far"];
        let json = |more: &[&str]| -> Value {
            let ran = workplace.run(args.iter().chain(&["-o", "json"]).chain(more));
            assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{ran}");
            serde_json::from_str(&ran.stdout).unwrap()
        };
        assert_eq!(json(&[]).pointer(name), Some(&Value::from("far")));
        assert_eq!(json(&["--out", command])["file"], command);
        assert!(workplace.read(command).contains("far"), "a file is YAML");
    }
}

#[test]
fn secrets_that_others_can_read_are_warned_of() {
    let workplace = workplace(CLUSTER);
    let mine = workplace.path().join("mine.yaml");
    fs::set_permissions(&mine, fs::Permissions::from_mode(0o640)).unwrap();
    let ran = workplace.run(["kubeconfig", "--secrets", "mine.yaml", "--endpoint", "a"]);
    let warned = "Warning others can read the secrets in mine.yaml: `chmod 600 mine.yaml`";
    assert!(ran.exit == 0 && ran.stderr.contains(warned), "{ran}");
}

#[test]
fn what_a_machine_config_says_need_not_be_said_again() {
    let workplace = workplace(CLUSTER);
    workplace.run(["talos", "gen", "--secrets", "mine.yaml"]);
    let ran = workplace.run(["kubeconfig", "--from", "demo/one.yaml", "--out", "kubeconfig"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, ""), "{ran}");
    let text = workplace.read("kubeconfig");
    assert!(text.contains("server: https://192.168.10.11:6443"), "{text}");
    assert!(text.contains("admin@demo"), "{text}");
    let ran = workplace.run(["kubeconfig", "--from", "demo/one.yaml", "--endpoint", "api.example"]);
    assert!(ran.stdout.contains("server: https://api.example:6443"), "{ran}");
}

#[test]
fn a_file_that_leads_to_other_clusters_is_not_lost() {
    let workplace = workplace(CLUSTER);
    workplace.write("config", "mine");
    let args = ["kubeconfig", "--secrets", "mine.yaml", "--endpoint", "a", "--out", "config"];
    let ran = workplace.run(args);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("config exists and is not overwritten"), "{ran}");
    assert_eq!(workplace.read("config"), "mine");
    let ran = workplace.run(args.into_iter().chain(["--force"]));
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(workplace.read("config").starts_with("apiVersion: v1"));
    let args = args.map(|arg| if arg == "config" { "away/config" } else { arg });
    let ran = workplace.run(args);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("there is no folder away: make it first"), "{ran}");
}

#[test]
fn mistakes_are_named() {
    let workplace = workplace(CLUSTER);
    for (args, message) in [
        (&["talosconfig", "--secrets", "mine.yaml"][..], "mine.yaml does not say where control"),
        (&["kubeconfig", "--secrets", "mine.yaml"], "mine.yaml does not say where the Kubernetes"),
        (
            &["kubeconfig", "cluster.yaml", "--secrets", "mine.yaml", "--endpoint", "a"],
            "a cluster of ours was named, and the secrets of another",
        ),
        (
            &["kubeconfig", "--secrets", "mine.yaml", "--endpoint", "http://a"],
            "`http://a` is no place of an API",
        ),
        (&["talosconfig", "--role", "os:readr"], "invalid value 'os:readr'"),
        (&["talosconfig", "--ttl", "11y"], "invalid value '11y'"),
        (&["talosconfig", "--from", "absent"], "could not read absent"),
        (&["talosconfig"], "could not read the secrets bundle"),
    ] {
        let ran = workplace.run(args);
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{ran}");
        assert!(ran.stderr.contains(&format!("error: {message}")), "{ran}");
    }
}

/// A bundle that is there and broken is that of a cluster which lives: nobody is
/// to make another.
#[test]
fn what_is_missing_is_told_with_what_to_do() {
    let workplace = workplace(CLUSTER);
    let hinted = |args: &[&str], error: &str, hint: &str| {
        let ran = workplace.run(args);
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{ran}");
        assert!(ran.stderr.contains(&format!("error: {error}")), "{ran}");
        assert!(ran.stderr.contains(&format!("hint: {hint}")), "{ran}");
        ran
    };
    let bundle = ".seaworthy/demo/secrets.yaml";
    hinted(&["talosconfig"], &format!("could not read the secrets bundle {bundle}"), "the cluster");
    workplace.write(bundle, "broken: [");
    let broken = format!("{bundle} is no good as a secrets bundle");
    for command in ["talosconfig", "kubeconfig"] {
        let ran = hinted(&[command], &broken, "bring the cluster's own bundle back");
        assert!(!ran.stderr.contains("seaworthy up"), "{ran}");
    }
    workplace.write(bundle, workplace.read("mine.yaml"));
    let none = "the cluster file has no control plane `two`";
    hinted(&["kubeconfig", "--endpoint", "two"], none, "there are: one");
    let from = ["talosconfig", "--from", "cluster.yaml", "--endpoint", "a"];
    hinted(&from, "could not use cluster.yaml", "name the config that a control plane was given");
    fs::remove_file(workplace.path().join("cluster.yaml")).unwrap();
    hinted(&["kubeconfig"], "could not read the cluster file", "the secrets of another cluster");
}

/// Nobody waits ten minutes for a cluster, to hear of a typo then.
#[test]
fn a_talosconfig_that_cannot_be_used_is_told_before_the_cluster_is_asked() {
    let workplace = workplace(CLUSTER);
    let place = ["--endpoint", "127.0.0.1:9"];
    let kubeconfig = ["kubeconfig", "--secrets", "mine.yaml", "--out", "kubeconfig"];
    assert_eq!(workplace.run(kubeconfig.iter().chain(&place)).exit, 0);
    let verify = ["verify", "--kubeconfig", "kubeconfig", "--talosconfig", "absent"];
    let ran = workplace.run(verify);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.starts_with("error: could not read absent: "), "{ran}");
    // No server is asked for a name whose first part is longer than any may be.
    let name = format!("{}.example", "a".repeat(64));
    let talosconfig = ["talosconfig", "--secrets", "mine.yaml", "--out", "mine", "--endpoint"];
    assert_eq!(workplace.run(talosconfig.iter().chain(&[name.as_str()])).exit, 0);
    let ran = workplace.run(["verify", "--kubeconfig", "kubeconfig", "--talosconfig", "mine"]);
    assert_eq!(ran.exit, 2, "{ran}");
    let told = format!("error: could not use the endpoint {name} of mine: the name cannot be ");
    assert!(ran.stderr.starts_with(&told), "{ran}");
}

/// What people have who made their cluster with talosctl: its folder.
#[test]
fn a_cluster_that_talosctl_made_takes_our_credentials() {
    let shape = Shape { control_planes: 1, workers: 0 };
    if rig::need::talos_parts().is_none() {
        return;
    }
    let _alone = alone();
    let cluster = TalosCluster::start_without_network(shape).unwrap();
    let address = cluster.control_planes()[0].address().to_string();
    let workplace = Workplace::new();
    let file = |name: &str| cluster.folder().join(name).display().to_string();
    let make = |args: &[&str], out: &str| {
        let ran = workplace.run(args.iter().chain(&["--out", out]));
        assert_eq!(ran.exit, 0, "{ran}");
        workplace.path().join(out).display().to_string()
    };
    let ctl = cluster.talos().talosctl();
    let secrets = file("secrets.yaml");
    let given = ["talosconfig", "--secrets", &secrets, "--endpoint", &address];
    let admin = make(&given, "admin");
    ctl.run(&["--talosconfig", &admin, "get", "machineconfig", "-o", "yaml"]).unwrap();
    let reader = make(&[&given[..], &["--role", "os:reader"]].concat(), "reader");
    ctl.run(&["--talosconfig", &reader, "version"]).unwrap();
    let refused = ctl.run(&["--talosconfig", &reader, "get", "machineconfig"]).unwrap_err();
    assert!(refused.to_string().contains("PermissionDenied"), "{refused}");

    let plane = file("controlplane.yaml");
    let kubeconfig = make(&["kubeconfig", "--from", &plane, "--ttl", "1h"], "kubeconfig");
    let kubectl = rig::kubectl::Kubectl::new(cluster.kubectl().binary(), kubeconfig.as_ref());
    let who = kubectl.run(&["auth", "whoami", "-o", "jsonpath={.status.userInfo.groups}"]).unwrap();
    assert!(who.contains("system:masters"), "{who}");

    let ran = workplace.run(["talos", "probe", &address, "--talosconfig", "reader"]);
    assert!(ran.exit == 0 && ran.stdout.contains("  ours  "), "{ran}");
    verified(&cluster, &workplace, &address);
    assert_eq!(cluster.end(), Vec::new());
}

/// `verify` says what such a cluster lacks, and then that it lacks nothing.
fn verified(cluster: &TalosCluster, workplace: &Workplace, address: &str) {
    let verify = |talosconfig: &str, more: &[&str]| {
        let files = ["verify", "--kubeconfig", "kubeconfig", "--talosconfig", talosconfig];
        workplace.run(files.iter().chain(more))
    };
    let registered = || cluster.kubectl().run(&["get", "nodes", "-o", "name"]);
    until(|| registered().is_ok_and(|nodes| !nodes.is_empty()));
    let ran = verify("reader", &["--gate", "api,etcd,cni"]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("error[SW0414]: 1 of 1 nodes have no pod network"), "{ran}");
    assert!(ran.stderr.contains("1 member, leader"), "{ran}");

    let secrets = workplace.path().join("other.yaml").display().to_string();
    cluster.talos().talosctl().run(&["gen", "secrets", "--output-file", &secrets]).unwrap();
    let other = ["talosconfig", "--secrets", &secrets, "--endpoint", address, "--out", "other"];
    assert_eq!(workplace.run(other).exit, 0);
    let ran = verify("other", &["--gate", "etcd"]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("error[SW0304]"), "{ran}");

    cluster.connect_pods().unwrap();
    let ran = verify("admin", &["--wait", "3m"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stderr.contains("1 node, by its own word"), "{ran}");
    assert!(ran.stderr.contains("1/1 machines ready"), "{ran}");
}
