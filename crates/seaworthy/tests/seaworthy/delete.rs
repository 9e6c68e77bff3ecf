//! `delete` on a real API server.

use std::time::Duration;

use rig::proxy::{Fault, Matching, Rule};
use serde_json::{Value, json};

use crate::quay::{Quay, hear, interrupt};
use crate::workplace::Workplace;

/// A `ConfigMap` that a finalizer keeps.
const HELD: &str =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/stay]}}";

impl Quay {
    fn make_held(&self) {
        self.workplace.write("held.yaml", HELD);
        assert_eq!(self.run("apply", &["-f", "held.yaml"]).exit, 0);
    }

    fn names(&self) -> String {
        self.kubectl(&["get", "configmaps", "-o", "name"])
    }
}

#[test]
fn objects_go_by_name_by_labels_and_by_file() {
    let Some(quay) = Quay::reach() else { return };
    let namespace = quay.namespace.name();
    for name in ["a", "b", "c", "d"] {
        quay.kubectl(&["create", "configmap", name]);
    }
    quay.kubectl(&["label", "configmap", "b", "c", "app=web"]);
    quay.workplace.write("d.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}");

    let ran = quay.run("delete", &["cm/a", "-f", "d.yaml", "--dry-run"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stdout.contains(&format!("Would delete configmap/a in namespace {namespace}")));
    assert!(quay.names().contains("configmap/a"));

    let ran = quay.run("delete", &["cm", "-l", "app=web"]);
    assert_eq!((ran.exit, ran.stdout.matches("Deleted").count()), (0, 2), "{ran}");
    let ran = quay.run("delete", &["cm", "-l", "app=web"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, ""), "{ran}");
    assert!(ran.stderr.contains("nothing was there"), "{ran}");

    let ran = quay.run("delete", &["cm/a", "-f", "d.yaml"]);
    assert_eq!((ran.exit, ran.stdout.matches("Deleted").count()), (0, 2), "{ran}");
    let again = quay.run("delete", &["-f", "d.yaml"]);
    assert_eq!(again.exit, 0, "{again}");
    assert!(again.stderr.contains("Absent configmap/d"), "{again}");
    assert_eq!(quay.names().trim(), "configmap/kube-root-ca.crt");
}

#[test]
fn a_namespace_does_not_narrow_what_is_in_none() {
    let Some(quay) = Quay::reach() else { return };
    let namespace = quay.namespace.name();
    let label = format!("for={namespace}");
    let role = format!("{namespace}-role");
    quay.kubectl(&["create", "clusterrole", &role, "--verb=get", "--resource=pods"]);
    quay.kubectl(&["label", "clusterrole", &role, &label]);
    for args in [&["namespaces", "--all"][..], &["cm,clusterroles", "-l", &label]] {
        // Where it is not refused, nothing must go.
        let ran = quay.run("delete", &[args, &["--dry-run"]].concat());
        assert_eq!(ran.exit, 2, "{ran}");
        let told = format!("is in no namespace, so `-n {namespace}` would not keep the others");
        assert!(ran.stderr.contains(&told), "{ran}");
        assert!(ran.stderr.contains(&format!("leave `-n {namespace}` out")), "{ran}");
    }
    let named = quay.run("delete", &[&format!("clusterrole/{role}"), "--dry-run"]);
    assert_eq!(named.exit, 0, "{named}");
    let always = ["delete", "--kubeconfig", "kubeconfig", "clusterroles", "-l", &label];
    let ran = quay.workplace.run(always);
    assert_eq!((ran.exit, ran.stdout.matches("Deleted").count()), (0, 1), "{ran}");
}

#[test]
fn a_slip_of_a_name_deletes_nothing() {
    let Some(quay) = Quay::reach() else { return };
    quay.kubectl(&["create", "configmap", "a"]);
    let ran = quay.run("delete", &["cm/a", "cm/aa"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("is not there; nothing was deleted"), "{ran}");
    assert!(quay.names().contains("configmap/a\n"));
    let ran = quay.run("delete", &["cm/a", "cm/aa", "--ignore-not-found"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(!quay.names().contains("configmap/a\n"));
}

#[test]
fn what_is_stuck_is_told_with_its_finalizers_and_forced_when_told_to() {
    let Some(quay) = Quay::reach() else { return };
    quay.make_held();
    let ran = quay.run("delete", &["cm/held", "--timeout", "2s"]);
    assert_eq!(ran.exit, 6, "{ran}");
    for wanted in [
        "held in namespace",
        "is stuck: no change for 2s",
        "because  finalizer example.com/stay, set by seaworthy",
        "-o yaml",
        "--force-finalizers",
    ] {
        assert!(ran.stderr.contains(wanted), "{wanted}: {ran}");
    }
    let ran = quay.run("delete", &["cm/held", "--timeout", "1s", "-o", "json"]);
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&record["whole"], &record["objects"][0]["result"]),
        (&json!(false), &json!("stuck"))
    );

    let ran = quay.run("delete", &["cm/held", "--timeout", "1s", "--force-finalizers"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stderr.contains("Forced configmap/held"), "{ran}");
    assert!(ran.stdout.contains("Deleted configmap/held"), "{ran}");
    assert!(!quay.names().contains("held"));
}

/// Its objects would stay in the database, and come back with it.
#[test]
fn a_definition_with_objects_is_forced_only_when_told_twice() {
    let Some(quay) = Quay::reach() else { return };
    let group = format!("{}.example", quay.namespace.name());
    let text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{ name: \
         tugs.{group} }}\nspec:\n  group: {group}\n  scope: Namespaced\n  names: {{ kind: Tug, \
         plural: tugs }}\n  versions:\n  - {{ name: v1, served: true, storage: true, schema: {{ \
         openAPIV3Schema: {{ type: object }} }} }}\n---\napiVersion: {group}/v1\nkind: Tug\n\
         metadata: {{ name: t, finalizers: [example.com/stay] }}\n"
    );
    quay.workplace.write("tug.yaml", &text);
    let applied = quay.run("apply", &["-f", "tug.yaml"]);
    assert_eq!(applied.exit, 0, "{applied}");
    let doomed = format!("crd/tugs.{group}");
    let stuck = quay.run("delete", &[&doomed, "--timeout", "2s"]);
    assert_eq!(stuck.exit, 6, "{stuck}");
    assert!(!stuck.stderr.contains("--force-finalizers"), "{stuck}");
    let once = quay.run("delete", &[&doomed, "--timeout", "2s", "--force-finalizers"]);
    assert!(once.exit == 6 && once.stderr.contains("is not forced"), "{once}");
    let tug = format!("tug.{group}/t");
    let freed = quay.run("delete", &[&tug, "--timeout", "1s", "--force-finalizers"]);
    assert_eq!(freed.exit, 0, "{freed}");
    assert_eq!(quay.run("delete", &[&doomed, "--ignore-not-found"]).exit, 0);
}

#[test]
fn a_namespace_is_forced_only_when_told_twice() {
    let Some(quay) = Quay::reach() else { return };
    let name = format!("{}-inner", quay.namespace.name());
    let kubectl = quay.namespace.kubectl();
    kubectl.run(&["create", "namespace", &name]).unwrap();
    quay.workplace.write("held.yaml", HELD);
    let apply = ["apply", "--kubeconfig", "kubeconfig", "-n", &name, "-f", "held.yaml"];
    assert_eq!(quay.workplace.run(apply).exit, 0);
    let doomed = format!("ns/{name}");
    let once = quay.run("delete", &[&doomed, "--timeout", "3s", "--force-finalizers"]);
    assert_eq!(once.exit, 6, "{once}");
    assert!(once.stderr.contains("is not forced"), "{once}");
    assert!(once.stderr.contains("or give `--force-finalizers` twice"), "{once}");
    assert!(once.stderr.contains("configmap/held, kept by example.com/stay"), "{once}");
    let next = format!("seaworthy delete configmap/held -n {name} --force-finalizers");
    assert!(once.stderr.contains(&next), "{once}");
    let flag = "--force-finalizers";
    let twice = quay.run("delete", &[&doomed, "--timeout", "3s", flag, flag]);
    assert_eq!(twice.exit, 0, "{twice}");
    // What was left in it is out of reach now, unless the namespace comes back.
    kubectl.run(&["create", "namespace", &name]).unwrap();
    let inside = ["delete", "--kubeconfig", "kubeconfig", "-n", &name, "cm/held", flag];
    let ran = quay.workplace.run(inside.iter().chain(&["--timeout", "1s"]));
    assert_eq!(ran.exit, 0, "{ran}");
    assert_eq!(quay.run("delete", &[&doomed]).exit, 0);
}

#[test]
fn nobody_waits_where_that_is_not_wished() {
    let Some(quay) = Quay::reach() else { return };
    quay.make_held();
    quay.kubectl(&["create", "configmap", "a"]);
    let ran = quay.run("delete", &["cm/a", "cm/held", "--no-wait"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stdout.contains("Deleted configmap/a"), "{ran}");
    assert!(ran.stdout.contains("Marked configmap/held"), "{ran}");
    assert_eq!(quay.run("delete", &["cm/held", "--timeout", "1s", "--force-finalizers"]).exit, 0);
}

#[test]
fn ctrl_c_says_what_was_still_awaited() {
    let Some(quay) = Quay::reach() else { return };
    quay.make_held();
    let mut child = quay.start("delete", &["cm/held"]);
    hear(&mut child, "finalizer example.com/stay is left");
    let (exit, said) = interrupt(child);
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("Awaited configmap/held"), "{said}");
    assert_eq!(quay.run("delete", &["cm/held", "--timeout", "1s", "--force-finalizers"]).exit, 0);
}

/// Whatever became of it: gone, awaited, or never asked for.
#[test]
fn every_object_of_an_interrupted_delete_has_a_record() {
    let Some(quay) = Quay::reach() else { return };
    quay.make_held();
    let maps = (0..50).map(|index| {
        format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m{index:02}, labels: {{app: \
             many}}}}}}\n---\n"
        )
    });
    quay.workplace.write("many.yaml", maps.collect::<String>());
    assert_eq!(quay.run("apply", &["-f", "many.yaml"]).exit, 0);
    let proxy = quay.proxy();
    let slow = Fault::Delay(Duration::from_secs(3));
    proxy.add(Rule::always(Matching::class("delete", "configmaps"), slow));
    let args = ["cm/held", "-f", "many.yaml", "-o", "json"];
    let mut child = quay.start_as("proxied", "delete", &args);
    let mut counts = proxy.counts();
    let asked = counts.wait_for(|counts| counts.of("delete", "configmaps") >= 32);
    tokio::runtime::Runtime::new().unwrap().block_on(asked).unwrap();
    let mut out = child.stdout.take().unwrap();
    let (exit, said) = interrupt(child);
    assert_eq!(exit, 5, "{said}");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut out, &mut text).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    let objects = record["objects"].as_array().unwrap();
    let count = |result: &str| objects.iter().filter(|one| one["result"] == result).count();
    assert_eq!(objects.len(), 51, "{text}");
    assert_eq!((count("awaited"), count("left")), (32, 19), "{text}");
    assert!(said.contains("Left 19 objects, not asked for"), "{said}");
    proxy.behave();
    assert_eq!(quay.run("delete", &["cm", "-l", "app=many"]).exit, 0);
    let force = ["cm/held", "--timeout", "1s", "--force-finalizers", "--ignore-not-found"];
    assert_eq!(quay.run("delete", &force).exit, 0);
}

