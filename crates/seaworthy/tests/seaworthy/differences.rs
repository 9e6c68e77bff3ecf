//! `diff` and `drift` on a real API server.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::shore::{Shore, map};

/// A secret whose value must not be seen anywhere.
fn secret(value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{ name: s }}\nstringData: {{ p: {value} }}\n---\n"
    )
}

/// Whoever compares two logs sees whether a secret has changed between them.
#[test]
fn marks_of_secrets_are_the_same_in_every_command() {
    let Some(shore) = Shore::reach() else { return };
    shore.workplace.write("app.yaml", secret("canary-one"));
    let new = || shore.run("diff", &["-f", "app.yaml"]);
    let (first, second) = (new(), new());
    assert!(first.stdout.contains("(hidden "), "{first}");
    assert_eq!(first.stdout, second.stdout);
    shore.workplace.write("app.yaml", secret("canary-two"));
    assert_ne!(first.stdout, new().stdout);
    let key = shore.workplace.path().join(".cache/seaworthy/veil.key");
    let mode = std::fs::metadata(key).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn a_diff_tells_what_an_apply_would_do_and_does_nothing() {
    let Some(shore) = Shore::reach() else { return };
    let before = map("a", "1") + &map("b", "1") + &map("same", "1") + &secret("canary-one");
    shore.workplace.write("app.yaml", before);
    let set = ["-f", "app.yaml", "--applyset", "shop", "--prune"];
    assert_eq!(shore.run("apply", &set).exit, 0);
    let same = shore.run("diff", &set);
    assert_eq!((same.exit, same.stdout.as_str()), (0, ""), "{same}");
    assert!(same.stderr.contains("Same 4 objects in "), "{same}");

    let after = map("a", "2") + &map("same", "1") + &secret("canary-two") + &map("new", "1");
    shore.workplace.write("app.yaml", after);
    let ran = shore.run("diff", &set);
    assert_eq!(ran.exit, 7, "{ran}");
    let namespace = shore.namespace.name();
    let lines = [
        format!("~ configmap/a in namespace {namespace}\n    ~ data.k: \"1\" → \"2\"\n"),
        format!("~ secret/s in namespace {namespace}\n    ~ data.p: (hidden "),
        format!("+ configmap/new in namespace {namespace}\n    + data.k: \"1\"\n"),
        format!("- configmap/b in namespace {namespace}\n      no longer in the manifests\n"),
    ];
    for line in lines {
        assert!(ran.stdout.contains(&line), "no `{line}`: {ran}");
    }
    assert!(!ran.stdout.contains("configmap/same"), "{ran}");
    let sum = "Different 4 objects: 1 to create, 2 to change, 1 to prune in ";
    assert!(ran.stderr.contains(sum), "{ran}");

    let json = shore.run("diff", &[&set[..], &["-o", "json", "--exit-code", "kubectl"]].concat());
    assert_eq!(json.exit, 1, "{json}");
    let record: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(record["objects"][0]["differences"][0]["path"], "data.k");
    assert_eq!(
        (&record["objects"][3]["result"], &record["pruned"][0]["name"]),
        (&"new".into(), &"b".into())
    );
    for text in [&ran.stdout, &ran.stderr, &json.stdout] {
        assert!(!text.contains("canary") && !text.contains("Y2FuYXJ5"), "{text}");
    }
    assert_eq!(shore.kubectl(&["get", "cm", "a", "-o", "jsonpath={.data.k}"]), "1");
}

/// A Deployment with two variables, the first one first.
fn deployment(first: &str, second: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: web }}\nspec:\n  replicas: 0\n  \
         selector: {{ matchLabels: {{ app: web }} }}\n  template:\n    metadata: {{ labels: {{ app: \
         web }} }}\n    spec:\n      containers:\n      - name: app\n        image: example.test/a\n\
         \x20       env:\n        - {{ name: {first}, value: x }}\n        - {{ name: {second}, value: \
         x }}\n"
    )
}

