//! `cargo xtask test`'s last line, with a cargo that prints what it is told.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

const PASSED: &str = "echo 'test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured'";

/// Runs `cargo xtask test` over a cargo that is this script.
fn test_with(cargo: &str, args: &[&str]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cargo");
    fs::write(&path, format!("#!/bin/sh\n{cargo}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("test")
        .args(args)
        .env("CARGO", path)
        // As if nothing of the rig were there to be used.
        .env("SEAWORTHY_TEST_TIER", "0")
        .output()
        .unwrap()
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn passes_are_counted() {
    let output = test_with(&format!("{PASSED}; {PASSED}"), &["--quick"]);
    assert!(output.status.success());
    assert_eq!(last_line(&output), "14 passed, 0 failed, 0 skipped");
}

#[test]
fn a_recorded_skip_is_not_a_pass_and_its_reason_is_printed() {
    let skip = r#"echo '{"binary":"b","test":"t","reason":"no root"}' >> $SEAWORTHY_TEST_SKIPS"#;
    let output = test_with(&format!("{skip}; {PASSED}"), &["--quick"]);
    assert!(output.status.success());
    assert_eq!(last_line(&output), "6 passed, 0 failed, 1 skipped");
    assert!(said(&output).contains("skipped 1: no root"), "{}", said(&output));
}

#[test]
fn failures_fail() {
    let told = "echo 'failures:'; echo '---- a::b stdout ----'; echo 'it is wrong'";
    let failed = "echo 'test result: FAILED. 1 passed; 2 failed; 0 ignored'; exit 101";
    let output = test_with(&format!("{told}; {failed}"), &["--quick"]);
    assert!(!output.status.success());
    assert_eq!(last_line(&output), "1 passed, 2 failed, 0 skipped");
    assert!(said(&output).contains("failed a::b\n             it is wrong"), "{}", said(&output));
}

#[test]
fn tests_that_do_not_build_or_do_not_exist_fail() {
    let output = test_with("echo error >&2; exit 101", &["--quick"]);
    assert!(!output.status.success());
    assert!(said(&output).contains("error: the tests did not build"), "{}", said(&output));
    let output = test_with("true", &["--quick"]);
    assert!(!output.status.success());
    assert!(said(&output).contains("error: no test ran"), "{}", said(&output));
    assert_eq!(last_line(&output), "0 passed, 0 failed, 0 skipped");
}

#[test]
fn a_crash_after_passes_fails() {
    let output = test_with(&format!("{PASSED}; exit 101"), &["--quick"]);
    assert!(!output.status.success());
    assert!(said(&output).contains("ended without a result"), "{}", said(&output));
}

#[test]
fn arguments_reach_cargo() {
    let output = test_with(&format!("echo \"$@\"; {PASSED}"), &["--quick", "--", "-p", "rig"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = printed.lines().next().unwrap_or_default();
    assert!(line.starts_with("test --no-fail-fast --config "), "{printed}");
    assert!(line.ends_with(" -p rig"), "{printed}");
}

#[test]
fn what_a_test_has_measured_is_shown_at_the_end() {
    let remark = "echo '3 of 4 were right' >> \"$SEAWORTHY_TEST_REMARKS\"";
    let output = test_with(&format!("{remark}; {PASSED}"), &["--quick"]);
    assert!(output.status.success());
    assert!(said(&output).contains("      remark 3 of 4 were right\n"), "{}", said(&output));
    assert_eq!(last_line(&output), "7 passed, 0 failed, 0 skipped");
}
