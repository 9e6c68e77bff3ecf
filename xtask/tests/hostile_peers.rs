//! docs/hostile-peers.md says what the code does: every bound with its value, and
//! every row with a test that exists.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::PathBuf;

fn read(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The cells of the rows below a heading of docs/hostile-peers.md.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let page = read("docs/hostile-peers.md");
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(|it| it.trim().to_owned()).collect())
        .collect()
}

/// Words for the value of a constant, such as `64 << 20`.
fn words(value: &str) -> String {
    let number = |text: &str| text.trim().replace('_', "").parse::<u64>().unwrap();
    let within = |name: &str| value.strip_prefix(name)?.strip_suffix(')').map(number);
    if let Some(seconds) = within("Duration::from_secs(") {
        return format!("{seconds} s");
    }
    if let Some(minutes) = within("Duration::from_mins(") {
        return format!("{minutes} min");
    }
    match value.split_once("<<") {
        Some((count, shift)) => {
            let unit = if number(shift) == 20 { "MiB" } else { "KiB" };
            format!("{} {unit}", count.trim().replace('_', ","))
        }
        None => value.replace('_', ","),
    }
}

#[test]
fn every_bound_is_documented_with_its_value() {
    let source = read("crates/peers/src/bounds.rs");
    let constants = source.lines().filter_map(|line| line.strip_prefix("pub const "));
    let bounds: BTreeMap<_, _> = constants
        .map(|line| {
            let (name, rest) = line.split_once(':').unwrap();
            let value = rest.split_once('=').unwrap().1.trim().trim_end_matches(';');
            (format!("`{name}`"), words(value))
        })
        .collect();
    let documented: BTreeMap<_, _> =
        rows("Bounds").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    assert_eq!(documented, bounds);
}

#[test]
fn every_row_names_a_test_that_exists() {
    let rows = rows("What was tried");
    assert!(rows.len() > 20);
    for row in rows {
        let (file, test) = row[2].trim_matches('`').split_once("::").unwrap();
        let source = read(file);
        let found = source.split_once(&format!("fn {test}()"));
        let (before, _) = found.unwrap_or_else(|| panic!("{file} has no test {test}"));
        let attribute = before.trim_end().trim_end_matches("async").trim_end();
        assert!(attribute.ends_with("test]"), "{test} is no test");
    }
}
