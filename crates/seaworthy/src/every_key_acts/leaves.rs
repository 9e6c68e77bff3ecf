//! The leaves of the JSON Schema, and values to write there.

use std::fmt;

use serde_json::{Map, Value, json};

/// A place in a cluster file that holds a value, and what the schema says of it.
pub(super) struct Leaf {
    pub(super) path: Vec<Step>,
    schema: Value,
}

/// A step from the root of a file towards a leaf.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Into a key; `alone` where the mapping may have no other.
    Key { key: String, alone: bool },
    /// Into each item of a list, or each value of a mapping whose keys people choose.
    Each,
}

/// Texts of all the forms that keys hold. A key takes those that it understands.
const TEXTS: &[&str] = &[
    "another",
    "other.example.com",
    "v9.9.9",
    "v1.36.2",
    "v1.14.0",
    "v1.13.0",
    "4m",
    "25m",
    "7s",
    "1s",
    "10.64.0.0/16",
    "10.0.128.0/18",
    "10.0.96.0/20",
    "10.0.80.0/26",
    "172.20.0.0/16",
    "172.21.0.0/20",
    "192.168.10.0/23",
    "203.0.113.0/24",
    "192.168.10.2",
    "192.168.10.9",
    "192.168.10.77",
    "BC:24:11:2E:C5:99",
    "cax31",
    "cax41",
    "20Gi",
    "500Gi",
    "key=value:NoExecute",
    "/dev/sdb",
    "8443",
    "ssh://git@example.com/another",
    "https://example.com/another.git",
    "https://mirror-2.example.com",
    "https://example.com/another.yaml",
    "factory.talos.dev/installer/89ab:v1.14.1",
    "registry.example.com/probe:2.0",
    "http://198.51.100.9/another",
    "control-plane",
    "storage",
    "another.yaml",
    "another.pem",
    "another.key",
    "another.crt",
    "another.login",
    "another_hosts",
    "another_id",
    "another.patch",
];

/// Keys of mappings whose keys people choose.
const NAMES: &[&str] = &["example.com/another", "another.example.com"];

/// Returns every leaf of a schema.
pub(super) fn leaves(root: &Value) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect(root, root, Vec::new(), &mut found);
    found
}

fn collect(root: &Value, schema: &Value, path: Vec<Step>, found: &mut Vec<Leaf>) {
    let schema = resolve(root, schema);
    let step = |step: Step| path.iter().cloned().chain([step]).collect::<Vec<_>>();
    if let Some(properties) = schema["properties"].as_object() {
        let alone = schema["maxProperties"] == 1;
        for (key, property) in properties {
            collect(root, property, step(Step::Key { key: key.clone(), alone }), found);
        }
    } else if schema["items"].get("$ref").is_some() {
        collect(root, &schema["items"], step(Step::Each), found);
    } else if schema["additionalProperties"].get("$ref").is_some() {
        collect(root, &schema["additionalProperties"], step(Step::Each), found);
    } else {
        found.push(Leaf { path, schema: schema.clone() });
    }
}

fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => root.pointer(&reference[1..]).expect("a definition"),
        None => schema,
    }
}

impl Leaf {
    /// Returns whether each value has to mean something else.
    pub(super) fn is_enumerated(&self) -> bool {
        let kind = &self.schema["type"];
        kind == "boolean" || kind == "integer" || self.schema.get("enum").is_some()
    }

    /// Returns whether there is just one value.
    pub(super) fn is_constant(&self) -> bool {
        self.schema["enum"].as_array().is_some_and(|words| words.len() == 1)
    }

    /// Returns values to write there.
    pub(super) fn values(&self) -> Vec<Value> {
        values(&self.schema)
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = |step: &Step| match step {
            Step::Key { key, .. } => key.clone(),
            Step::Each => "*".to_owned(),
        };
        f.write_str(&self.path.iter().map(step).collect::<Vec<_>>().join("."))
    }
}

