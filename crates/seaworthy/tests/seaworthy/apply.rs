//! `apply` on a real API server.

use std::os::unix::fs::PermissionsExt as _;

use rig::FaultyProxy;
use serde_json::Value;

use crate::shore::{Shore, deployment, map};
use crate::workplace::Workplace;

#[test]
fn a_folder_is_applied_changed_and_pruned() {
    let Some(shore) = Shore::reach() else { return };
    let folder = shore.workplace.path().join("app");
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    shore.workplace.write("app/a.yaml", map("a", "1"));
    shore.workplace.write("app/b.yml", map("b", "1"));
    shore.workplace.write(
        "app/inner/c.json",
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}"#,
    );
    shore.workplace.write("app/notes.txt", "not a manifest");
    let set = ["-f", "app", "-R", "--applyset", "shop", "--prune"];

    let dry = shore.run("apply", &["-f", "app", "-R", "--dry-run"]);
    assert_eq!(dry.exit, 0, "{dry}");
    assert!(dry.stderr.contains("Would apply 3 objects: 3 created"), "{dry}");
    assert_eq!(dry.stdout.matches("Would create configmap/").count(), 3, "{dry}");
    assert!(!shore.kubectl(&["get", "cm", "-o", "name"]).contains("configmap/a"));

    let made = shore.run("apply", &set);
    assert_eq!((made.exit, made.stdout.matches("Created").count()), (0, 3), "{made}");
    assert!(made.stderr.contains("Applied 3 objects: 3 created"), "{made}");
    let again = shore.run("apply", &set);
    assert_eq!((again.exit, again.stdout.as_str()), (0, ""), "{again}");
    assert!(again.stderr.contains("Applied 3 objects: 3 unchanged"), "{again}");

    shore.workplace.write("app/a.yaml", map("a", "2"));
    std::fs::remove_file(folder.join("b.yml")).unwrap();
    let changed = shore.run("apply", &set);
    assert_eq!(changed.exit, 0, "{changed}");
    let namespace = shore.namespace.name();
    assert!(
        changed.stdout.contains(&format!("Configured configmap/a in namespace {namespace}")),
        "{changed}"
    );
    assert!(
        changed.stdout.contains(&format!("Pruned configmap/b in namespace {namespace}")),
        "{changed}"
    );
    assert_eq!(shore.kubectl(&["get", "cm", "a", "-o", "jsonpath={.data.k}"]), "2");
}

#[test]
fn a_doubt_that_changed_nothing_is_remembered_by_the_next_command() {
    let Some(shore) = Shore::reach() else { return };
    let proxy = FaultyProxy::start(shore.namespace.access()).unwrap();
    let limits = "apiVersion: v1\nkind: LimitRange\nmetadata: { name: l }\n\
        spec: { limits: [{ type: Container, max: { cpu: 1000m } }] }\n";
    shore.workplace.write("l.yaml", limits);
    for sent in [1, 2, 2] {
        let ran = shore.run_at(proxy.kubeconfig(), "apply", &["-f", "l.yaml"]);
        assert_eq!(ran.exit, 0, "{ran}");
        assert_eq!(proxy.counts().borrow().of("patch", "limitranges"), sent, "{ran}");
    }
    let folder = shore.workplace.path().join(".cache/seaworthy/settled");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    let modes = files.iter().map(|file| file.metadata().unwrap().permissions().mode() & 0o777);
    assert_eq!(modes.collect::<Vec<_>>(), [0o600]);

    // What it holds is never needed: torn, or gone, the command goes on.
    std::fs::write(files[0].path(), "torn {").unwrap();
    let ran = shore.run_at(proxy.kubeconfig(), "apply", &["-f", "l.yaml"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, ""), "{ran}");
    let ran = shore.run_at(proxy.kubeconfig(), "apply", &["-f", "l.yaml", "--recheck"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, ""), "{ran}");
    assert_eq!(proxy.counts().borrow().of("patch", "limitranges"), 4, "{ran}");
}