#[test]
fn ctrl_c_before_the_first_deletion_deletes_nothing() {
    let Some(quay) = Quay::reach() else { return };
    quay.kubectl(&["create", "configmap", "a"]);
    let proxy = quay.proxy();
    let slow = Fault::Delay(Duration::from_mins(1));
    proxy.add(Rule::always(Matching::class("get", "configmaps"), slow));
    let child = quay.start_as("proxied", "delete", &["cm/a"]);
    let mut counts = proxy.counts();
    let asked = counts.wait_for(|counts| counts.of("get", "configmaps") > 0);
    tokio::runtime::Runtime::new().unwrap().block_on(asked).unwrap();
    let (exit, said) = interrupt(child);
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("nothing was changed"), "{said}");
    assert!(quay.names().contains("configmap/a"));
}

/// After a refusal it asks whether there is a cluster at all.
#[test]
fn ctrl_c_ends_the_last_question_too() {
    let Some(quay) = Quay::reach() else { return };
    let proxy = quay.proxy();
    proxy.add(Rule::always(Matching::class("get", "configmaps"), Fault::Status(401)));
    let slow = Fault::Delay(Duration::from_mins(1));
    proxy.add(Rule::always(Matching::path("/version"), slow));
    let child = quay.start_as("proxied", "delete", &["cm/a"]);
    let mut counts = proxy.counts();
    let asked = counts.wait_for(|counts| counts.of("get", "/version") > 0);
    tokio::runtime::Runtime::new().unwrap().block_on(asked).unwrap();
    let (exit, said) = interrupt(child);
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("nothing was changed"), "{said}");
}

