//! What is read, and what is said about what cannot be.

use std::io;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn data(yaml: &str) -> Value {
    let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: a }}\ndata:\n{yaml}");
    read("a.yaml", text.as_bytes()).unwrap().remove(0).into_body()["data"].take()
}

fn ids(text: &str) -> Vec<String> {
    let objects = read("a.yaml", text.as_bytes()).unwrap();
    objects.iter().map(|object| object.id().to_string()).collect()
}

fn error(text: &str) -> String {
    read("a.yaml", text.as_bytes()).unwrap_err().to_string()
}

/// What `kubectl label --local -o json` made of the same values.
#[test]
fn scalars_are_what_kubectl_takes_them_for() {
    let cases = [
        ("0644", json!(420)),
        ("08", json!(8)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("-0b11", json!(-3)),
        ("1_000", json!(1000)),
        ("_1", json!("_1")),
        ("on", json!(true)),
        ("Off", json!(false)),
        ("y", json!(true)),
        ("tRue", json!("tRue")),
        ("1e3", json!(1000)),
        ("1.5", json!(1.5)),
        ("-0.0", json!(0)),
        ("1E400", json!("1E400")),
        ("1e18", json!(1_000_000_000_000_000_000_i64)),
        ("123456789012345678.0", json!(123_456_789_012_345_680_i64)),
        ("18446744073709551615", json!(18_446_744_073_709_551_615_f64)),
        ("0777777777777777777777777", json!(777_777_777_777_777_777_777_777_f64)),
        ("~", json!(null)),
        ("", json!(null)),
        ("'0644'", json!("0644")),
        ("\"on\"", json!("on")),
        ("1.2.3", json!("1.2.3")),
        ("2026-01-01", json!("2026-01-01")),
        ("!!str 12", json!("12")),
        ("!!int '12'", json!(12)),
        ("!!binary aGk=", json!("hi")),
        ("!mine x", json!("x")),
    ];
    for (written, read) in cases {
        assert_eq!(data(&format!("  k: {written}\n"))["k"], read, "{written}");
    }
    let keys = data("  on: 1\n  0644: 2\n  '0644': 3\n  1.5: 4\n");
    assert_eq!(keys, json!({ "true": 1, "420": 2, "0644": 3, "1.5": 4 }));
}

#[test]
fn anchors_and_merge_keys_are_followed_as_kubectl_does() {
    let read = data("  base: &b { x: 1, z: 2 }\n  more: { <<: *b, z: 3 }\n  same: *b\n");
    assert_eq!(read["more"], json!({ "x": 1, "z": 3 }));
    assert_eq!(read["same"], json!({ "x": 1, "z": 2 }));
    // kubectl's reader lets a merge key win over what stands before it.
    let read = data("  base: &b { x: 1, z: 2 }\n  more: { z: 3, <<: *b }\n");
    assert_eq!(read["more"], json!({ "x": 1, "z": 2 }));
    let read = data("  a: &a { x: 1 }\n  b: &b { x: 2, z: 2 }\n  c: { <<: [*a, *b] }\n");
    assert_eq!(read["c"], json!({ "x": 1, "z": 2 }));
    assert_eq!(data("  \"<<\": 1\n"), json!({ "<<": 1 }));
}

#[test]
fn documents_and_lists_become_objects_in_their_order() {
    let text = "# only a comment\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n\
        ---\n---\napiVersion: v1\nkind: List\nitems:\n\
        - {apiVersion: v1, kind: Secret, metadata: {name: b}}\n\
        - apiVersion: v1\n  kind: ConfigMapList\n  items:\n\
        \x20 - {metadata: {name: c, namespace: x}}\n...\n";
    assert_eq!(ids(text), ["namespace/a", "secret/b", "configmap/c in namespace x"]);
    let objects = read_placed("all.yaml", text.as_bytes()).unwrap();
    let places: Vec<String> = objects.iter().map(|one| one.place.to_string()).collect();
    assert_eq!(places, ["all.yaml:3:1", "all.yaml:11:3", "all.yaml:15:5"]);
    // Nothing is lost behind the end of a document, nor on its first line.
    let text = "--- {apiVersion: v1, kind: A, metadata: {name: a}}\n...\n\
        apiVersion: v1\nkind: B\nmetadata: {name: b}\n--- # c\n{apiVersion: v1, kind: C, metadata: {name: c}}\n";
    assert_eq!(ids(text), ["a/a", "b/b", "c/c"]);
    for empty in
        ["apiVersion: v1\nkind: List\nitems: []\n", "apiVersion: v1\nkind: List\nitems: null\n"]
    {
        assert_eq!(ids(empty), [""; 0]);
    }
    let thing = "apiVersion: v1\nkind: Thing\nmetadata: {name: a}\nitems: [1]\n";
    assert_eq!(ids(thing), ["thing/a"]);
}

#[test]
fn other_line_ends_marks_and_emptiness_are_taken() {
    assert_eq!(read("a", b"").unwrap(), []);
    assert_eq!(read("a", b"---\n# nothing\n---\n~\n").unwrap(), []);
    let text = "\u{feff}apiVersion: v1\r\nkind: T\r\nmetadata: {name: a}\r\nspec: |\r\n  a\r\n  b\r\n---\r\n\
        \u{feff}apiVersion: v1\r\nkind: T\r\nmetadata: {name: b}\r\n";
    let objects = read("a", text.as_bytes()).unwrap();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0].text("/spec"), Some("a\nb\n"));
}

