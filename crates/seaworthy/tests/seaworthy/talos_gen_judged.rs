//! What `talos gen` writes, judged by the real talosctl and by a real node.

use std::collections::BTreeMap;

use rig::talos::Talosctl;
use serde_json::{Value, json};

use crate::talos::until;
use crate::talos_gen::{CLUSTER, workplace};
use crate::workplace::Workplace;

fn judge(workplace: &Workplace) -> Option<Talosctl> {
    let binary = rig::need::binary("talosctl")?;
    Some(Talosctl::new(&binary, workplace.path()))
}

/// A version of Talos that cluster files may name, with a Kubernetes that it runs.
const VERSIONS: [(&str, &str); 3] =
    [("v1.12.4", "v1.34.2"), ("v1.13.6", "v1.34.2"), ("v1.14.1", "v1.34.2")];

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
    let planes = json!({
        "cluster": { "proxy": { "disabled": true }, "etcd": { "advertisedSubnets": subnets } },
    });
    (all, planes)
}

/// The documents by their kind.
fn documents(text: &str) -> BTreeMap<String, Value> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
    let kind = |it: &Value| it["kind"].as_str().unwrap_or("main").to_owned();
    documents.into_iter().map(|it| (kind(&it), it)).collect()
}

#[test]
fn talosctl_writes_the_same_for_the_same_wishes() {
    for version @ (talos, kubernetes) in VERSIONS {
        // What 1.14 writes by default is another form, which 1.13 does not take.
        let contract = if talos.starts_with("v1.14") { "v1.12" } else { &talos[..5] };
        let workplace = written(version);
        let Some(ctl) = judge(&workplace) else { return };
        let (all, planes) = wishes();
        for (node, role) in [("one", "controlplane"), ("two", "worker")] {
            let ours = documents(&workplace.read(&format!("demo/{node}.yaml")));
            let names = ours["main"]["machine"]["certSANs"].as_array().unwrap();
            let names: Vec<_> = names.iter().map(|name| name.as_str().unwrap()).collect();
            let own = json!({
                "apiVersion": "v1alpha1", "kind": "HostnameConfig", "hostname": node, "auto": "off",
            });
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
            // An empty mapping is like none, and 1.13 leaves it out.
            let network = &mut theirs.get_mut("main").unwrap()["machine"]["network"];
            if network.is_null() {
                *network = json!({});
            }
            assert_eq!(ours, theirs, "{version:?} {node}");
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
