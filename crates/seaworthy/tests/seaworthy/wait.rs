//! `wait` on a real API server.

use rig::proxy::{Fault, Matching, Rule};
use serde_json::Value;

use crate::quay::{Quay, hear, interrupt};
use crate::workplace::Workplace;

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, labels: { app: web } }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: app, image: none }] }
";

#[test]
fn objects_are_met_by_name_by_labels_and_by_file() {
    let Some(quay) = Quay::reach() else { return };
    quay.kubectl(&["create", "configmap", "a", "--from-literal=size=3"]);
    quay.kubectl(&["label", "configmap", "a", "app=web"]);
    quay.kubectl(&["create", "secret", "generic", "b"]);
    quay.workplace.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    let ran = quay.run("wait", &["cm/a", "secrets/b", "-f", "a.yaml"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, ""), "{ran}");
    assert!(ran.stderr.contains("Ready configmap/a after"), "{ran}");
    assert!(ran.stderr.contains("all 2 objects are ready"), "{ran}");
    for args in [
        &["ConfigMap", "a", "--for", "create"][..],
        &["configmaps.v1", "-l", "app=web", "--for", "field=data.size>2"],
        &["cm/a", "--for", "jsonpath={.data.size}~^3$", "--stable", "1s"],
        &["cm/gone", "--for", "delete"],
        &["cm", "-A", "-l", "app=web", "--for", "field=data.size=3"],
    ] {
        let ran = quay.run("wait", args);
        assert_eq!(ran.exit, 0, "{args:?}: {ran}");
    }
    let ran = quay.run("wait", &["cm/a", "-o", "json"]);
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (record["met"].clone(), record["objects"][0]["name"].clone()),
        (true.into(), "a".into())
    );
}