#[test]
fn custom_objects_go_before_their_definition() {
    let Some(quay) = Quay::reach() else { return };
    let group = format!("{}.example.com", quay.namespace.name());
    let crd = json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("buoys.{group}") },
        "spec": { "group": group, "scope": "Namespaced",
            "names": { "kind": "Buoy", "plural": "buoys", "singular": "buoy", "shortNames": ["by"] },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } } }] } });
    let buoy = json!({ "apiVersion": format!("{group}/v1"), "kind": "Buoy", "metadata": { "name": "red" } });
    quay.workplace.write("buoys.yaml", format!("{crd}\n---\n{buoy}\n"));
    assert_eq!(quay.run("apply", &["-f", "buoys.yaml"]).exit, 0);
    let by = format!("by.{group}/red");
    assert_eq!(quay.run("wait", &[&by, "--for", "create"]).exit, 0);
    let ran = quay.run("delete", &["-f", "buoys.yaml"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].contains("Deleted buoy.") && lines[1].contains("buoys."), "{ran}");
    // The kind is gone too: that is as wished for a file.
    let again = quay.run("delete", &["-f", "buoys.yaml"]);
    assert_eq!(again.exit, 0, "{again}");
}

#[test]
fn errors_while_waiting_are_told_and_never_taken_for_gone() {
    let Some(quay) = Quay::reach() else { return };
    quay.make_held();
    let proxy = quay.proxy();
    proxy.add(Rule::next(2, Matching::class("delete", "configmaps"), Fault::Status(503)));
    let ran = quay.run_as("proxied", "delete", &["cm/held", "--timeout", "3s"]);
    assert_eq!(ran.exit, 6, "{ran}");
    assert!(ran.stderr.contains("Trouble could not delete configmap/held"), "{ran}");
    assert!(ran.stderr.contains("2 looks failed"), "{ran}");
    assert!(ran.stderr.contains("; 2 looks failed on the way"), "{ran}");
    assert_eq!(quay.run("delete", &["cm/held", "--timeout", "1s", "--force-finalizers"]).exit, 0);
}

