//! How commands find a cluster, on a real API server and where there is none.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rig::proxy::{Fault, Matching, Rule};
use serde_json::{Value, json};

use crate::quay::Quay;
use crate::shore::{Shore, map};
use crate::workplace::{Ran, Workplace};

fn config_of(shore: &Shore) -> Value {
    let path = shore.namespace.access().kubeconfig();
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn diff(shore: &Shore, kubeconfigs: &str, args: &[&str]) -> Ran {
    let always = ["diff", "-f", "a.yaml", "-n", shore.namespace.name()];
    let mut command = shore.workplace.command(always.iter().chain(args));
    shore.workplace.ran(command.env("KUBECONFIG", kubeconfigs))
}

#[test]
fn a_list_of_kubeconfigs_is_merged_and_files_lie_beside_theirs() {
    let Some(shore) = Shore::reach() else { return };
    shore.workplace.write("a.yaml", map("a", "1"));
    let mut config = config_of(&shore);
    let (cluster, user) = (config["clusters"].take(), config["users"].take());
    // The first says only which context, the second has all of it, with files
    // that lie beside it.
    let first = json!({ "apiVersion": "v1", "kind": "Config", "current-context": "both",
        "contexts": [{ "name": "both", "context": {
            "cluster": cluster[0]["name"], "user": user[0]["name"] } }] });
    shore.workplace.write("first", first.to_string());
    fs::create_dir(shore.workplace.path().join("inner")).unwrap();
    let mut user = user;
    let identity = user[0]["user"].as_object_mut().unwrap();
    for (key, file) in [("client-certificate", "me.crt"), ("client-key", "me.key")] {
        let data = identity.remove(&format!("{key}-data")).unwrap();
        let bytes = STANDARD.decode(data.as_str().unwrap()).unwrap();
        shore.workplace.write(&format!("inner/{file}"), bytes);
        identity.insert(key.to_owned(), file.into());
    }
    let second = json!({ "apiVersion": "v1", "kind": "Config", "current-context": "other",
        "clusters": cluster, "users": user });
    shore.workplace.write("inner/second", second.to_string());
    let ran = diff(&shore, "missing:first::inner/second", &[]);
    assert_eq!(ran.exit, 7, "{ran}");
    assert!(ran.stdout.contains("+ configmap/a in namespace "), "{ran}");
    let ran = diff(&shore, "first:inner/second", &["--context", "bth"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("did you mean `both`?"), "{ran}");
    let ran = diff(&shore, "missing:absent", &[]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("there is no kubeconfig at missing or absent"), "{ran}");
}

#[test]
fn a_kubeconfig_without_a_context_says_which_there_are() {
    let workplace = Workplace::new();
    workplace.write("a.yaml", map("a", "1"));
    let config = json!({ "apiVersion": "v1", "kind": "Config", "current-context": "",
        "contexts": [{ "name": "one", "context": { "cluster": "c", "user": "u" } }] });
    workplace.write("config", config.to_string());
    let give = |command: &str, more: &[&str]| {
        let files: &[&str] = if command == "verify" { &[] } else { &["-f", "a.yaml"] };
        let args = [command, "--kubeconfig", "config"];
        workplace.run(args.iter().chain(files).chain(more))
    };
    for command in ["apply", "diff", "drift", "verify"] {
        let ran = give(command, &[]);
        assert_eq!(ran.exit, 2, "{ran}");
        assert!(ran.stderr.contains("name one with `--context`: one"), "{command}: {ran}");
        let ran = give(command, &["--context", "on"]);
        assert!(ran.exit == 2 && ran.stderr.contains("did you mean `one`?"), "{command}: {ran}");
    }
}

#[test]
fn a_cluster_that_is_not_there_is_told_and_ends_as_refused() {
    let Some(shore) = Shore::reach() else { return };
    shore.workplace.write("a.yaml", map("a", "1"));
    let mut config = config_of(&shore);
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9".into();
    let nowhere = shore.workplace.write("nowhere", config.to_string());
    for command in ["apply", "diff", "drift", "wait", "delete", "explain"] {
        let ran = shore.run_at(&nowhere, command, &["-f", "a.yaml", "--timeout", "4s"]);
        assert_eq!(ran.exit, 4, "{ran}");
        assert!(ran.stderr.contains("Retrying for "), "silence: {ran}");
        assert!(ran.stderr.contains("127.0.0.1:9"), "{ran}");
    }
    let mut config = config_of(&shore);
    config["users"][0]["user"] = json!({ "token": "wrong" });
    let stranger = shore.workplace.write("stranger", config.to_string());
    refused_at_once(&shore, &stranger);
}

fn refused_at_once(shore: &Shore, kubeconfig: &Path) {
    for command in ["apply", "diff", "drift", "wait", "delete", "explain"] {
        let ran = shore.run_at(kubeconfig, command, &["-f", "a.yaml"]);
        assert_eq!(ran.exit, 4, "{ran}");
        assert!(!ran.stderr.contains("Retrying"), "{ran}");
    }
}

#[test]
fn a_command_that_makes_no_token_is_told_at_once() {
    let Some(shore) = Shore::reach() else { return };
    shore.workplace.write("a.yaml", map("a", "1"));
    let login_as = |script: &str, mode: &str| {
        let mut config = config_of(&shore);
        config["users"][0]["user"] = json!({ "exec": { "command": "sh", "args": ["-c", script],
            "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": mode } });
        shore.workplace.write("login", config.to_string())
    };
    let login = |script: &str| login_as(script, "Never");
    let failing = login("echo hunter22; echo the session is over >&2; exit 1");
    let ran = shore.run_at(&failing, "apply", &["-f", "a.yaml"]);
    assert_eq!(ran.exit, 2, "{ran}");
    let told = "`sh`, failed (exit status: 1): the session is over; run it by hand";
    assert!(ran.stderr.contains(told) && !ran.stderr.contains("hunter22"), "{ran}");
    // Nobody sits there to be asked.
    let asking = login_as("echo the session is over >&2; exit 1", "IfAvailable");
    let ran = shore.run_at(&asking, "apply", &["-f", "a.yaml"]);
    assert!(ran.exit == 2 && ran.stderr.contains(told), "{ran}");
    // It has made one token, which is over, and makes no other.
    let credential = json!({ "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": { "token": "hunter22", "expirationTimestamp": "2020-01-01T00:00:00Z" } });
    let once = "mkdir once 2>/dev/null || { echo the session is over >&2; exit 1; }";
    let later = login(&format!("{once}; echo '{credential}'"));
    let ran = shore.run_at(&later, "apply", &["-f", "a.yaml"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(!ran.stderr.contains("Retrying"), "{ran}");
    assert!(ran.stderr.contains(told) && !ran.stderr.contains("hunter22"), "{ran}");
}

#[test]
fn a_cluster_that_comes_back_in_time_is_asked_again_by_every_command() {
    let Some(quay) = Quay::reach() else { return };
    quay.workplace.write("a.yaml", map("a", "1"));
    let proxy = quay.proxy();
    for command in ["apply", "diff", "drift", "wait", "explain", "delete"] {
        proxy.add(Rule::next(3, Matching::any(), Fault::Drop));
        let ran = quay.run_as("proxied", command, &["-f", "a.yaml", "--timeout", "30s"]);
        assert_eq!(ran.exit, 0, "{command}: {ran}");
    }
}

#[test]
fn a_token_file_may_end_with_a_new_line() {
    let Some(quay) = Quay::reach() else { return };
    quay.kubectl(&["create", "serviceaccount", "me"]);
    let role = format!("--serviceaccount={}:me", quay.namespace.name());
    quay.kubectl(&["create", "rolebinding", "me", "--clusterrole=admin", &role]);
    let token = quay.kubectl(&["create", "token", "me"]);
    quay.workplace.write("token", format!("\n{}\n", token.trim()));
    let me = quay.kubeconfig_with("me", &json!({ "tokenFile": "token" }));
    quay.workplace.write("a.yaml", map("a", "1"));
    let ran = quay.run_as(&me, "apply", &["-f", "a.yaml"]);
    assert_eq!(ran.exit, 0, "{ran}");
}
