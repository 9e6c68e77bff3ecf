//! Operations of JSON patches by chance.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::scalars::{Any, plain};

/// Places in [`MAIN`] and beside it.
const POINTERS: &[&str] = &[
    "/machine/certSANs",
    "/machine/certSANs/0",
    "/machine/certSANs/2",
    "/machine/certSANs/-",
    "/machine/certSANs/9",
    "/machine/certSANs/a",
    "/machine/sysctls/a~1b",
    "/machine/sysctls/new",
    "/machine/install",
    "/machine/install/disk",
    "/machine/none/disk",
    "/cluster/network/podSubnets",
    "/cluster",
    "/debug",
    "/",
    "debug",
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

pub(super) fn operation() -> Any {
    let verbs = vec!["add", "remove", "replace", "test", "move", "copy", "merge"];
    let usual = [json!("a"), json!(["a", "b"]), json!({ "disk": "/dev/sda" }), json!(false)];
    let empty = [Value::Null, json!({}), json!([]), json!("")];
    let odd = ["1.10", "0x1F", "017", "1_000", "True", "yes", "0", "~"].map(plain);
    let values = [usual, empty].concat().into_iter().chain(odd).collect::<Vec<_>>();
    let pointer = || prop::sample::select(POINTERS);
    (prop::sample::select(verbs), pointer(), pointer(), prop::sample::select(values))
        .prop_map(|(verb, path, from, value)| match verb {
            "remove" => json!({ "op": verb, "path": path }),
            "move" | "copy" => json!({ "op": verb, "path": path, "from": from }),
            _ => json!({ "op": verb, "path": path, "value": value }),
        })
        .boxed()
}
