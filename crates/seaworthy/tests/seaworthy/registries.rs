//! Registries that do not let everybody in: what the cluster file names is read,
//! goes to the nodes, and is shown nowhere.

use std::fs;
use std::path::{Path, PathBuf};

use crate::rehearsal::Stage;
use crate::talos_gen::bundle;

const FILE: &str = include_str!("../../../spec/tests/bases/hetzner.yaml");

const CREDENTIALS: &str = "username: robot\npassword: canary-hunter22\n";

/// A stage with a file whose registry has these keys.
fn stage(registry: &str) -> Stage {
    let stage = Stage::new();
    let talos = format!("version: v1.14.1, registries: {{ 'a.example:5000': {{ {registry} }} }}");
    stage.place.write("cluster.yaml", FILE.replacen("version: v1.14.1", &talos, 1));
    stage.place.write("a.txt", CREDENTIALS);
    let etcd = bundle(1).etcd;
    stage.place.write("a.pem", etcd.certificate().pem());
    stage.place.write("a.key", etcd.key().pem().reveal());
    stage
}

/// The files in which something is written.
fn files_with(folder: &Path, what: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let search = |path: PathBuf| {
        if path.is_dir() {
            return files_with(&path, what);
        }
        let text = fs::read(&path).unwrap_or_default();
        let is_in = text.windows(what.len()).any(|it| it == what.as_bytes());
        is_in.then_some(path).into_iter().collect()
    };
    entries.flat_map(search).collect()
}

#[test]
fn what_lets_nodes_in_is_written_nowhere_else() {
    let stage = stage("credentialsFile: a.txt, certificateFile: a.pem, privateKeyFile: a.key");
    let args = ["cluster.yaml", "--speed", "200", "--until", "config"];
    let (exit, text) = stage.rehearse(&args);
    assert_eq!(exit, 0, "{text}");
    assert!(!text.contains("canary"), "{text}");
    let folder = stage.place.path().join(".seaworthy");
    assert!(!files_with(&folder, "a.example:5000").is_empty(), "the file that is rehearsed");
    let key = stage.place.read("a.key");
    for secret in ["canary", key.lines().nth(1).unwrap()] {
        assert_eq!(files_with(&folder, secret), Vec::<PathBuf>::new());
    }
}

#[test]
fn what_is_wrong_with_a_file_is_told_without_what_is_in_it() {
    let cases = [
        ("credentialsFile: none.txt", "could not read the credentials for a.example:5000"),
        ("credentialsFile: a.pem", "a.pem, for a.example:5000, has neither a user and a password"),
        ("caFile: a.txt", "a.txt, for a.example:5000, is no certificate in PEM"),
        ("caFile: a.key", "a.key, for a.example:5000, is no certificate in PEM"),
        (
            "certificateFile: a.pem, privateKeyFile: a.pem",
            "a.pem, for a.example:5000, is no private key in PEM",
        ),
    ];
    for (registry, message) in cases {
        let stage = stage(registry);
        for command in ["validate", "rehearse"] {
            let ran = stage.place.run([command, "cluster.yaml"]);
            assert_eq!(ran.exit, 2, "{ran}");
            assert!(ran.stderr.contains(message), "{message}: {ran}");
            assert!(!ran.to_string().contains("canary"), "{ran}");
        }
    }
}