/// As with `| head -1`.
#[test]
fn what_nobody_reads_is_done_all_the_same_and_ends_as_it_would() {
    let Some(shore) = Shore::reach() else { return };
    let maps: String = (0..60).map(|n| map(&format!("m{n}"), "1")).collect();
    shore.workplace.write("maps.yaml", maps);
    assert_eq!(shore.run_unread("apply", &["-f", "maps.yaml"]), 0);
    let count = || shore.kubectl(&["get", "cm", "-o", "name"]).matches("configmap/m").count();
    assert_eq!(count(), 60);
    shore.workplace.write("m0.yaml", map("m0", "2"));
    assert_eq!(shore.run_unread("diff", &["-f", "m0.yaml"]), 7);
    assert_eq!(shore.run_unread("wait", &["cm/none", "--for", "create", "--timeout", "1s"]), 3);
    assert_eq!(shore.run_unread("delete", &["-f", "maps.yaml"]), 0);
    assert_eq!(count(), 0);
    assert_eq!(shore.run_unread("delete", &["cm/m0"]), 4);
}

#[test]
fn what_others_need_is_waited_for_aloud() {
    let Some(shore) = Shore::reach() else { return };
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: later\n  annotations: \
        { config.kubernetes.io/depends-on: DEPENDENCY }\n---\n";
    let web = format!("apps/namespaces/{}/Deployment/web", shore.namespace.name());
    let text = text.replace("DEPENDENCY", &web);
    shore.workplace.write("app.yaml", text + &deployment("web", 1));
    // Long enough for a second word, where the first came too early on a busy machine.
    let ran = shore.run("apply", &["-f", "app.yaml", "--timeout", "14s"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("s more: deployment.apps/web"), "{ran}");
}

#[test]
fn conflicts_are_told_with_manager_and_path_and_taken_by_force() {
    let Some(shore) = Shore::reach() else { return };
    shore.kubectl(&["create", "cm", "a", "--from-literal=k=theirs"]);
    shore.workplace.write("all.yaml", map("a", "1") + &map("b", "1"));
    let refused = shore.run("apply", &["-f", "all.yaml"]);
    assert_eq!(refused.exit, 4, "{refused}");
    assert!(refused.stderr.contains("`data.k` belongs to kubectl-create"), "{refused}");
    assert!(refused.stderr.contains("or take them with `--force-conflicts`"), "{refused}");
    assert!(refused.stderr.contains("Not whole 2 objects: 1 created, 1 failed"), "{refused}");

    let json = shore.run("apply", &["-f", "all.yaml", "-o", "json"]);
    assert_eq!(json.exit, 4, "{json}");
    let record: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(record["whole"], false);
    assert_eq!(record["objects"][0]["conflicts"][0]["manager"], "kubectl-create");
    assert_eq!(record["objects"][1]["result"], "unchanged");

    let forced = shore.run("apply", &["-f", "all.yaml", "--force-conflicts"]);
    assert_eq!(forced.exit, 0, "{forced}");

    shore.kubectl(&["create", "cm", "c"]);
    shore.workplace.write("c.yaml", map("c", "1"));
    let theirs = shore.run("apply", &["-f", "c.yaml", "--adopt", "never"]);
    assert_eq!(theirs.exit, 4, "{theirs}");
    assert!(theirs.stderr.contains("adopt it with `--adopt unmanaged`"), "{theirs}");
    shore.kubectl(&["annotate", "cm", "c", "meta.helm.sh/release-name=shop"]);
    let helms = shore.run("apply", &["-f", "c.yaml"]);
    assert!(helms.stderr.contains("it belongs to the Helm release shop"), "{helms}");
    assert!(helms.stderr.contains("adopt it with `--adopt always`"), "{helms}");
    assert_eq!(shore.kubectl(&["get", "cm", "a", "-o", "jsonpath={.data.k}"]), "1");
}

/// As manifests do that were taken from a cluster and edited.
#[test]
fn a_manifest_that_says_which_state_it_is_for_is_not_applied_to_another() {
    let Some(shore) = Shore::reach() else { return };
    shore.workplace.write("a.yaml", map("a", "1"));
    assert_eq!(shore.run("apply", &["-f", "a.yaml"]).exit, 0);
    let of = |path: &str| shore.kubectl(&["get", "cm", "a", "-o", &format!("jsonpath={{{path}}}")]);
    let write = |field: &str, value: &str, data: &str| {
        let named = format!("name: a, {field}: '{value}'");
        shore.workplace.write("a.yaml", map("a", data).replace("name: a", &named));
    };
    for (field, path) in
        [("uid", ".metadata.uid"), ("resourceVersion", ".metadata.resourceVersion")]
    {
        write(field, &of(path), "1");
        for command in ["apply", "diff"] {
            let ran = shore.run(command, &["-f", "a.yaml"]);
            assert_eq!(ran.exit, 0, "{ran}");
        }
        // With and without a change to make.
        for data in ["1", "2"] {
            write(field, "7", data);
            for command in ["apply", "diff"] {
                let ran = shore.run(command, &["-f", "a.yaml"]);
                assert_eq!(ran.exit, 4, "{ran}");
                let told = format!("the manifest is for {field} 7, and it is {} now", of(path));
                assert!(ran.stderr.contains(&told), "no `{told}`: {ran}");
            }
        }
        assert_eq!(shore.run("drift", &["-f", "a.yaml"]).exit, 0, "the manifest is newer");
    }
    assert_eq!(of(".data.k"), "1");
    shore.workplace.write("b.yaml", map("b", "1").replace("name: b", "name: b, uid: '7'"));
    let ran = shore.run("apply", &["-f", "b.yaml"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("uid 7, and the object is not there"), "{ran}");
}

#[test]
fn mistakes_are_told_before_anything_is_asked() {
    let workplace = Workplace::new();
    let several =
        format!("{}a: 1\na: 2\n---\nhello\n---\n{}x: [1, }}\n", map("a", "1"), map("b", "1"));
    workplace.write("several.yaml", several);
    let ran = workplace.run(["apply", "-f", "several.yaml"]);
    assert_eq!(ran.exit, 2, "{ran}");
    for place in ["several.yaml:7:1: ", "several.yaml:9:1: ", "several.yaml:16:4: "] {
        assert!(ran.stderr.contains(place), "no {place}: {ran}");
    }
    workplace.write("a.yaml", "apiVersion: v1\nkind: [Pod\n");
    workplace.write("b.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {}\n");
    let ran = workplace.run(["apply", "-f", "a.yaml", "-f", "b.yaml"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("a.yaml:2:7") && ran.stderr.contains("b.yaml:1:1"), "{ran}");
    let ran = workplace.run(["apply", "-f", "missing.yaml"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("could not read missing.yaml"), "{ran}");
    workplace.write("good.yaml", map("a", "1"));
    let ran = workplace.run(["apply", "-f", "good.yaml", "--kubeconfig", "nowhere"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("could not read the kubeconfig nowhere"), "{ran}");
    let ran = workplace.run(["apply", "-f", "good.yaml", "--prune"]);
    assert_eq!(ran.exit, 2, "{ran}");
    for name in ["..", "a/b", "", "Upper", "a-"] {
        let ran = workplace.run(["apply", "-f", "good.yaml", "--namespace", name]);
        assert!(ran.exit == 2 && ran.stderr.contains("a namespace has up to 63"), "{ran}");
    }
    let above =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: '..' }\n".to_owned();
    workplace.write("above.yaml", above);
    let ran = workplace.run(["apply", "-f", "above.yaml"]);
    assert!(ran.exit == 2 && ran.stderr.contains("`..` is not a name"), "{ran}");
}

#[test]
fn a_folder_that_is_named_twice_or_leads_back_is_read_once() {
    let Some(shore) = Shore::reach() else { return };
    let folder = shore.workplace.path().join("app");
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    shore.workplace.write("app/a.yaml", map("a", "1"));
    shore.workplace.write("app/inner/b.yaml", map("b", "1"));
    std::os::unix::fs::symlink(&folder, folder.join("inner/back")).unwrap();
    let ran = shore.run("apply", &["-R", "-f", "app", "-f", "app/a.yaml", "-f", "app"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stderr.contains("Applied 2 objects: 2 created"), "{ran}");
    std::fs::create_dir(shore.workplace.path().join("empty")).unwrap();
    let none = shore.run("apply", &["-f", "empty"]);
    assert_eq!(none.exit, 2, "{none}");
    assert!(none.stderr.contains("there is no .yaml, .yml or .json file in empty"), "{none}");
    let labels = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: [x]}}";
    shore.workplace.write("labels.yaml", labels);
    let wrong = shore.run("apply", &["-f", "labels.yaml", "--applyset", "shop"]);
    assert_eq!(wrong.exit, 2, "{wrong}");
    assert!(wrong.stderr.contains("labels.yaml:1"), "{wrong}");
    assert!(wrong.stderr.contains("`metadata.labels` is not a mapping"), "{wrong}");
}
