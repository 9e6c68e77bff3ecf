//! `talos gen`: what it writes, where the secrets come from, and what it says
//! to mistakes.

use std::fs;
use std::path::Path;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::Value;
use talos::credentials::Talosconfig;
use talos::pki::PrivateKey;
use talos::secrets::Bundle;

use crate::rehearsal::Stage;
use crate::workplace::{Ran, Workplace};

/// One control plane and one worker on machines.
pub(crate) const CLUSTER: &str = include_str!("fixtures/two-machines.yaml");

/// One control plane and one worker at Hetzner, without a load balancer.
const ALONE: &str = include_str!("fixtures/no-balancer.yaml");

/// A bundle with a quick key for service accounts, as Talos accepts it.
pub(crate) fn bundle(seed: u64) -> Bundle {
    let (key, now) = (PrivateKey::p256().unwrap(), events::Clock::real().now());
    Bundle::generate(key, now, &mut StdRng::seed_from_u64(seed)).unwrap()
}

/// A workplace with a cluster file and secrets.
pub(crate) fn workplace(cluster: &str) -> Workplace {
    let workplace = Workplace::new();
    workplace.write("cluster.yaml", cluster);
    let network = "apiVersion: v1\nkind: Namespace\nmetadata: { name: network }\n";
    workplace.write("network.yaml", network);
    let mine = workplace.path().join("mine.yaml");
    events::private::write(&mine, bundle(1).to_yaml().reveal().as_bytes()).unwrap();
    workplace
}

