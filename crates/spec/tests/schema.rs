//! The schema and the decoder say the same.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use spec::{Colour, Rule};

const BOGUS: &str = "bogusKeyOfNobody";

/// A mapping of the schema, and how to get there from the root.
struct Place {
    path: Vec<Step>,
    schema: Value,
}

#[derive(Clone)]
enum Step {
    Key(String),
    Item,
}

/// Every mapping with known keys that the schema reaches.
fn places(root: &Value) -> Vec<Place> {
    let mut places = Vec::new();
    let mut open = vec![(Vec::new(), root.clone())];
    while let Some((path, schema)) = open.pop() {
        let schema = resolve(root, &schema);
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            open.push((with(&path, Step::Key(key.clone())), property.clone()));
        }
        if schema.get("items").is_some() {
            open.push((with(&path, Step::Item), schema["items"].clone()));
        }
        if schema["additionalProperties"].is_object()
            && schema["additionalProperties"].get("$ref").is_some()
        {
            let key = Step::Key("docker.io".to_owned());
            open.push((with(&path, key), schema["additionalProperties"].clone()));
        }
        if schema.get("properties").is_some() {
            places.push(Place { path, schema });
        }
    }
    places
}

fn with(path: &[Step], step: Step) -> Vec<Step> {
    path.iter().cloned().chain([step]).collect()
}

fn resolve(root: &Value, schema: &Value) -> Value {
    match schema["$ref"].as_str() {
        Some(reference) => root.pointer(&reference[1..]).expect("a definition").clone(),
        None => schema.clone(),
    }
}

/// A document with this value at the place, and nothing else.
fn document(path: &[Step], value: Value) -> String {
    let wrap = |value: Value, step: &Step| match step {
        Step::Key(key) => json!({ key: value }),
        Step::Item => json!([value]),
    };
    path.iter().rev().fold(value, wrap).to_string()
}

/// The keys that the decoder says a mapping has.
fn keys_of_decoder(path: &[Step]) -> BTreeSet<String> {
    let text = document(path, json!({ BOGUS: 1 }));
    let reading = spec::read("cluster.yaml", text.as_bytes());
    let problem = reading
        .problems()
        .iter()
        .find(|problem| problem.rule == Rule::UnknownKey && problem.message.contains(BOGUS))
        .unwrap_or_else(|| panic!("{text}:\n{}", reading.render(Colour::Plain)));
    let keys = problem.label.rsplit_once(" has ").expect("the label lists the keys").1;
    keys.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_decoder_knows_exactly_the_keys_of_the_schema() {
    let schema = spec::json_schema();
    let places = places(&schema);
    for Place { path, schema } in &places {
        let keys = schema["properties"].as_object().expect("properties").keys().cloned().collect();
        assert_eq!(keys_of_decoder(path), keys, "{}", document(path, json!("here")));
    }
    assert!(places.len() > 30, "only {} mappings were reached", places.len());
}

#[test]
fn every_property_has_a_sentence_for_editors() {
    for Place { path, schema } in places(&spec::json_schema()) {
        for (key, property) in schema["properties"].as_object().expect("properties") {
            let sentence = property["description"].as_str().unwrap_or_default();
            assert!(sentence.ends_with('.'), "{key} in {}", document(&path, json!("here")));
        }
    }
}

#[test]
fn the_schema_is_a_schema() {
    let schema = spec::json_schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::meta::validate(&schema).expect("valid by the draft's own schema");
}

#[test]
fn good_files_are_valid_by_the_schema() {
    let schema = spec::json_schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for (name, text) in [
        ("examples/hetzner", include_str!("../../../examples/hetzner.yaml")),
        ("examples/machines", include_str!("../../../examples/machines.yaml")),
        ("bases/everything", include_str!("bases/everything.yaml")),
        ("bases/hetzner", include_str!("bases/hetzner.yaml")),
        ("bases/machines", include_str!("bases/machines.yaml")),
    ] {
        let document = spec::parse_yaml(text).expect("a document");
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
}

#[test]
fn mistakes_that_a_schema_can_see_are_seen() {
    let schema = spec::json_schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let good = include_str!("bases/hetzner.yaml");
    for (from, to) in [
        ("kind: Cluster", "kind: Cluster\nstatus: {}"),
        ("location: fsn1", "location: fsn1, token: abc"),
        ("  talos:", "  talso:"),
        ("name: demo", "name: Demo_1"),
        ("location: fsn1", "location: mars"),
        ("v1.36.3", "1.36"),
        ("count: 3", "count: \"3\""),
        ("10.0.0.0/16", "10.0.0.0"),
        ("    cilium: {}", "    cilium: { by: nobody }"),
        ("    cilium: {}", "    cilium: { encryption: wireguard }"),
        ("  addons:", "  timeouts: { cnii: 10m }\n  addons:"),
        ("    hetzner: {", "    machines: { network: 10.1.0.0/24, nodes: [] }\n    hetzner: {"),
    ] {
        let text = good.replace(from, to);
        let document = spec::parse_yaml(&text).expect("a document");
        assert!(!validator.is_valid(&document), "{to}");
        assert!(spec::read("cluster.yaml", text.as_bytes()).cluster().is_none(), "{to}");
    }
}
