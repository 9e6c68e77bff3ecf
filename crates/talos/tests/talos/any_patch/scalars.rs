//! Scalars by chance, and how they are written.

use proptest::prelude::*;
use serde_json::{Value, json};

pub(super) type Any = BoxedStrategy<Value>;

/// Begins a text that is written as it is, without quotes.
const PLAIN: char = '\u{1}';

/// What YAML may read as something else than a text, and Talos does not where it
/// wants one.
pub(super) const ODD: &[&str] = &[
    "1.10",
    "1e3",
    ".5",
    "1.",
    "yes",
    "no",
    "on",
    "Off",
    "y",
    "Null",
    "~",
    "12:30:45",
    "0.1",
    "18446744073709551616",
    "0",
    "1",
    "true",
    "false",
    "=",
    "<",
];

/// The same, where we know it only in tables: see [`talos::config::patch`].
const ODD_IN_TABLES: &[&str] =
    &["True", "FALSE", "0x1F", "00", "017", "0o17", "0b11", "1_000", "+1"];

pub(super) fn plain(text: &str) -> Value {
    format!("{PLAIN}{text}").into()
}

pub(super) fn is_null(value: &Value) -> bool {
    value.is_null() || *value == plain("~")
}

pub(super) fn list(item: Any) -> Any {
    prop::collection::vec(item, 0..4).prop_map(Value::from).boxed()
}

pub(super) fn text() -> Any {
    let usual = prop::sample::select(vec!["", "a", "b", "1.10", "true"]).prop_map(Value::from);
    let odd = prop::sample::select(ODD).prop_map(plain);
    prop_oneof![12 => usual, 1 => odd].boxed()
}

/// A value of a table of texts.
pub(super) fn entry() -> Any {
    let odd = prop::sample::select(ODD_IN_TABLES).prop_map(plain);
    prop_oneof![8 => text(), 1 => odd].boxed()
}

pub(super) fn number() -> Any {
    prop::sample::select(vec![0, 1400, 9000]).prop_map(Value::from).boxed()
}

pub(super) fn flag() -> Any {
    any::<bool>().prop_map(Value::from).boxed()
}

pub(super) fn address() -> Any {
    Just(json!({ "address": "10.1.0.2/16" })).boxed()
}

pub(super) fn cidr() -> Any {
    prop::sample::select(vec!["10.1.0.0/16", "10.2.0.0/16"]).prop_map(Value::from).boxed()
}

/// JSON is YAML, up to what is plain.
pub(super) fn written(documents: &[Value]) -> String {
    let texts: Vec<_> = documents.iter().map(|document| format!("{document:#}\n")).collect();
    unquoted(&texts.join("---\n"))
}

/// Takes the quotes off what is plain.
pub(super) fn unquoted(text: &str) -> String {
    let mut pieces = text.split("\"\\u0001");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + &piece.replacen('"', "", 1))
}
