//! Files in the repository that are generated: `cargo xtask docs` writes them
//! anew, and here they must be what the program would write.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workplace::Workplace;

#[test]
fn the_command_reference_is_up_to_date() {
    check("docs/reference.md", &seaworthy::reference());
}

#[test]
fn the_faults_and_causes_are_up_to_date() {
    check("docs/faults.md", &seaworthy::faults());
}

#[test]
fn the_schema_is_up_to_date() {
    check("docs/cluster.schema.json", &Workplace::new().run(["schema"]).stdout);
}

fn check(name: &str, generated: &str) {
    let path = root().join(name);
    if bless() {
        fs::write(&path, generated).unwrap();
    }
    let stands = fs::read_to_string(&path).unwrap_or_default();
    assert!(stands == generated, "{name} is out of date: `cargo xtask docs` writes it anew");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[expect(clippy::disallowed_methods, reason = "a test is asked by its environment")]
fn bless() -> bool {
    std::env::var_os("SEAWORTHY_BLESS").is_some()
}
