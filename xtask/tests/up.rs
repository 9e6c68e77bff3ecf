//! `rig up` without a node, as a script would use it.

use std::path::PathBuf;
use std::process::Command;

use rig::need;

#[test]
fn stdout_is_the_kubeconfig_alone_and_stderr_says_what_to_try() {
    if need::binary("kube-apiserver").is_none() {
        return;
    }
    let output =
        Command::new(env!("CARGO_BIN_EXE_xtask")).args(["rig", "up", "--once"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let kubeconfig = PathBuf::from(printed.trim_end());
    assert_eq!(printed.lines().count(), 1, "{printed}");
    assert!(kubeconfig.ends_with("kubeconfig") && kubeconfig.is_absolute(), "{printed}");
    assert!(!kubeconfig.exists(), "it has gone with its control plane");
    let line = format!("--kubeconfig {} get", kubeconfig.display());
    assert_eq!(said.matches(&line).count(), 2, "{said}");
}

#[test]
fn a_tier_that_does_not_exist_is_refused() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_xtask")).args(["rig", "--tier", "4"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("4 is not in 1..=3"), "{said}");
}
