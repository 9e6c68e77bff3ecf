//! What `talos gen` writes, judged by the real talosctl and by a real node.

use std::collections::BTreeMap;

use rig::talos::Talosctl;
use serde_json::{Value, json};

use crate::talos::until;
use crate::talos_gen::{CLUSTER, bundle, workplace};
use crate::workplace::Workplace;
use crate::yard::{Yard, serve};

fn judge(workplace: &Workplace) -> Option<Talosctl> {
    let binary = rig::need::binary("talosctl")?;
    Some(Talosctl::new(&binary, workplace.path()))
}

/// The versions of Talos that cluster files may name, each with a Kubernetes
/// that it runs.
const VERSIONS: [(&str, &str); 7] = [
    ("v1.8.4", "v1.31.1"),
    ("v1.9.6", "v1.32.3"),
    ("v1.10.9", "v1.33.4"),
    ("v1.11.6", "v1.34.2"),
    ("v1.12.4", "v1.34.2"),
    ("v1.13.6", "v1.34.2"),
    ("v1.14.1", "v1.34.2"),
];

fn written(version: (&str, &str)) -> Workplace {
    let cluster = CLUSTER.replace("v1.14.1", version.0).replace("v1.34.2", version.1);
    let workplace = workplace(&cluster);
    let ran = workplace.run(["talos", "gen", "--secrets", "mine.yaml"]);
    assert_eq!(ran.exit, 0, "{version:?}: {ran}");
    workplace
}

#[test]
fn talosctl_takes_what_was_written_in_every_mode() {
    for version in VERSIONS {
        let workplace = written(version);
        let Some(ctl) = judge(&workplace) else { return };
        for (node, mode) in ["one", "two"]
            .into_iter()
            .flat_map(|node| ["metal", "cloud", "container"].map(|mode| (node, mode)))
        {
            let file = format!("demo/{node}.yaml");
            ctl.run(&["validate", "--strict", "--mode", mode, "--config", &file])
                .unwrap_or_else(|error| panic!("{version:?} {node} {mode}: {error}"));
        }
    }
}

/// What the cluster file asks for, in the words of talosctl.
fn wishes() -> (Value, Value) {
    let subnets = json!(["192.168.10.0/24"]);
    let all = json!({
        "machine": { "kubelet": { "nodeIP": { "validSubnets": subnets } } },
        "cluster": { "network": {
            "cni": { "name": "none" }, "serviceSubnets": ["10.96.0.0/16"],
        } },
    });
    let planes = json!({ "cluster": { "etcd": { "advertisedSubnets": subnets } } });
    (all, planes)
}

/// The documents by their kind.
fn documents(text: &str) -> BTreeMap<String, Value> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
    let kind = |it: &Value| it["kind"].as_str().unwrap_or("main").to_owned();
    documents.into_iter().map(|it| (kind(&it), it)).collect()
}

/// What means the same: before 1.12 the endpoint is named twice where somebody
/// names it, too.
fn forgive(theirs: &mut Value) {
    if let Some(names) = theirs.pointer_mut("/cluster/apiServer/certSANs") {
        let names = names.as_array_mut().unwrap();
        let mut seen = Vec::new();
        names.retain(|name| {
            let is_new = !seen.contains(name);
            seen.push(name.clone());
            is_new
        });
    }
}

/// Names the first line that differs: all of them would fill a screen with keys.
fn first_difference(ours: &BTreeMap<String, Value>, theirs: &BTreeMap<String, Value>) -> String {
    let [ours, theirs] = [ours, theirs].map(|it| serde_json::to_string_pretty(it).unwrap());
    let lines = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
    lines.map_or("one is longer".to_owned(), |(ours, theirs)| format!("{ours} | {theirs}"))
}