#[test]
fn json_is_read_as_json() {
    let one = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"n":3.0,"s":"\ud83d\ude00","on":"on"}"#;
    let object = read("a", one.as_bytes()).unwrap().remove(0);
    assert_eq!(object.at("/n"), Some(&json!(3)));
    assert_eq!(object.text("/s"), Some("😀"));
    assert_eq!(ids(&format!("{one}\n{one}")), ["pod/p", "pod/p"]);
    assert_eq!(
        ids(&format!("{one}\n---\napiVersion: v1\nkind: T\nmetadata: {{name: b}}\n")).len(),
        2
    );
    assert_eq!(ids("{apiVersion: v1, kind: T, metadata: {name: b}}"), ["t/b"]);
    let twice = "{\"apiVersion\": \"v1\", \"kind\": \"T\",\n \"metadata\": {\"name\": \"a\", \"name\": \"b\"}}";
    assert_eq!(error(twice), "a.yaml:2:28: the key `name` is set twice");
    let placed = read_placed("a", format!("{one}\n\n  {one}").as_bytes()).unwrap();
    assert_eq!(placed[1].place.to_string(), "a:3:3");
}

#[test]
fn mistakes_are_shown_where_they_stand() {
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let cases = [
        ("data:\n  k: 1\n  k: 2\n", "a.yaml:6:3: the key `k` is set twice, first on line 5"),
        ("data:\n  1: 1\n  '1': 2\n", "a.yaml:6:3: the key `1` is set twice, first on line 5"),
        ("data: {a: 1, a: 2}\n", "a.yaml:4:14: the key `a` is set twice, first on line 4"),
        ("data:\n\tk: 1\n", "a.yaml:5:1: a tab cannot indent YAML, use spaces"),
        ("data: *nope\n", "a.yaml:4:7: there is no anchor `&nope` before this"),
        ("data: &a [*a]\n", "a.yaml:4:11: an anchor cannot contain itself"),
        ("data: {~: 1}\n", "a.yaml:4:8: null cannot be a key"),
        ("data: {? [a] : 1}\n", "a.yaml:4:10: a list or a mapping cannot be a key"),
        ("data: {<<: 1}\n", "a.yaml:4:12: only a mapping can be merged"),
        ("data: {<<: [1]}\n", "a.yaml:4:13: only a mapping can be merged"),
        ("data: {k: .inf}\n", "a.yaml:4:11: JSON has no number `.inf`"),
        ("data: {k: !!int x}\n", "a.yaml:4:17: `x` is no `!!int`"),
        ("---\nhello\n", "a.yaml:5:1: this is not an object: it is not a mapping"),
        (
            "---\n\n# b\nkind: T\n",
            "a.yaml:7:1: this is not an object: `apiVersion` is missing or not a text",
        ),
        (
            "---\napiVersion: v1\nkind: List\nitems:\n- kind: T\n",
            "a.yaml:8:3: this is not an object: `apiVersion` is missing or not a text",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error(&format!("{head}{text}")), message, "{text}");
    }
    let broken = error("apiVersion: v1\nkind: [Pod\n");
    assert!(broken.starts_with("a.yaml:") && broken.len() > "a.yaml:3:1: ".len(), "{broken}");
    let binary = read("d.yaml", b"ok: \xFF").unwrap_err();
    assert_eq!(binary.to_string(), "d.yaml is not valid UTF-8 after byte 4");
}

#[test]
fn bombs_and_depths_are_refused() {
    let line = |(name, item): (&str, &str)| format!("{name}: &{name} [{}]\n", [item; 9].join(","));
    let bomb = [("a", "1"), ("b", "*a"), ("c", "*b"), ("d", "*c"), ("e", "*d"), ("f", "*e")];
    let bomb: String = bomb.into_iter().map(line).collect();
    assert!(error(&bomb).ends_with("the aliases stand for too many values"));
    let syntax = |text: &str| {
        let errors = read("deep", text.as_bytes()).unwrap_err();
        matches!(errors.errors(), [ManifestError::Syntax { .. }])
    };
    assert!(syntax(&"[".repeat(100_000)));
    let deep = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    assert!(syntax(&deep));
}

