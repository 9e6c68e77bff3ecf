//! The real kubectl reads the same as we do.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use objects::manifest;
use rig::need;
use serde_json::Value;

/// Everything that readers of YAML disagree about.
const SCALARS: &str = "0644 012 08 0o17 0o8 0x1F 0b11 0b12 -0b11 1_000 1__0 _1 on On oN ON yes y Y n N off \
    No no true TRUE tRue ~ null NULL nULL 1e3 1.5 3.0 -0 -0.0 0.0 +1 .5 +.5 1. 0. 00 1:30 2026-01-01 \
    2026-01-01T00:00:00Z 2026-1-1 1.2.3 '0644' 'on' \"null\" 0.1e-2 -7 1Gi 100m 9223372036854775807 \
    9223372036854775808 18446744073709551615 99999999999999999999 -9223372036854775809 = 1e-7 0777 -012 \
    1e18 1e21 1E400 123456789012345678.0 12e03 1.e3 .5e1 . .e1 1e 0x 0x1p-2 .inf -.inf .nan .INF inf nan \
    0777777777777777777777777 +0x10 -0x10 --1 +-1 0_7 !!str_12 !!int_'12' !!float_1 !!bool_yes !!null_x \
    !!int_x !!binary_aGk= !mine_x !!timestamp_2026-01-01 '' <<";

/// Documents as a whole: what comes before `@` is put in front of each.
const DOCUMENTS: &[&str] = &[
    "@spec: {b: &b {x: 1, z: 2}, m: {z: 3, <<: *b}, n: {<<: *b, z: 3}}\n",
    "@spec: {a: &a {x: 1}, b: &b {x: 2, z: 1}, m: {<<: [*a, *b]}}\n",
    "@spec: {on: 1, 80: 2, 0644: 3, 1.5: 4, x: 5, no: 6}\n",
    "@spec: {null: 1}\n",
    "@spec: {? {a: b} : 1}\n",
    "@spec: {? a, b: }\n",
    "@spec: {\"<<\": {a: 1}}\n",
    "@spec: !!set {a, b}\n",
    "@spec: *nope\n",
    "@spec: &a [*a]\n",
    "@spec:\n\ta: 1\n",
    "@spec: |\n  a\n  ---\n  b\n",
    "@spec: >-\n  folded\n  text\n\n  more\n",
    "@spec: \"\\x41\\u00e4\\e\"\n",
    "@spec: \"\\0\"\n",
    "@spec: # none\n",
    "@---\n---\n",
    "@...\n---\napiVersion: v1\nkind: T\nmetadata: {name: b}\n",
    "@--- # c\napiVersion: v1\nkind: T\nmetadata: {name: b}\n",
    "@---\n\u{feff}apiVersion: v1\nkind: T\nmetadata: {name: b}\n",
    "\u{feff}@",
    "apiVersion: v1\r\nkind: T\r\nmetadata: {name: a}\r\nspec: |\r\n  a\r\n---\r\n@",
    "{\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"a\"},\"n\":[3.0,1e3,1.5,-0]}\n",
    "{\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"a\"}}{\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"b\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"a\"},\"s\":\"\\ud83d\\ude00\"}",
    "{\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"a\"}}\n---\n@",
    "{apiVersion: v1, kind: T, metadata: {name: a}}\n---\n{apiVersion: v1, kind: T, metadata: {name: b}}\n",
    "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
    "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n",
    "@---\nhello\n",
    "- apiVersion: v1\n",
    "@x: [1, 2\n",
];

const HEAD: &str = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n";

#[test]
fn kubectl_reads_every_scalar_the_same() {
    let Some(kubectl) = need::binary("kubectl") else { return };
    let scalars = SCALARS.split_whitespace().map(spaced);
    let texts = scalars.map(|scalar| format!("{HEAD}spec: {{v: {scalar}}}\n"));
    compare(&kubectl, texts.collect());
}

#[test]
fn kubectl_reads_every_document_the_same() {
    let Some(kubectl) = need::binary("kubectl") else { return };
    compare(&kubectl, DOCUMENTS.iter().map(|text| text.replace('@', HEAD)).collect());
}

/// A tag and its value stand with an underscore in the list.
fn spaced(scalar: &str) -> String {
    let is_tagged = scalar.starts_with('!');
    if is_tagged { scalar.replacen('_', " ", 1) } else { scalar.to_owned() }
}

fn compare(kubectl: &Path, texts: Vec<String>) {
    let mut different = Vec::new();
    for text in texts {
        let ours = manifest::read("a.yaml", text.as_bytes()).map(|objects| {
            objects.into_iter().map(objects::Object::into_body).collect::<Vec<Value>>()
        });
        let theirs = read_by(kubectl, &text);
        match (&ours, &theirs) {
            (Ok(ours), Some(theirs)) if ours == theirs => {}
            (Err(_), None) => {}
            _ => different.push(format!("{text}: {ours:?}, kubectl {theirs:?}")),
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

/// What kubectl makes of a manifest: all of it, or nothing.
fn read_by(kubectl: &Path, text: &str) -> Option<Vec<Value>> {
    let mut child = std::process::Command::new(kubectl)
        .args(["--kubeconfig=/dev/null", "label", "--local", "-f", "-", "added=b", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let read = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let read: Vec<Value> = read.map(|body| without_label(body.unwrap())).collect();
    output.status.success().then_some(read)
}

fn without_label(mut body: Value) -> Value {
    body["metadata"].as_object_mut().unwrap().remove("labels");
    if let Some(number) =
        body.pointer_mut("/spec/v").filter(|value| value.is_u64() && !value.is_i64())
    {
        // kubectl writes the float 9.223372036854776e18 with all its digits.
        *number = number.as_f64().into();
    }
    body
}