#[test]
fn talosctl_writes_the_same_for_the_same_wishes() {
    for version @ (talos, kubernetes) in VERSIONS {
        // What 1.14 writes by default is another form, which 1.13 does not take.
        let minor = talos.rsplit_once('.').unwrap().0;
        let contract = if minor == "v1.14" { "v1.13" } else { minor };
        let one_document = ["v1.8", "v1.9", "v1.10", "v1.11"].contains(&minor);
        let workplace = written(version);
        let Some(ctl) = judge(&workplace) else { return };
        let (all, planes) = wishes();
        for (node, role) in [("one", "controlplane"), ("two", "worker")] {
            let ours = documents(&workplace.read(&format!("demo/{node}.yaml")));
            let names = ours["main"]["machine"]["certSANs"].as_array().unwrap();
            let names: Vec<_> = names.iter().map(|name| name.as_str().unwrap()).collect();
            // We name the host, where talosctl lets the node name itself.
            let own = if one_document {
                json!({ "machine": { "network": { "hostname": node } } })
            } else {
                let kind = "HostnameConfig";
                json!({ "apiVersion": "v1alpha1", "kind": kind, "hostname": node, "auto": "off" })
            };
            let [all, own, planes] = [&all, &own, &planes].map(ToString::to_string);
            let image = format!("ghcr.io/siderolabs/installer:{talos}");
            let mut args = vec!["gen", "config", "demo", "https://192.168.10.11:6443"];
            args.extend(["--with-secrets", "mine.yaml", "--talos-version", contract]);
            args.extend(["--kubernetes-version", &kubernetes[1..], "--install-disk", "/dev/vda"]);
            args.extend(["--install-image", &image, "--additional-sans"]);
            let sans = names.join(",");
            args.extend([sans.as_str(), "--output-types", role, "--output", "-"]);
            args.extend(["--with-docs=false", "--with-examples=false", "--config-patch", &all]);
            args.extend(["--config-patch", &own, "--config-patch-control-plane", &planes]);
            let mut theirs = documents(&ctl.run(&args).unwrap());
            forgive(theirs.get_mut("main").unwrap());
            assert!(ours == theirs, "{version:?} {node}: {}", first_difference(&ours, &theirs));
        }
    }
}

/// Everything that a cluster file can ask of machines.
const DEMANDING: &str = include_str!("fixtures/demanding-machines.yaml");

#[test]
fn whatever_the_file_asks_for_talos_can_take() {
    for version in VERSIONS {
        let cluster = DEMANDING.replace("v1.14.1", version.0).replace("v1.34.2", version.1);
        let workplace = workplace(&cluster);
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: { name: early }\n";
        workplace.write("early.yaml", namespace);
        workplace.write("approver.yaml", namespace);
        let etcd = bundle(1).etcd;
        workplace.write("tls.pem", etcd.certificate().pem());
        workplace.write("tls.key", etcd.key().pem().reveal());
        workplace.write("registry.txt", "username: robot\npassword: canary-hunter22\n");
        workplace.write("hub.txt", "token: canary-hunter23\n");
        let ran = workplace.run(["talos", "gen", "--secrets", "mine.yaml"]);
        assert_eq!(ran.exit, 0, "{version:?}: {ran}");
        let main = |node: &str| {
            documents(&workplace.read(&format!("demo/{node}.yaml"))).remove("main").unwrap()
        };
        let [one, two, three] = ["one", "two", "three"].map(main);
        let image = |config: &Value| config["machine"]["install"]["image"].clone();
        let factory = |schematic| format!("factory.talos.dev/installer/{schematic}:{}", version.0);
        assert_eq!(image(&one), factory("aaaa"));
        assert_eq!(image(&two), factory("bbbb"), "the pool's own");
        assert_eq!(image(&three), factory("aaaa"), "that of all");
        let inline = json!([{ "name": "early", "contents": namespace }]);
        assert_eq!(one["cluster"]["inlineManifests"], inline);
        assert_eq!(one["cluster"]["extraManifests"], json!(["https://example.com/more.yaml"]));
        assert_eq!(two["cluster"]["inlineManifests"], Value::Null, "workers apply nothing");
        let registries = &two["machine"]["registries"]["config"];
        let user = json!({ "username": "robot", "password": "canary-hunter22" });
        assert_eq!(registries["registry.example.com:5000"]["auth"], user);
        let hub = json!({ "identityToken": "canary-hunter23" });
        assert_eq!(registries["registry-1.docker.io"]["auth"], hub, "the host that is asked");
        for command in ["plan", "validate"] {
            let ran = workplace.run([command, "--output", "json"]);
            assert!(ran.exit == 0 && !ran.to_string().contains("canary"), "{ran}");
        }
        let card = &one["machine"]["network"]["interfaces"][0];
        assert_eq!(card["addresses"], json!(["192.168.10.11/24"]));
        assert_eq!(card["vip"]["ip"], "192.168.10.10");
        let plan = workplace.run(["plan"]);
        let shown = format!("installed from {}", factory("bbbb"));
        assert!(plan.stdout.contains(&shown), "{plan}");
        let Some(ctl) = judge(&workplace) else { return };
        for (node, mode) in ["one", "two", "three"]
            .into_iter()
            .flat_map(|node| ["metal", "cloud"].map(|it| (node, it)))
        {
            let file = format!("demo/{node}.yaml");
            ctl.run(&["validate", "--strict", "--mode", mode, "--config", &file])
                .unwrap_or_else(|error| panic!("{version:?} {node} {mode}: {error}"));
        }
    }
}