/// Also where all went well in the end, and where the error is one that does not pass.
#[test]
fn looks_that_failed_are_told_and_counted() {
    let Some(quay) = Quay::reach() else { return };
    quay.make_held();
    let proxy = quay.proxy();
    for code in [403, 500, 403] {
        proxy.add(Rule::next(1, Matching::class("list", "configmaps"), Fault::Status(code)));
    }
    let force = ["cm/held", "--timeout", "5s", "--force-finalizers", "-o", "json"];
    let ran = quay.run_as("proxied", "delete", &force);
    assert_eq!(ran.exit, 0, "{ran}");
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(record["failedLooks"].as_u64().unwrap() >= 2, "{ran}");
    assert!(ran.stderr.contains("Trouble could not list configmap"), "{ran}");
    assert!(ran.stderr.contains("looks failed on the way"), "{ran}");
}

#[test]
fn a_cluster_that_does_not_answer_is_a_failure_unless_it_counts_as_gone() {
    let Some(quay) = Quay::reach() else { return };
    let nobody = quay.kubeconfig_of_nobody();
    let ran = quay.run_as(&nobody, "delete", &["cm/a", "--timeout", "1s"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("connection refused by "), "{ran}");
    assert!(ran.stderr.contains("`--if-cluster-gone forget` takes its objects"), "{ran}");
    let ran = quay.run_as(&nobody, "delete", &["cm/a", "--if-cluster-gone", "forget"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stderr.contains("Forgotten the cluster counts as gone"), "{ran}");
    // Whoever may not is still known.
    let poor = quay.account_without_rights();
    let ran = quay.run_as(&poor, "delete", &["cm/a", "--if-cluster-gone", "forget"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("not allowed"), "{ran}");
    assert!(!ran.stderr.contains("gone for good"), "{ran}");
}

#[test]
fn mistakes_are_told_before_anything_is_asked() {
    let workplace = Workplace::new();
    let table: [(&[&str], &str); 5] = [
        (&[], "no object is named"),
        (&["cm", "--all", "-l", "a=b"], "cannot be used with"),
        (&["cm/a", "--no-wait", "--force-finalizers"], "cannot be used with"),
        (&["cm/a", "--if-cluster-gone", "cry"], "possible values: fail, forget"),
        (&["-f", "missing.yaml"], "could not read missing.yaml"),
    ];
    for (args, wanted) in table {
        let ran = workplace.run(["delete"].iter().chain(args));
        assert_eq!(ran.exit, 2, "{args:?}: {ran}");
        assert!(ran.stderr.contains(wanted), "{args:?}: {ran}");
    }
}

/// A load balancer that knows the name and not the path, a cluster's id with a slip.
#[test]
fn whoever_finds_nothing_at_all_is_no_cluster_without_objects() {
    let Some(quay) = Quay::reach() else { return };
    let proxy = quay.proxy();
    quay.workplace.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    let set = ["-f", "a.yaml", "--applyset", "shop"];
    assert_eq!(quay.run("apply", &set).exit, 0);
    proxy.add(Rule::always(Matching::any(), Fault::Status(404)));
    for (command, args) in
        [("delete", &set[..2]), ("delete", &["cm/a"]), ("drift", &set[2..]), ("drift", &set[..2])]
    {
        let ran = quay.run_as("proxied", command, args);
        assert_eq!(ran.exit, 4, "{ran}");
        assert!(ran.stderr.contains("no Kubernetes API answers there"), "{ran}");
        assert!(ran.stderr.contains("look at the server of the kubeconfig"), "{ran}");
    }
    assert!(quay.names().contains("configmap/a"));
}