#[test]
fn files_are_found_sorted_and_by_their_ending() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("b/deep.yaml")).unwrap();
    std::fs::create_dir_all(at("empty")).unwrap();
    for name in ["c.yml", "a.yaml", "note.txt", "d.json", "b/x.yaml", "b/deep.yaml/y.yml"] {
        std::fs::write(at(name), "").unwrap();
    }
    let names = |paths: &[&str], depth: Depth| -> Result<Vec<String>, String> {
        let found = sources(
            paths.iter().map(|name| if *name == "-" { "-".into() } else { at(name) }),
            depth,
        );
        let strip = |source: &Source| {
            source.to_string().replace(&format!("{}/", folder.path().display()), "")
        };
        found.map(|found| found.iter().map(strip).collect()).map_err(|error| error.to_string())
    };
    assert_eq!(names(&[""], Depth::Flat).unwrap(), ["a.yaml", "c.yml", "d.json"]);
    let all = ["a.yaml", "b/deep.yaml/y.yml", "b/x.yaml", "c.yml", "d.json"];
    assert_eq!(names(&[""], Depth::Recursive).unwrap(), all);
    let mixed = names(&["note.txt", "-", "b", "b/x.yaml"], Depth::Flat).unwrap();
    assert_eq!(mixed, ["note.txt", "stdin", "b/x.yaml"]);
    assert_eq!(names(&["-", "-"], Depth::Flat).unwrap_err(), "`-` can be read only once");
    let empty = names(&["empty"], Depth::Recursive).unwrap_err();
    assert!(empty.starts_with("there is no .yaml, .yml or .json file in "), "{empty}");
    let missing = names(&["none.yaml"], Depth::Flat).unwrap_err();
    assert!(missing.starts_with("could not read ") && missing.contains("none.yaml: "), "{missing}");
}

#[test]
fn every_bad_document_of_a_file_is_told_with_its_line() {
    let good = "apiVersion: v1\nkind: T\nmetadata: {name: a}\n";
    let text = format!(
        "{good}---\na: 1\na: 2\nb: [\n---\n{good}---\nhello\n---\nkind: T\n---\nx: [1, }}\n---\n{good}\
         ---\na:\n\tb: 1\n---\napiVersion: v1\nkind: List\nitems: [1, {{kind: U}}]\n"
    );
    let told = error(&text);
    let lines: Vec<&str> = told.lines().collect();
    let places: Vec<&str> =
        lines.iter().filter_map(|line| line.split_once(": ").map(|(place, _)| place)).collect();
    let expected = ["6:1", "7:4", "13:1", "15:1", "17:4", "24:1", "28:9", "28:12"];
    assert_eq!(places, expected.map(|place| format!("a.yaml:{place}")), "{told}");
    // Nobody reads hundreds of them.
    let tabs = "---\na:\n\tb: 1\n".repeat(200);
    assert_eq!(read("a", tabs.as_bytes()).unwrap_err().errors().len(), 50);
}

#[test]
fn all_mistakes_of_all_files_are_told() {
    let sources = ["good", "bad", "gone", "worse"].map(|name| Source::File(name.into()));
    let open = |source: &Source| match source.to_string().as_str() {
        "good" => Ok(b"{apiVersion: v1, kind: T, metadata: {name: a}}".to_vec()),
        "bad" => Ok(b"hello".to_vec()),
        "worse" => Ok(b"a: 1\na: 2\n".to_vec()),
        _ => Err(io::Error::other("it is gone")),
    };
    let errors = read_all(sources.clone(), open).unwrap_err();
    let expected = "bad:1:1: this is not an object: it is not a mapping\n\
        could not read gone: it is gone\nworse:2:1: the key `a` is set twice, first on line 1";
    assert_eq!(errors.to_string(), expected);
    assert_eq!(read_all([sources[0].clone()], open).unwrap()[0].place.to_string(), "good:1:1");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "([a-c]: |- |\\n|  |\\{|\\}|\\[|\\]|,|&x |\\*x|<<: |\"|'|---\\n|\\.\\.\\.\\n|!!int |0x|1|#|\\||>|\\t|%){0,30}") {
        let errors = read("a", text.as_bytes()).err();
        for error in errors.iter().flat_map(ManifestErrors::errors) {
            let ManifestError::Syntax { place, problem } = error else { continue };
            prop_assert!(place.line > 0 && place.column > 0 && !problem.is_empty(), "{place}: {problem}");
            prop_assert!(place.line <= text.lines().count() + 1, "{place}");
        }
    }

    #[test]
    fn json_reads_back(numbers in proptest::collection::vec(any::<i64>(), 0..4), text in ".{0,12}") {
        let body = json!({ "apiVersion": "v1", "kind": "T", "metadata": { "name": "a" },
            "n": numbers, "s": text, "t": { text.as_str(): null } });
        let object = read("a", body.to_string().as_bytes()).unwrap().remove(0);
        prop_assert_eq!(object.into_body(), body);
    }
}