/// The fields are the same, but the pods are not.
#[test]
fn another_order_is_a_difference() {
    let Some(shore) = Shore::reach() else { return };
    shore.workplace.write("web.yaml", deployment("A", "B"));
    let file = ["-f", "web.yaml"];
    assert_eq!(shore.run("apply", &file).exit, 0);
    assert_eq!(shore.run("diff", &file).exit, 0);
    shore.workplace.write("web.yaml", deployment("B", "A"));
    let path = "spec.template.spec.containers[name=\"app\"].env";
    let told = format!("~ {path}: in another order: A, B → B, A\n");
    let ran = shore.run("diff", &file);
    assert_eq!(ran.exit, 7, "{ran}");
    assert!(ran.stdout.contains(&told), "{ran}");
    assert!(ran.stderr.contains("Different 1 object: 1 to change"), "{ran}");
    let json = shore.run("diff", &[&file[..], &["-o", "json"]].concat());
    let record: Value = serde_json::from_str(&json.stdout).unwrap();
    let difference = &record["objects"][0]["differences"][0];
    assert_eq!(difference["new"]["order"], serde_json::json!(["B", "A"]), "{json}");
    // It is we who want another one, as far as anybody can tell.
    let newer = shore.run("drift", &file);
    assert_eq!(newer.exit, 0, "{newer}");
    assert!(newer.stderr.contains("1 field differs because the manifests changed"), "{newer}");
    let applied = shore.run("apply", &file);
    assert!(applied.stdout.contains("Configured"), "{applied}");
    assert_eq!(shore.run("diff", &file).exit, 0);
    // Somebody else turns it round, and changes something besides.
    let image = "example.test/b";
    let turned = deployment("A", "B").replace("example.test/a", image);
    shore.workplace.write("turned.yaml", &turned);
    let turned = shore.workplace.path().join("turned.yaml");
    shore.kubectl(&["replace", "-f", &turned.display().to_string()]);
    let drifted = shore.run("drift", &file);
    assert_eq!(drifted.exit, 7, "{drifted}");
    let told = format!("~ {path}: in another order: B, A → A, B\n");
    assert!(drifted.stdout.contains(&told), "{drifted}");
    assert!(drifted.stdout.contains("changed, perhaps by kubectl-replace"), "{drifted}");
}