#[test]
fn what_comes_and_what_goes_ends_the_wait() {
    let Some(quay) = Quay::reach() else { return };
    let mut child = quay.start("wait", &["cm/late", "--for", "create"]);
    hear(&mut child, "late: it is not there");
    quay.kubectl(&["create", "configmap", "late"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut child = quay.start("wait", &["cm/late", "--for", "delete"]);
    hear(&mut child, "nobody has deleted it");
    quay.kubectl(&["delete", "configmap", "late"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_wait_that_fails_tells_the_chain_of_causes() {
    let Some(quay) = Quay::reach() else { return };
    quay.workplace.write("web.yaml", DEPLOYMENT);
    assert_eq!(quay.run("apply", &["-f", "web.yaml"]).exit, 0);
    // There is no node for the pod.
    let ran = quay.run("wait", &["-f", "web.yaml", "--grace", "1s"]);
    assert_eq!(ran.exit, 3, "{ran}");
    in_order(
        &ran.stderr,
        &[
            "does not get ready by itself",
            "because  deployment web:",
            "←  replicaset web-",
            "←  pod web-",
            "kubectl -n",
        ],
    );
    let ran = quay.run("wait", &["deploy/web", "--grace", "1s", "-o", "json"]);
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(record["objects"][0]["result"], "hopeless", "{ran}");
    assert!(record["objects"][0]["chain"][1].as_str().unwrap().starts_with("replicaset web-"));
}

#[test]
fn a_crash_on_a_real_node_is_told_down_to_its_last_words() {
    let Some((plane, node)) = rig::need::node() else { return };
    let quay = Quay::at(rig::Namespace::create(plane.access()).unwrap());
    let container = format!(
        "{{ name: app, image: '{}', imagePullPolicy: Never, args: [juggle] }}",
        rig::node::POD_IMAGE
    );
    let crash = DEPLOYMENT.replace("{ name: app, image: none }", &container);
    quay.workplace.write("crash.yaml", crash);
    assert_eq!(quay.run("apply", &["-f", "crash.yaml"]).exit, 0);
    // Without a probe a container counts as ready from its start to its crash.
    let ran = quay.run("wait", &["-f", "crash.yaml", "--stable", "20s", "--grace", "3s"]);
    assert_eq!(ran.exit, 3, "{ran}");
    in_order(
        &ran.stderr,
        &[
            "deployment.apps/web in namespace",
            "does not get ready by itself: container app",
            "because  deployment web:",
            "←  replicaset web-",
            "←  pod web-",
            "←  container app:",
            "←  event: BackOff",
            "←  log of app: rig-pod: unknown command \"juggle\"",
        ],
    );
    let ran = quay.run("delete", &["-f", "crash.yaml", "--propagation", "foreground"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(quay.kubectl(&["get", "pods", "-o", "name"]).is_empty());
    drop(quay);
    assert_eq!(node.end(), Vec::new());
}

#[track_caller]
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        rest = rest.split_once(part).unwrap_or_else(|| panic!("{part} is missing: {text}")).1;
    }
}

#[test]
fn what_is_not_so_in_time_is_told_with_what_it_is() {
    let Some(quay) = Quay::reach() else { return };
    quay.kubectl(&["create", "configmap", "a", "--from-literal=size=3"]);
    let table: [(&[&str], &str); 4] = [
        (&["cm/a", "--for", "field=data.size>3", "--timeout", "1s"], "because  data.size is 3"),
        (&["cm/b", "--existence-timeout", "1s"], "configmap/b in namespace "),
        (&["cm", "-l", "app=x", "--existence-timeout", "1s"], "with app=x is there"),
        (&["cm/a", "--for", "delete", "--timeout", "1s"], "nobody has deleted it"),
    ];
    for (args, wanted) in table {
        let ran = quay.run("wait", args);
        assert_eq!(ran.exit, 3, "{args:?}: {ran}");
        assert!(ran.stderr.contains(wanted), "{args:?}: {ran}");
    }
}

#[test]
fn looks_that_fail_are_told_and_repeated() {
    let Some(quay) = Quay::reach() else { return };
    quay.kubectl(&["create", "configmap", "a"]);
    let proxy = quay.proxy();
    proxy.add(Rule::next(2, Matching::class("list", "configmaps"), Fault::Status(503)));
    let ran = quay.run_as("proxied", "wait", &["cm/a"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert_eq!(ran.stderr.matches("Trouble could not list configmap").count(), 1, "{ran}");
    assert!(ran.stderr.contains("Ready configmap/a"), "{ran}");
}

#[test]
fn ctrl_c_says_what_was_still_awaited() {
    let Some(quay) = Quay::reach() else { return };
    quay.kubectl(&["create", "configmap", "a"]);
    let mut child = quay.start("wait", &["cm/a", "cm/late", "--for", "create"]);
    hear(&mut child, "There configmap/a");
    let (exit, said) = interrupt(child);
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("Awaited configmap/late: it is not there"), "{said}");
    assert!(said.contains("Interrupted after"), "{said}");
}

#[test]
fn an_api_that_says_no_is_told_as_such() {
    let Some(quay) = Quay::reach() else { return };
    let poor = quay.account_without_rights();
    let ran = quay.run_as(&poor, "wait", &["cm/a"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("could not see whether configmap/a"), "{ran}");
    assert!(ran.stderr.contains("resources: [\"configmaps\"], verbs: [\"get\"]"), "{ran}");
    let expired = quay.kubeconfig_with("expired", &serde_json::json!({ "token": "nonsense" }));
    let ran = quay.run_as(&expired, "wait", &["cm/a"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("get a fresh kubeconfig or token"), "{ran}");
    let ran = quay.run_as(&quay.kubeconfig_of_nobody(), "wait", &["cm/a", "--timeout", "1s"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("connection refused by "), "{ran}");
    let ran = quay.run("wait", &["deploymnt/web"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("serves no kind `deploymnt`, did you mean `deployment`?"), "{ran}");
    let ran = quay.run("wait", &["cm/a", "--for", "rollout"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("configmap has no rollout to wait for"), "{ran}");
}

#[test]
fn mistakes_are_told_before_anything_is_asked() {
    let workplace = Workplace::new();
    let table: [(&[&str], &str); 9] = [
        (&[], "no object is named"),
        (&["deploy"], "`deploy` names no object"),
        (&["a/b/c"], "`a/b/c` is not KIND/NAME"),
        (&["cm", "-l", "app in x"], "`app in x` is no requirement on labels"),
        (&["cm/a", "-A"], "`--all-namespaces` goes with"),
        (&["cm/a", "--for", "redy"], "did you mean `ready`?"),
        (&["cm/a", "--for", "jsonpath={.a"], "`{` is not closed"),
        (&["cm/a", "--timeout", "0s"], "expected more than nothing"),
        (&["cm/a", "--kubeconfig", "nowhere"], "could not read the kubeconfig nowhere"),
    ];
    for (args, wanted) in table {
        let ran = workplace.run(["wait"].iter().chain(args));
        assert_eq!(ran.exit, 2, "{args:?}: {ran}");
        assert!(ran.stderr.contains(wanted), "{args:?}: {ran}");
    }
}
