//! What people really install, by the command line: applied, applied again,
//! and taken away.

use std::collections::BTreeSet;

use rig::{Kubectl, Namespace, manifests};

use crate::kwok::Yard;
use crate::quay::Quay;

#[test]
fn cilium_comes_stays_and_goes() {
    let Some(text) = manifests::cilium() else { return };
    come_stay_and_go(&text);
}

#[test]
fn flux_comes_stays_and_goes() {
    let Some(text) = manifests::flux() else { return };
    come_stay_and_go(&text);
}

#[test]
fn cert_manager_comes_stays_and_goes() {
    let Some(text) = manifests::cert_manager() else { return };
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: cert-manager}\n---\n";
    // Its job asks the webhook from inside, and nothing runs inside here.
    let label = "\n        app.kubernetes.io/component: \"startupapicheck\"";
    let text = text.replace(label, &format!("{label}\n        fate: done"));
    come_stay_and_go(&format!("{namespace}{text}"));
}

fn come_stay_and_go(text: &str) {
    let Some(yard) = Yard::open() else { return };
    let quay = Quay::at(Namespace::create(yard.plane.access()).unwrap());
    let before = everything(yard.plane.kubectl());
    std::fs::create_dir(quay.workplace.path().join("set")).unwrap();
    quay.workplace.write("set/all.yaml", text);

    let come = quay.run("apply", &["-f", "set", "--wait", "--timeout", "2m"]);
    assert_eq!(come.exit, 0, "{come}");
    let stay = quay.run("apply", &["-f", "set"]);
    assert_eq!(stay.exit, 0, "{stay}");
    assert_eq!(stay.stdout, "", "nothing is changed: {stay}");
    let same = quay.run("diff", &["-f", "set"]);
    assert_eq!(same.exit, 0, "{same}");
    let go = quay.run("delete", &["-f", "set"]);
    assert_eq!(go.exit, 0, "{go}");
    // What they owned goes after them.
    let left = || {
        let after = everything(yard.plane.kubectl());
        after.difference(&before).cloned().collect::<Vec<String>>()
    };
    for _ in 0..60 {
        if left().is_empty() {
            return;
        }
    }
    panic!("something is left behind: {:?}", left());
}

/// The names of all objects of the cluster, but for what happens to them.
fn everything(kubectl: &Kubectl) -> BTreeSet<String> {
    let kinds = kubectl.run(&["api-resources", "--verbs=list", "-o", "name", "--cached=false"]);
    let kinds = kinds.unwrap();
    let lasting: Vec<&str> = kinds.lines().filter(|kind| !kind.starts_with("events")).collect();
    let name = "jsonpath={range .items[*]}{.kind} {.metadata.namespace} {.metadata.name}\n{end}";
    let all = kubectl.run(&["get", &lasting.join(","), "-A", "-o", name]).unwrap();
    all.lines().map(str::to_owned).collect()
}
