//! The table of checks names tests that there are.

use std::fs;
use std::path::Path;

#[test]
fn every_test_in_the_table_of_checks_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(root.join("../../docs/object-checks.md")).unwrap();
    let quoted = table.split('`').skip(1).step_by(2);
    let tests: Vec<(&str, &str)> = quoted.filter_map(|words| words.split_once("::")).collect();
    assert!(tests.len() > 40, "{tests:?}");
    for (module, test) in tests {
        let folder = root.join("tests/objects");
        let files = [folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
        let sources: Vec<String> = files.iter().flat_map(fs::read_to_string).collect();
        let found = sources.iter().any(|source| source.contains(&format!("fn {test}()")));
        assert!(found, "there is no test {module}::{test}");
    }
}