fn values(schema: &Value) -> Vec<Value> {
    if let Some(words) = schema["enum"].as_array() {
        return words.clone();
    }
    if schema["type"].is_array() {
        let patch = |value| json!({ "machine": { "sysctls": { "vm.nr_hugepages": value } } });
        return vec![patch("1"), patch("2")];
    }
    match schema["type"].as_str() {
        Some("boolean") => vec![json!(true), json!(false)],
        Some("integer") => integers(schema),
        Some("number") => vec![json!(500), json!(900)],
        Some("string") => TEXTS.iter().map(|text| json!(text)).collect(),
        Some("array") => values(&schema["items"]).into_iter().map(|item| json!([item])).collect(),
        Some("object") => tables(schema),
        other => panic!("no values for the type {other:?}"),
    }
}

fn integers(schema: &Value) -> Vec<Value> {
    let (min, max) = (schema["minimum"].as_u64().unwrap(), schema["maximum"].as_u64().unwrap());
    [1, 2, 3, 5].into_iter().filter(|it| (min..=max).contains(it)).map(|it| json!(it)).collect()
}

fn tables(schema: &Value) -> Vec<Value> {
    let names = schema["propertyNames"]["enum"].as_array().cloned();
    let names = names.unwrap_or_else(|| NAMES.iter().map(|name| json!(name)).collect());
    let name = |name: Value| name.as_str().expect("a name").to_owned();
    let names: Vec<_> = names.into_iter().map(name).collect();
    let table = |(name, value)| Value::Object(Map::from_iter([(name, value)]));
    let values = values(&schema["additionalProperties"]).into_iter();
    values
        .flat_map(|value| names.iter().map(move |it| table((it.clone(), value.clone()))))
        .collect()
}

/// Returns the places in a file that a path means: pointers to what holds the leaf, and its key.
pub(super) fn places(file: &Value, path: &[Step]) -> Vec<Vec<String>> {
    let mut places = vec![Vec::new()];
    for step in path {
        places = match step {
            Step::Key { key, .. } => places.into_iter().map(|it| with(it, key.clone())).collect(),
            Step::Each => places.into_iter().flat_map(|it| each(file, &it)).collect(),
        };
    }
    places
}

fn each(file: &Value, place: &[String]) -> Vec<Vec<String>> {
    let keys: Vec<String> = match at(file, place) {
        Some(Value::Array(items)) => (0..items.len()).map(|index| index.to_string()).collect(),
        Some(Value::Object(map)) => map.keys().cloned().collect(),
        _ => Vec::new(),
    };
    keys.into_iter().map(|key| with(place.to_vec(), key)).collect()
}

fn with(mut place: Vec<String>, key: String) -> Vec<String> {
    place.push(key);
    place
}

/// Returns what a file holds at a place.
pub(super) fn at<'a>(file: &'a Value, place: &[String]) -> Option<&'a Value> {
    place.iter().try_fold(file, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    })
}

/// Returns the file with another value at a place, or without one.
pub(super) fn written(
    file: &Value,
    path: &[Step],
    place: &[String],
    value: Option<&Value>,
) -> Value {
    let mut file = file.clone();
    let (mut here, last) = (&mut file, place.len() - 1);
    for (depth, (step, key)) in path.iter().zip(place).enumerate() {
        if let Value::Array(items) = here {
            here = &mut items[key.parse::<usize>().expect("an index")];
            continue;
        }
        let map = here.as_object_mut().expect("a mapping");
        if matches!(step, Step::Key { alone: true, .. }) {
            map.retain(|other, _| other == key);
        }
        match value {
            None if depth == last => {
                map.remove(key);
                break;
            }
            Some(value) if depth == last => {
                map.insert(key.clone(), value.clone());
                break;
            }
            _ => here = map.entry(key.clone()).or_insert_with(|| json!({})),
        }
    }
    file
}
