//! The real kubectl reads the same as we do.

use std::io::Write;
use std::process::Stdio;

use objects::manifest;
use rig::need;
use serde_json::Value;

/// Everything that readers of YAML disagree about.
const SCALARS: &[&str] = &[
    "0644",
    "012",
    "08",
    "0o17",
    "0x1F",
    "0b11",
    "1_000",
    "on",
    "On",
    "yes",
    "y",
    "Y",
    "n",
    "off",
    "No",
    "true",
    "TRUE",
    "~",
    "null",
    "1e3",
    "1.5",
    "3.0",
    "-0",
    "+1",
    ".5",
    "1.",
    "1:30",
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "1.2.3",
    "'0644'",
    "'on'",
    "0.1e-2",
    "-7",
    "1Gi",
    "100m",
    "9223372036854775807",
    "=",
    "!!str 12",
    "1e-7",
    "0777",
    "-012",
];

#[test]
fn kubectl_reads_every_scalar_the_same() {
    let Some(kubectl) = need::binary("kubectl") else { return };
    let mut different = Vec::new();
    for scalar in SCALARS {
        let text = format!(
            "apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: a}}\nspec: {{v: {scalar}}}\n"
        );
        let ours = manifest::read("a.yaml", text.as_bytes());
        let ours = ours.map(|mut objects| objects.remove(0).into_body()["spec"]["v"].take());
        let theirs = read_by(&kubectl, &text).map(|mut body| body["spec"]["v"].take());
        match (&ours, &theirs) {
            (Ok(ours), Some(theirs)) if ours == theirs => {}
            (Err(_), None) => {}
            _ => different.push(format!("{scalar}: {ours:?}, kubectl {theirs:?}")),
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

fn read_by(kubectl: &std::path::Path, text: &str) -> Option<Value> {
    let mut child = std::process::Command::new(kubectl)
        .args(["--kubeconfig=/dev/null", "label", "--local", "-f", "-", "a=b", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).ok()
}