#[test]
fn what_an_apply_would_refuse_ends_a_diff_as_refused() {
    let Some(shore) = Shore::reach() else { return };
    shore.kubectl(&["create", "cm", "theirs", "--from-literal=k=theirs"]);
    let missing = "apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: w }\n---\n";
    shore.workplace.write("app.yaml", map("theirs", "1") + &map("fresh", "1") + missing);
    let ran = shore.run("diff", &["-f", "app.yaml"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("`data.k` belongs to kubectl-create"), "{ran}");
    assert!(ran.stderr.contains("Widget"), "{ran}");
    assert!(ran.stdout.contains("+ configmap/fresh"), "the rest is told: {ran}");
    assert!(ran.stderr.contains("Not whole 3 objects: 1 to create, 2 failed in "), "{ran}");
    shore.workplace.write("app.yaml", map("theirs", "1"));
    let forced = shore.run("diff", &["-f", "app.yaml", "--force-conflicts"]);
    assert_eq!(forced.exit, 7, "{forced}");
    assert!(forced.stdout.contains("taken from kubectl-create"), "{forced}");
}

#[test]
fn drift_tells_what_was_never_applied_from_what_has_drifted() {
    let Some(shore) = Shore::reach() else { return };
    shore.kubectl(&["create", "cm", "theirs", "--from-literal=k=theirs"]);
    shore.workplace.write("app.yaml", map("theirs", "1"));
    let theirs = shore.run("drift", &["-f", "app.yaml"]);
    assert_eq!(theirs.exit, 7, "{theirs}");
    let told = "none of its fields is ours: others have made it, or changed all that we applied; \
                1 field not as in the manifests";
    assert!(theirs.stdout.contains("? configmap/theirs in namespace"), "{theirs}");
    assert!(theirs.stdout.contains(told), "{theirs}");
    assert!(theirs.stderr.contains("Not ours 1 object: 1 without a field of ours"), "{theirs}");
    assert!(!theirs.stderr.contains("Drifted"), "{theirs}");
    let json = shore.run("drift", &["-f", "app.yaml", "-o", "json"]);
    let record: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&record["drifted"], &record["exit"]), (&false.into(), &7.into()), "{json}");
    assert_eq!(record["objects"][0]["result"], "not ours", "{json}");
    // The same value does not make it ours.
    shore.workplace.write("app.yaml", map("theirs", "theirs"));
    let same = shore.run("drift", &["-f", "app.yaml"]);
    assert!(same.exit == 7 && same.stdout.contains("none of its fields is ours"), "{same}");
    // Nor does what we applied stay ours, once others have set all of it.
    shore.workplace.write("app.yaml", map("taken", "1"));
    assert_eq!(shore.run("apply", &["-f", "app.yaml"]).exit, 0);
    shore.kubectl(&["patch", "cm", "taken", "-p", r#"{"data":{"k":"2"}}"#]);
    let taken = shore.run("drift", &["-f", "app.yaml"]);
    assert!(taken.exit == 7 && taken.stdout.contains("or changed all that we applied"), "{taken}");
    let missing = shore.workplace.write("app.yaml", map("missing", "1"));
    let ran = shore.run("drift", &["-f", &missing.display().to_string()]);
    assert!(ran.exit == 7 && ran.stdout.contains("never applied, or deleted since"), "{ran}");
    shore.workplace.write("app.yaml", map("theirs", "1"));
    assert_eq!(shore.run("apply", &["-f", "app.yaml", "--force-conflicts"]).exit, 0);
    assert_eq!(shore.run("drift", &["-f", "app.yaml"]).exit, 0);
}

#[test]
fn drift_tells_what_others_did_and_not_what_is_newer() {
    let Some(shore) = Shore::reach() else { return };
    let all = map("a", "1") + &map("b", "1") + &map("c", "1") + &secret("canary-one");
    shore.workplace.write("app.yaml", all);
    let set = ["-f", "app.yaml", "--applyset", "shop"];
    assert_eq!(shore.run("apply", &set).exit, 0);
    for args in [&set[..], &set[2..]] {
        let none = shore.run("drift", args);
        assert_eq!((none.exit, none.stdout.as_str()), (0, ""), "{none}");
        assert!(none.stderr.contains("No drift 4 objects in "), "{none}");
    }
    let newer = map("a", "1") + &map("b", "2") + &map("c", "1") + &secret("canary-one");
    shore.workplace.write("app.yaml", newer);
    let newer = shore.run("drift", &set);
    assert_eq!((newer.exit, newer.stdout.as_str()), (0, ""), "{newer}");
    assert!(newer.stderr.contains("`seaworthy diff` shows"), "{newer}");

    shore.kubectl(&["patch", "cm", "a", "--type=merge", "-p", r#"{"data":{"k":"theirs"}}"#]);
    shore.kubectl(&["patch", "secret", "s", "-p", r#"{"stringData":{"p":"canary-two"}}"#]);
    shore.kubectl(&["delete", "cm", "c"]);
    let ran = shore.run("drift", &set);
    assert_eq!(ran.exit, 7, "{ran}");
    assert!(
        ran.stdout.contains("~ data.k: \"1\" → \"theirs\"\n        by kubectl-patch at 20"),
        "{ran}"
    );
    assert!(ran.stdout.contains("~ data.p: (hidden "), "{ran}");
    assert!(ran.stdout.contains("- configmap/c in namespace "), "{ran}");
    assert!(
        ran.stderr.contains("Drifted 4 objects: 2 changed by others, 1 not there in "),
        "{ran}"
    );
    let members = shore.run("drift", &set[2..]);
    assert_eq!(members.exit, 0, "whether it was ours is not known: {members}");
    assert!(members.stdout.contains("+ data.k: \"theirs\"\n        by kubectl-patch"), "{members}");
    assert!(members.stderr.contains("No verdict 3 objects: 2 set by others"), "{members}");
    let json = shore.run("drift", &[&set[..], &["-o", "json"]].concat());
    let record: Value = serde_json::from_str(&json.stdout).unwrap();
    let results: Vec<&str> = record["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["result"].as_str().unwrap())
        .collect();
    assert_eq!(results, ["drifted", "drifted", "gone", "not applied"], "{json}");
    assert_eq!(record["objects"][0]["drifted"][0]["by"][0]["owner"]["manager"], "kubectl-patch");
    for text in [&ran.stdout, &members.stdout, &json.stdout] {
        assert!(!text.contains("canary") && !text.contains("Y2FuYXJ5"), "{text}");
    }
    let unknown = shore.run("drift", &["--applyset", "nothing"]);
    assert_eq!(unknown.exit, 2, "{unknown}");
    assert!(unknown.stderr.contains("there is no inventory secret/nothing"), "{unknown}");
}

/// What a controller adds to what we have applied was never ours.
#[test]
fn what_was_never_ours_is_no_drift_of_a_set() {
    let Some(shore) = Shore::reach() else { return };
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: data }\nspec:\n  \
                 accessModes: [ReadWriteOnce]\n  storageClassName: by-hand\n  resources: { \
                 requests: { storage: 1Gi } }\n";
    shore.workplace.write("claim.yaml", claim);
    let set = ["-f", "claim.yaml", "--applyset", "shop"];
    assert_eq!(shore.run("apply", &set).exit, 0);
    // As the controller of volumes does.
    let bound = r#"{"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}}}"#;
    shore.kubectl(&["patch", "pvc", "data", "--type=merge", "-p", bound]);
    let members = shore.run("drift", &set[2..]);
    assert_eq!(members.exit, 0, "{members}");
    assert!(members.stdout.contains("bind-completed"), "it is told all the same: {members}");
    let json = shore.run("drift", &[&set[2..], &["-o", "json"]].concat());
    let record: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&record["drifted"], &record["exit"]), (&false.into(), &0.into()), "{json}");
    assert_eq!(record["objects"][0]["result"], "set by others", "{json}");
    let told = shore.run("drift", &set);
    assert_eq!((told.exit, told.stdout.as_str()), (0, ""), "{told}");
}
