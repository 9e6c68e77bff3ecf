//! One mistake gives one message: whatever key or value of a good file is spoilt.

use serde_json::{Value, json};
use spec::Colour;

/// Those that are not supported yet are read here like others.
const BASES: [&str; 7] = [
    include_str!("bases/everything.yaml"),
    include_str!("bases/hetzner.yaml"),
    include_str!("bases/proxmox.yaml"),
    include_str!("bases/machines.yaml"),
    include_str!("../../../examples/hetzner.yaml"),
    include_str!("bases/not-yet.yaml"),
    include_str!("../../../examples/machines.yaml"),
];

/// A way to spoil the entry of a mapping.
type Spoil = fn(&mut serde_json::Map<String, Value>, &str);

fn misspell(map: &mut serde_json::Map<String, Value>, key: &str) {
    if let Some(value) = map.remove(key) {
        map.insert(format!("{key}x"), value);
    }
}

fn empty(map: &mut serde_json::Map<String, Value>, key: &str) {
    map.insert(key.to_owned(), Value::Null);
}

fn retype(map: &mut serde_json::Map<String, Value>, key: &str) {
    map.insert(key.to_owned(), json!([[]]));
}

/// Keys that users choose, and what lies under them, cannot be misspelt.
fn is_free(path: &str) -> bool {
    ["labels", "inline", "values", "registries", "timeouts"]
        .iter()
        .any(|key| path.contains(&format!("/{key}/")))
}

/// The pointers of all mappings, each with its keys.
fn mappings(value: &Value, path: String, found: &mut Vec<(String, Vec<String>)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                mappings(value, format!("{path}/{}", key.replace('/', "~1")), found);
            }
            found.push((path, map.keys().cloned().collect()));
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                mappings(value, format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Spoils every entry of every base and returns those that did not give exactly one more problem.
fn spoil_all(spoil: Spoil) -> (usize, Vec<String>) {
    let (mut spoilt, mut wrong) = (0, Vec::new());
    for base in BASES {
        let good = spec::parse_yaml(base).expect("a document");
        let before = spec::read_with_unsupported("cluster.yaml", base.as_bytes()).problems().len();
        let mut found = Vec::new();
        mappings(&good, String::new(), &mut found);
        for (path, keys) in found.iter().filter(|(path, _)| !is_free(&format!("{path}/"))) {
            for key in keys {
                let mut bad = good.clone();
                let map = bad.pointer_mut(path).and_then(Value::as_object_mut).expect("a mapping");
                spoil(map, key);
                let reading =
                    spec::read_with_unsupported("cluster.yaml", bad.to_string().as_bytes());
                spoilt += 1;
                if reading.errors() != 1 || reading.problems().len() > 1 + before {
                    wrong.push(format!("{path}/{key}:\n{}", reading.render(Colour::Plain)));
                }
            }
        }
    }
    (spoilt, wrong)
}

#[test]
fn a_misspelt_key_gives_one_message() {
    let (spoilt, wrong) = spoil_all(misspell);
    assert!(wrong.is_empty(), "{} of {spoilt}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(spoilt > 300, "only {spoilt} keys were misspelt");
}

#[test]
fn a_missing_value_gives_one_message() {
    let (spoilt, wrong) = spoil_all(empty);
    assert!(wrong.is_empty(), "{} of {spoilt}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_value_of_another_type_gives_one_message() {
    let (spoilt, wrong) = spoil_all(retype);
    assert!(wrong.is_empty(), "{} of {spoilt}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_setting_of_another_cloud_that_cannot_be_read_gives_one_message() {
    let text = BASES[2].replace("  addons:", "  firewall: open\n  addons:");
    let reading = spec::read_with_unsupported("cluster.yaml", text.as_bytes());
    assert_eq!(reading.problems().len(), 1, "{}", reading.render(Colour::Plain));
}