#[test]
fn talosctl_recovers_the_secrets_that_were_made() {
    let workplace = Workplace::new();
    let Some(ctl) = judge(&workplace) else { return };
    workplace.write("cluster.yaml", CLUSTER);
    let ran = workplace.run(["talos", "gen"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let args = ["gen", "secrets", "--from-controlplane-config", "demo/one.yaml"];
    ctl.run(&[&args[..], &["--output-file", "back.yaml"]].concat()).unwrap();
    assert_eq!(workplace.read("back.yaml"), workplace.read("demo/secrets.yaml"));
}

#[test]
fn a_real_node_takes_what_was_written_and_is_ours_then() {
    let Some(mut talos) = rig::need::talos() else { return };
    let address = talos.add("one").unwrap().address().to_string();
    let beside = address.rsplit_once('.').unwrap().0;
    let network = format!("{beside}.0/24");
    let cluster = CLUSTER.replace("192.168.10.11", &address).replace("192.168.10.0/24", &network);
    let workplace = workplace(&cluster.replace("192.168.10.12", &format!("{beside}.99")));
    let ran = workplace.run(["talos", "gen", "--secrets", "mine.yaml"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let config = workplace.path().join("demo/one.yaml").display().to_string();
    let apply = ["apply-config", "--insecure", "--nodes", &address, "--file", &config];
    until(|| talos.talosctl().run(&apply).map_err(|error| error.to_string()));
    let probe = ["talos", "probe", &address, "--talosconfig", "demo/talosconfig"];
    until(|| {
        let ran = workplace.run(probe);
        if ran.stdout.contains("  ours  ") { Ok(()) } else { Err(ran.to_string()) }
    });
    // And the real talosctl gets in with the same talosconfig.
    let talosconfig = workplace.path().join("demo/talosconfig").display().to_string();
    let hostname = ["--talosconfig", &talosconfig, "get", "hostname", "-o", "yaml"];
    until(|| match talos.talosctl().run(&hostname) {
        Ok(seen) if seen.contains("hostname: one") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    assert_eq!(talos.end(), Vec::new());
}

/// `up` sends what `gen` writes: the node sees no change from one to the other.
/// The secrets were there before the first run, and Talos applies what the file
/// leaves to it.
#[test]
fn a_node_that_up_has_configured_sees_no_change_in_what_is_written() {
    let Some(yard) = Yard::new(1, 0) else { return };
    let workplace = &yard.workplace;
    let inline = "    version: v1.14.1\n    inlineManifests: [{ name: early, file: early.yaml }]\n";
    // The file takes an extra manifest from `https` only, and nobody here has a
    // certificate that a node trusts: a patch brings it to the same place.
    let far = "apiVersion: v1\nkind: Namespace\nmetadata: { name: far }\n";
    let url = format!("{}far.yaml", serve(yard.talos.gateway(), far));
    let extra = format!("cluster: {{ extraManifests: ['{url}'], discovery:");
    let file = yard.file.replacen("    version: v1.14.1\n", inline, 1);
    let file = file.replacen("cluster: { discovery:", &extra, 1);
    assert!(file.contains(&url), "{file}");
    workplace.write("cluster.yaml", file);
    workplace.write("early.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: { name: early }\n");
    let secrets = bundle(3).to_yaml();
    std::fs::create_dir_all(workplace.path().join(".seaworthy/yard")).unwrap();
    workplace.write(".seaworthy/yard/secrets.yaml", secrets.reveal());
    let ran = yard.up(&[]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert_eq!(workplace.read(".seaworthy/yard/secrets.yaml"), secrets.reveal());

    let ran = workplace.run(["talos", "gen"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let at = |name: &str| workplace.path().join(name).display().to_string();
    let (config, talosconfig) = (at("yard/cp-1.yaml"), at("yard/talosconfig"));
    let mut dry_run = yard.talos.talosctl().command();
    dry_run.args(["--talosconfig", &talosconfig, "apply-config", "--dry-run", "--file", &config]);
    let output = dry_run.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("No changes."), "{said}");

    let ran = workplace.run(["kubeconfig", "--out", "kubeconfig"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let kubectl = rig::need::binary("kubectl").unwrap();
    let kubectl = rig::Kubectl::new(&kubectl, at("kubeconfig").as_ref());
    kubectl.run(&["get", "namespace", "early"]).unwrap();
    until(|| kubectl.run(&["get", "namespace", "far"]).map_err(|error| error.to_string()));
    assert_eq!(yard.talos.end(), Vec::new());
}
