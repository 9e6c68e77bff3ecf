//! Manifests, read as kubectl reads them.
//!
//! kubectl reads YAML 1.1: `0644` is 420 and `on` is true, also inside a
//! `ConfigMap`. A reader that takes them for something else applies another
//! object than the one that kubectl users have tested. Two differences are known.
//! A key that is set twice is refused, where kubectl drops one: that is meant.
//! Words in odd case such as `tRue` are booleans here and texts to kubectl: the
//! library has no other way.

use serde_json::{Number, Value};
use serde_saphyr::Options;
use serde_saphyr::options::DuplicateKeyPolicy;

use crate::{NotAnObject, Object};

/// Real manifests stay below a tenth of these; cert-manager has 1 MB in 50 documents.
const MAX_NODES: usize = 2_000_000;
const MAX_DOCUMENTS: usize = 20_000;

/// What aliases may stand for, in nodes: a bomb is refused before it is felt.
const MAX_REPLAYED: usize = 100_000;

/// Why a manifest could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The bytes are no text.
    #[error("{file} is not valid UTF-8 after byte {valid_up_to}")]
    NotUtf8 {
        /// The name of the file.
        file: String,
        /// How many bytes are good.
        valid_up_to: usize,
    },
    /// The text is no YAML, or sets a key twice.
    #[error("{file}:{line}:{column}: {problem}")]
    Syntax {
        /// The name of the file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
        /// What is wrong there.
        problem: String,
    },
    /// A document holds something else.
    #[error("document {document} of {file} is not an object: {problem}")]
    NotAnObject {
        /// The name of the file.
        file: String,
        /// Which document, from 1; empty ones are not counted.
        document: usize,
        /// What is wrong with it.
        problem: NotAnObject,
    },
}

/// Reads all objects of a manifest. `file` is what errors call it.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<Object>, ManifestError> {
    let text = std::str::from_utf8(bytes).map_err(|error| ManifestError::NotUtf8 {
        file: file.to_owned(),
        valid_up_to: error.valid_up_to(),
    })?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(text, as_kubectl())
        .map_err(|error| syntax(file, &error))?;
    let mut objects = Vec::new();
    for (index, document) in documents.into_iter().enumerate() {
        unfold(document, &mut objects).map_err(|problem| ManifestError::NotAnObject {
            file: file.to_owned(),
            document: index + 1,
            problem,
        })?;
    }
    Ok(objects)
}

fn as_kubectl() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: MAX_NODES, max_events: 2 * MAX_NODES, max_documents: MAX_DOCUMENTS },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_REPLAYED },
        duplicate_keys: DuplicateKeyPolicy::Error,
        legacy_octal_numbers: true,
        strict_booleans: false,
        with_snippet: false,
    }
}

fn syntax(file: &str, error: &serde_saphyr::Error) -> ManifestError {
    let location = error.location();
    ManifestError::Syntax {
        file: file.to_owned(),
        line: location.map_or(0, |location| location.line()),
        column: location.map_or(0, |location| location.column()),
        problem: plain(error.without_snippet()),
    }
}

/// The library's messages end with the place, which we put in front, and one
/// of them with advice for programmers.
fn plain(error: &serde_saphyr::Error) -> String {
    if let serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } = error {
        return format!("the key `{key}` is set twice");
    }
    let message = error.to_string();
    let first = message.lines().next().unwrap_or_default();
    first.split(" at line ").next().unwrap_or(first).to_owned()
}

/// Takes lists apart: what kubectl calls `kind: List`, and the typed lists too.
fn unfold(document: Value, objects: &mut Vec<Object>) -> Result<(), NotAnObject> {
    if !is_list(&document) {
        objects.push(Object::new(whole_numbers(document))?);
        return Ok(());
    }
    let items = document.get("items").and_then(Value::as_array).into_iter().flatten();
    items.cloned().try_for_each(|item| unfold(item, objects))
}

fn is_list(document: &Value) -> bool {
    let kind = document.get("kind").and_then(Value::as_str).unwrap_or_default();
    kind.ends_with("List") && document.get("items").is_some_and(Value::is_array)
}