fn refused(ran: &Ran, message: &str) {
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains(&format!("error: {message}")), "{ran}");
    assert_eq!(ran.stdout, "", "{ran}");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_are_private_and_only_replaced_by_force() {
    use std::os::unix::fs::PermissionsExt as _;
    let workplace = workplace(CLUSTER);
    let ran = workplace.run(["talos", "gen", "--secrets", "mine.yaml"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let folder = workplace.path().join("demo");
    assert_eq!(names(&folder), ["one.yaml", "talosconfig", "two.yaml"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for name in names(&folder) {
        assert_eq!(mode(&folder.join(name)), 0o600);
    }
    workplace.write("demo/one.yaml", "mine");
    fs::remove_file(folder.join("two.yaml")).unwrap();
    let again = ["talos", "gen", "--secrets", "mine.yaml"];
    refused(&workplace.run(again), "not overwritten: demo/one.yaml, demo/talosconfig");
    assert_eq!(names(&folder), ["one.yaml", "talosconfig"], "nothing was begun");
    assert_eq!(workplace.read("demo/one.yaml"), "mine");
    let ran = workplace.run(again.into_iter().chain(["--force"]));
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(workplace.read("demo/one.yaml").starts_with("version: v1alpha1"), "{ran}");
}

#[test]
fn a_new_bundle_is_made_once_and_found_again() {
    let workplace = workplace(CLUSTER);
    let ran = workplace.run(["talos", "gen", "-o", "json"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["secrets"]["new"], true);
    assert_eq!(told["files"][0], "demo/secrets.yaml", "before any config");
    let secrets = workplace.read("demo/secrets.yaml");
    let one = workplace.read("demo/one.yaml");
    let ran = workplace.run(["talos", "gen", "-o", "json", "--force"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.exit, &told["secrets"]["new"]), (0, &Value::from(false)), "{ran}");
    assert_eq!(workplace.read("demo/secrets.yaml"), secrets);
    assert_eq!(workplace.read("demo/one.yaml"), one, "the same secrets give the same config");
    let printed = workplace.run(["talos", "gen", "--print", "one"]);
    assert_eq!((printed.exit, printed.stdout), (0, one.clone()));
    let printed = workplace.run(["talos", "gen", "--print", "one", "-o", "json"]);
    let told: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!((&told["node"], &told["config"]), (&Value::from("one"), &Value::from(one)));
    let other = workplace.run(["talos", "gen", "--force", "--secrets", "mine.yaml"]);
    refused(&other, "mine.yaml and demo/secrets.yaml are different secrets bundles");
}

#[test]
fn the_clusters_own_secrets_come_first_and_stay_alone() {
    let workplace = workplace(CLUSTER);
    fs::create_dir_all(workplace.path().join(".seaworthy/demo")).unwrap();
    let own = bundle(2);
    workplace.write(".seaworthy/demo/secrets.yaml", own.to_yaml().reveal());
    let ran = workplace.run(["talos", "gen"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stderr.contains("Secrets of .seaworthy/demo/secrets.yaml"), "{ran}");
    let config = workplace.read("demo/one.yaml");
    assert_eq!(Bundle::from_machine_config(&config).unwrap(), own);
    assert!(!workplace.path().join("demo/secrets.yaml").exists(), "no second copy");
    let ran = workplace.run(["talos", "gen", "--secrets", "mine.yaml", "--out", "other"]);
    refused(&ran, "mine.yaml and .seaworthy/demo/secrets.yaml are different secrets bundles");
    assert!(!workplace.path().join("other").exists());
    // Recovered from its own config they are the same, and give the same.
    let ran = workplace.run(["talos", "gen", "--from", "demo/one.yaml", "--out", "again"]);
    assert_eq!(ran.exit, 0, "{ran}");
    for file in ["one.yaml", "two.yaml"] {
        let read = |folder: &str| workplace.read(&format!("{folder}/{file}"));
        assert_eq!(read("demo"), read("again"));
    }
}

#[test]
fn a_talosconfig_leads_to_the_control_planes() {
    let workplace = workplace(CLUSTER);
    workplace.run(["talos", "gen", "--secrets", "mine.yaml"]);
    let config = Talosconfig::from_yaml(&workplace.read("demo/talosconfig")).unwrap();
    assert_eq!(config.current, "demo");
    let context = config.current().unwrap();
    assert_eq!(context.endpoints, ["192.168.10.11"]);
    assert!(context.identity.certificate().is_signed_by(bundle(1).os.certificate()));
}

#[test]
fn patches_of_the_file_are_in_the_configs_of_their_nodes() {
    let patches = "    version: v1.14.1\n    patches:\n      - { inline: { machine: { sysctls: \
                   { a: '1' } } }, on: control-plane }\n      - { file: more.yaml, on: storage }\n";
    let workplace = workplace(&CLUSTER.replacen("    version: v1.14.1\n", patches, 1));
    workplace.write("more.yaml", "machine:\n  env: {FAR: away}\n");
    let ran = workplace.run(["talos", "gen", "--secrets", "mine.yaml"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let [one, two] = ["one", "two"].map(|node| workplace.read(&format!("demo/{node}.yaml")));
    assert!(one.contains("sysctls:") && !one.contains("FAR: away"), "{one}");
    assert!(two.contains("FAR: away") && !two.contains("sysctls:"), "{two}");

    workplace.write("more.yaml", "[{op: remove, path: /machine/nothing}]\n");
    let ran = workplace.run(["talos", "gen", "--secrets", "mine.yaml", "--force"]);
    refused(&ran, "there is no machine config for two");
    assert!(ran.stderr.contains("more.yaml, line 1, `/machine/nothing`"), "{ran}");
    assert_eq!(workplace.read("demo/two.yaml"), two, "the old one stays");
}

#[test]
fn inline_manifests_have_to_be_objects() {
    let inline = "    version: v1.14.1\n    inlineManifests: [{ name: early, file: early.yaml }]\n";
    let workplace = workplace(&CLUSTER.replacen("    version: v1.14.1\n", inline, 1));
    let told = |message: &str| {
        for command in [&["validate"][..], &["talos", "gen", "--secrets", "mine.yaml"]] {
            let ran = workplace.run(command);
            refused(&ran, "could not use the inline manifest `early`: ");
            assert!(ran.stderr.contains(message), "{ran}");
        }
    };
    told("early.yaml: No such file");
    workplace.write("early.yaml", "# nothing\n");
    told("there is no object in early.yaml");
    workplace.write("early.yaml", "kind: Namespace\nmetadata: { name: early }\n");
    told("early.yaml");
    workplace.write("early.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: { name: early }\n");
    assert_eq!(workplace.run(["validate"]).exit, 0);
}

#[test]
fn addresses_that_hetzner_assigns_are_asked_for() {
    let workplace = workplace(include_str!("../../../../examples/hetzner.yaml"));
    let generate = |more: &[&str]| {
        let given = ["talos", "gen", "--secrets", "mine.yaml"];
        workplace.run(given.iter().chain(more))
    };
    let ran = generate(&[]);
    refused(&ran, "the address of the load balancer demo-api is in every machine config");
    assert!(ran.stderr.contains("--load-balancer ADDRESS"), "{ran}");
    assert!(!workplace.path().join("demo").exists());
    refused(&generate(&["--address", "cp-1=203.0.113.1"]), "the cluster file has no node `cp-1`");

    let ran = generate(&["--load-balancer", "203.0.113.9", "--address", "demo-cp-1=203.0.113.1"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let lacking = "Note the public addresses of demo-cp-2, demo-cp-3";
    assert!(ran.stderr.contains(lacking), "{ran}");
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(&workplace.read("demo/demo-cp-1.yaml")).unwrap();
    let main = &documents[0];
    assert_eq!(main["cluster"]["controlPlane"]["endpoint"], "https://203.0.113.9:6443");
    let names: Vec<_> = main["machine"]["certSANs"].as_array().unwrap().iter().collect();
    for name in ["203.0.113.9", "203.0.113.1", "demo-cp-1"] {
        assert!(names.contains(&&Value::from(name)), "{names:?}");
    }
    let config = Talosconfig::from_yaml(&workplace.read("demo/talosconfig")).unwrap();
    assert_eq!(config.current().unwrap().endpoints[0], "203.0.113.1");
}

#[test]
fn mistakes_are_named_and_nothing_is_written() {
    let workplace = workplace(CLUSTER);
    let config = "machine: {type: worker}\ncluster: {clusterName: demo}\n";
    workplace.write("worker.yaml", config);
    workplace.write("broken.yaml", "certs: [hunter22");
    workplace.write("file", "");
    let generate = |more: &[&str]| workplace.run(["talos", "gen"].iter().chain(more));
    for (args, message) in [
        (&["--secrets", "absent"][..], "could not read absent: "),
        (&["--secrets", "broken.yaml"], "could not use broken.yaml: it is not a secrets bundle"),
        (&["--secrets", "worker.yaml"], "could not use worker.yaml: it is not a secrets bundle"),
        (&["--from", "worker.yaml"], "could not use worker.yaml: it is not the machine config of"),
        (&["--from", "mine.yaml"], "could not use mine.yaml: it is not the machine config of"),
        (&["--print", "one"], "there are no secrets, and a config that is only printed"),
        (&["--print", "three", "--secrets", "mine.yaml"], "the cluster file has no node `three`"),
        (&["--secrets", "mine.yaml", "--out", "file"], "could not make the folder file: "),
        (&["--secrets", "mine.yaml", "--out", "file/a"], "could not make the folder "),
        (&["--secrets", "mine.yaml", "--out", "/proc"], "could not write /proc/one.yaml: "),
        (&["--load-balancer", "10.0.0.1"], "the cluster file asks for no load balancer"),
        (&["absent.yaml"], "could not read the cluster file absent.yaml"),
        (&["--address", "one"], "invalid value 'one' for '--address <NODE=ADDRESS>'"),
        (&["--secrets", "mine.yaml", "--from", "mine.yaml"], "the argument '--secrets <FILE>'"),
    ] {
        let ran = generate(args);
        refused(&ran, message);
        assert!(!ran.stderr.contains("hunter22"), "{ran}");
    }
    // A bundle that leads nowhere is there, and no other is made beside it.
    fs::create_dir_all(workplace.path().join(".seaworthy/demo")).unwrap();
    let own = workplace.path().join(".seaworthy/demo/secrets.yaml");
    std::os::unix::fs::symlink(&own, &own).unwrap();
    refused(&generate(&[]), "could not read .seaworthy/demo/secrets.yaml: ");
    fs::remove_file(own).unwrap();
    assert!(generate(&["--secrets", "worker.yaml"]).stderr.contains("name it with `--from`"));
    assert!(generate(&["--from", "mine.yaml"]).stderr.contains("name it with `--secrets`"));
    assert!(!workplace.path().join("demo").exists());

    fs::create_dir_all(workplace.path().join("demo/talosconfig")).unwrap();
    refused(&generate(&["--secrets", "mine.yaml", "--force"]), "demo/talosconfig is a folder");
    assert_eq!(names(&workplace.path().join("demo")), ["talosconfig"]);
    workplace.write("cluster.yaml", CLUSTER.replace("name: two", "name: secrets"));
    refused(&generate(&["--secrets", "mine.yaml", "--out", "x"]), "the node `secrets` would have");
}

/// To make keys takes seconds, and they are lost where they cannot be kept.
#[test]
fn no_keys_are_made_where_none_can_be_kept() {
    let workplace = workplace(CLUSTER);
    workplace.write("file", "");
    for (out, message) in [
        ("file", "could not make the folder file: "),
        ("/proc", "could not write /proc/secrets.yaml: "),
    ] {
        let ran = workplace.run(["talos", "gen", "--out", out]);
        refused(&ran, message);
        assert!(!ran.stderr.contains("Making"), "{ran}");
    }
}

/// The journal of a run holds the digest of every config that was sent: to the
/// byte it is what `gen` writes, once it is told what the cloud has assigned.
#[test]
fn what_is_written_is_what_up_sends_to_the_byte() {
    let stage = Stage::new();
    configured(&stage, &[]);
    let kubeconfig = stage.place.run(["kubeconfig", "--rehearsal"]).stdout;
    let balancer = kubeconfig.split("server: https://").nth(1).unwrap().split(':').next().unwrap();
    written_as_sent(&stage, &["--load-balancer", balancer]);
}

/// The endpoint is then the first server's public address, which `gen` does not
/// find out by itself.
#[test]
fn without_a_load_balancer_too_what_is_written_is_what_up_sends() {
    let stage = Stage::new();
    stage.place.write("alone.yaml", ALONE);
    configured(&stage, &["alone.yaml"]);
    written_as_sent(&stage, &[]);
    a_kubeconfig_leads_where_the_configs_do(&stage);
}

fn a_kubeconfig_leads_where_the_configs_do(stage: &Stage) {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(&stage.place.read("demo/demo-cp-1.yaml")).unwrap();
    let endpoint = documents[0]["cluster"]["controlPlane"]["endpoint"].as_str().unwrap();
    let ran = stage.place.run(["kubeconfig", "--rehearsal"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stdout.contains(&format!("server: {endpoint}\n")), "{endpoint}: {ran}");
    let ran = stage.place.run(["kubeconfig", "--rehearsal", "--endpoint", "lb"]);
    refused(&ran, "the cluster file asks for no load balancer");
    assert!(ran.stderr.contains("hint: there are: demo-cp-1"), "{ran}");
}

/// Rehearses until every node has its config.
fn configured(stage: &Stage, more: &[&str]) {
    let args = ["--keep", "--speed", "60", "--until", "config"];
    let (exit, told) = stage.rehearse(&[&args, more].concat());
    assert_eq!(exit, 0, "{told}");
}

/// Compares what `gen` writes with what the rehearsal has sent.
fn written_as_sent(stage: &Stage, more: &[&str]) {
    let servers = stage.place.run(["sim", "servers", "-o", "json"]).stdout;
    let servers: Value = serde_json::from_str(&servers).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let addresses = servers.as_array().unwrap().iter().flat_map(|server| {
        ["--address".to_owned(), format!("{}={}", text(&server["name"]), text(&server["address"]))]
    });
    let [file, secrets] =
        ["cluster.yaml", "secrets.yaml"].map(|it| format!(".seaworthy/demo.rehearsal-1/{it}"));
    let known = [&["talos", "gen", &file, "--secrets", &secrets], more].concat();
    let ran = stage.place.run(known.into_iter().map(str::to_owned).chain(addresses));
    assert_eq!(ran.exit, 0, "{ran}");

    let journal = fs::read_to_string(stage.journals().pop().unwrap()).unwrap();
    let events = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let calls = events.map(|event| event["event"]["what"]["call"].clone());
    let sent: Vec<_> = calls.filter(|call| call["kind"] == "apply config to").collect();
    assert_eq!(sent.len(), servers.as_array().unwrap().len(), "{sent:?}");
    for call in sent {
        let node = text(&call["name"]).split(' ').next().unwrap().to_owned();
        let written = stage.place.read(&format!("demo/{node}.yaml"));
        let digest = events::Digest::of(written.as_bytes()).to_string();
        assert_eq!(call["request"], digest, "{node}");
    }
}
