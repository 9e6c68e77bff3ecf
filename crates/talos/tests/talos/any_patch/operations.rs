//! Operations of JSON patches by chance.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::scalars::{Any, plain};

/// Places in [`MAIN`].
const THERE: &[&str] = &[
    "/machine/certSANs",
    "/machine/certSANs/0",
    "/machine/sysctls/a~1b",
    "/machine/install",
    "/machine/install/disk",
    "/cluster/network/podSubnets",
    "/cluster",
    "/debug",
];

/// Places beside it: to some of them something can be added.
const BESIDE: &[&str] = &[
    "/machine/certSANs/2",
    "/machine/certSANs/-",
    "/machine/certSANs/9",
    "/machine/certSANs/a",
    "/machine/sysctls/new",
    "/machine/none/disk",
    "/",
    "debug",
];

/// What holds of [`MAIN`].
const TRUE: &[(&str, &str)] = &[
    ("/machine/certSANs/0", "a"),
    ("/machine/sysctls/a~1b", "1"),
    ("/machine/install/disk", "/dev/sda"),
];

pub(super) const MAIN: &str = "\
version: v1alpha1
debug: false
machine:
  certSANs: [a, b]
  sysctls: {a/b: '1'}
  install: {disk: /dev/sda}
cluster:
  network: {podSubnets: [10.244.0.0/16]}
";

/// Most of them can be applied: what is refused is not compared any further.
pub(super) fn operation() -> Any {
    let usual = [json!("a"), json!(["a", "b"]), json!({ "disk": "/dev/sda" }), json!(false)];
    let empty = [Value::Null, json!({}), json!([]), json!("")];
    let odd = ["1.10", "0x1F", "017", "1_000", "True", "yes", "0", "~"].map(plain);
    let values = [usual, empty].concat().into_iter().chain(odd).collect::<Vec<_>>();
    let there = || prop::sample::select(THERE);
    let anywhere = || prop_oneof![12 => there(), 1 => prop::sample::select(BESIDE)];
    let value = || prop::sample::select(values.clone());
    let addition = prop_oneof![3 => there(), 1 => prop::sample::select(BESIDE)];
    prop_oneof![
        6 => (addition, value())
            .prop_map(|(path, value)| json!({ "op": "add", "path": path, "value": value })),
        6 => (anywhere(), value())
            .prop_map(|(path, value)| json!({ "op": "replace", "path": path, "value": value })),
        1 => (anywhere(), value())
            .prop_map(|(path, value)| json!({ "op": "test", "path": path, "value": value })),
        2 => prop::sample::select(TRUE)
            .prop_map(|(path, value)| json!({ "op": "test", "path": path, "value": value })),
        1 => anywhere().prop_map(|path| json!({ "op": "remove", "path": path })),
        1 => (anywhere(), anywhere())
            .prop_map(|(path, from)| json!({ "op": "move", "path": path, "from": from })),
        3 => (anywhere(), anywhere())
            .prop_map(|(path, from)| json!({ "op": "copy", "path": path, "from": from })),
        1 => (anywhere(), value()).prop_map(
            |(path, value)| json!({ "op": "merge", "path": path, "value": value })
        ),
    ]
    .boxed()
}