/// `1e3` and `3.0` are whole numbers to kubectl, whose JSON has only one kind.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(number)),
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect()
        }
        other => other,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the number is whole and within the range")]
fn whole(number: Number) -> Number {
    /// Above this not every whole number is a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            Number::from(float as i64)
        }
        _ => number,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn data(yaml: &str) -> Value {
        let text =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: a }}\ndata:\n{yaml}");
        read("a.yaml", text.as_bytes()).unwrap().remove(0).into_body()["data"].take()
    }

    /// What `kubectl annotate --local -o json` made of the same values.
    #[test]
    fn scalars_are_what_kubectl_takes_them_for() {
        let cases = [
            ("0644", json!(420)),
            ("012", json!(10)),
            ("0o17", json!(15)),
            ("0x1F", json!(31)),
            ("1_000", json!(1000)),
            ("on", json!(true)),
            ("yes", json!(true)),
            ("Off", json!(false)),
            ("y", json!(true)),
            ("1e3", json!(1000)),
            ("1.5", json!(1.5)),
            ("~", json!(null)),
            ("'0644'", json!("0644")),
            ("\"on\"", json!("on")),
            ("1.2.3", json!("1.2.3")),
            ("9223372036854775807", json!(9_223_372_036_854_775_807_i64)),
        ];
        for (written, read) in cases {
            assert_eq!(data(&format!("  k: {written}\n"))["k"], read, "{written}");
        }
    }

    #[test]
    fn anchors_and_merge_keys_are_followed() {
        let read = data("  base: &b { x: 1, y: 2 }\n  more: { <<: *b, y: 3 }\n  same: *b\n");
        assert_eq!(read["more"], json!({ "x": 1, "y": 3 }));
        assert_eq!(read["same"], json!({ "x": 1, "y": 2 }));
    }

    #[test]
    fn documents_and_lists_become_objects_in_their_order() {
        let text = "# only a comment\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n\
            ---\n---\napiVersion: v1\nkind: List\nitems:\n\
            - {apiVersion: v1, kind: Secret, metadata: {name: b}}\n\
            - apiVersion: v1\n  kind: ConfigMapList\n  items:\n\
            \x20 - {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: x}}\n...\n";
        let objects = read("all.yaml", text.as_bytes()).unwrap();
        let ids: Vec<String> = objects.iter().map(|object| object.id().to_string()).collect();
        assert_eq!(ids, ["namespace/a", "secret/b", "configmap/c in namespace x"]);
    }

    #[test]
    fn empty_files_hold_nothing_and_json_is_yaml() {
        assert_eq!(read("a", b"").unwrap(), []);
        assert_eq!(read("a", b"---\n# nothing\n").unwrap(), []);
        let json = br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}"#;
        assert_eq!(read("a", json).unwrap()[0].id().to_string(), "pod/p");
    }

    #[test]
    fn mistakes_are_shown_where_they_stand() {
        let duplicate =
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: 1\n  k: 2\n";
        let error = read("a.yaml", duplicate.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "a.yaml:6:3: the key `k` is set twice");
        let broken = "apiVersion: v1\nkind: [Pod\n";
        let error = read("b.yaml", broken.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("b.yaml:") && !error.contains(":0:"), "{error}");
        let error = read("c.yaml", b"apiVersion: v1\nkind: Pod\n---\nhello\n").unwrap_err();
        assert!(error.to_string().starts_with("document 1 of c.yaml is not an object"), "{error}");
        let error = read("d.yaml", b"ok: \xFF").unwrap_err();
        assert_eq!(error.to_string(), "d.yaml is not valid UTF-8 after byte 4");
    }

    #[test]
    fn bombs_are_refused() {
        let line =
            |(name, item): (&str, &str)| format!("{name}: &{name} [{}]\n", [item; 9].join(","));
        let bomb = [("a", "1"), ("b", "*a"), ("c", "*b"), ("d", "*c"), ("e", "*d"), ("f", "*e")];
        let bomb: String = bomb.into_iter().map(line).collect();
        assert!(matches!(read("bomb", bomb.as_bytes()), Err(ManifestError::Syntax { .. })));
    }
}
