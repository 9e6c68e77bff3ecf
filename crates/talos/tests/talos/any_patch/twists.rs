//! What people do to patches: something is empty, marked, wrong, or there twice.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::scalars::{ODD, plain};

/// Something odd at one place of a patch, or with one of its documents.
#[derive(Clone, Debug)]
pub(super) enum Twist {
    /// A value takes the place of another.
    Instead(Index, Value),
    /// A mapping gets one more key.
    Added(Index, &'static str, Value),
    /// A list gets one more element.
    Pushed(Index, Value),
    /// A document is there twice.
    Again(Index),
    /// A document is deleted first.
    Anew(Index),
    /// A document has another name.
    Renamed(Index, Value),
}

pub(super) fn twists() -> BoxedStrategy<Vec<Twist>> {
    prop_oneof![2 => Just(vec![]), 3 => prop::collection::vec(twist(), 1..3)].boxed()
}

fn twist() -> impl Strategy<Value = Twist> {
    let place = any::<Index>;
    let keys = vec!["$patch", "unknown", "name", "a"];
    // Which fields there are is known to Talos only: what it does not know is
    // refused as a field, and not seen as a deletion.
    let no_deletion = |(.., value): &(Index, &str, Value)| !value.to_string().contains("$patch");
    let added = (place(), prop::sample::select(keys), value()).prop_filter("known", no_deletion);
    let renamed = (place(), Just("name"), value()).prop_filter("known", no_deletion);
    let delete = place().prop_map(|at| Twist::Added(at, "$patch", "delete".into()));
    prop_oneof![
        6 => (place(), value()).prop_map(|(at, value)| Twist::Instead(at, value)),
        2 => added.prop_map(|(at, key, value)| Twist::Added(at, key, value)),
        2 => delete,
        2 => (place(), value()).prop_map(|(at, value)| Twist::Pushed(at, value)),
        1 => place().prop_map(Twist::Again),
        1 => place().prop_map(Twist::Anew),
        1 => renamed.prop_map(|(at, _, name)| Twist::Renamed(at, name)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(Value::Null),
        2 => Just(json!({})),
        2 => Just(json!([])),
        2 => Just(json!({ "$patch": "delete" })),
        1 => Just(json!({ "$patch": "replace" })),
        1 => Just(json!([{ "$patch": "delete" }])),
        1 => Just(json!([null])),
        1 => Just(json!(["a"])),
        1 => Just(json!({ "a": "b" })),
        1 => prop::sample::select(vec![json!(""), json!("a"), json!(0), json!(7), json!(true)]),
        2 => prop::sample::select(ODD).prop_map(plain),
    ]
}

impl Twist {
    pub(super) fn apply(&self, documents: &mut Vec<Value>) {
        match self {
            Self::Instead(at, value) => {
                if let Some(place) = chosen(documents, *at, |_| true) {
                    *place = value.clone();
                }
            }
            Self::Added(at, key, value) => {
                if let Some(Value::Object(fields)) = chosen(documents, *at, Value::is_object) {
                    fields.insert((*key).to_owned(), value.clone());
                }
            }
            Self::Pushed(at, value) => {
                if let Some(Value::Array(items)) = chosen(documents, *at, Value::is_array) {
                    items.push(value.clone());
                }
            }
            Self::Again(at) => documents.push(at.get(documents).clone()),
            Self::Anew(at) => {
                let place = at.index(documents.len());
                let mut gone = documents[place].clone();
                gone["$patch"] = "delete".into();
                documents.insert(place, gone);
            }
            Self::Renamed(at, name) => {
                let place = at.index(documents.len());
                documents[place]["name"] = name.clone();
            }
        }
    }
}

/// Finds one of the values that fit. What a document is stays: talosctl takes
/// `kind: null` for the name of a kind where it deletes, and we do not.
fn chosen(documents: &mut [Value], at: Index, fits: impl Fn(&Value) -> bool) -> Option<&mut Value> {
    let mut pointers = Vec::new();
    for (number, document) in documents.iter().enumerate() {
        collect(document, number, String::new(), &fits, &mut pointers);
    }
    let (number, pointer) = (!pointers.is_empty()).then(|| at.get(&pointers))?;
    documents[*number].pointer_mut(pointer)
}

fn collect(
    value: &Value,
    document: usize,
    pointer: String,
    fits: &impl Fn(&Value) -> bool,
    found: &mut Vec<(usize, String)>,
) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let step = key.replace('~', "~0").replace('/', "~1");
                collect(value, document, format!("{pointer}/{step}"), fits, found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(value, document, format!("{pointer}/{index}"), fits, found);
            }
        }
        _ => {}
    }
    if !["", "/kind", "/apiVersion"].contains(&pointer.as_str()) && fits(value) {
        found.push((document, pointer));
    }
}
