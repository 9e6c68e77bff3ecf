//! What commands on objects tell machines has one shape.

use std::io::Read as _;
use std::process::Child;

use serde_json::Value;

use crate::quay::{Quay, hear, press};
use crate::shore::{deployment, map};

/// Checks the envelope of a document, and returns it.
#[track_caller]
fn envelope(command: &str, exit: i32, stdout: &str) -> Value {
    let record: Value = serde_json::from_str(stdout)
        .unwrap_or_else(|error| panic!("{command}: {error} in `{stdout}`"));
    assert_eq!(record["command"], command, "{record}");
    assert_eq!(record["exit"], exit, "{record}");
    assert_eq!(record["interrupted"], exit == 5, "{record}");
    assert!(record["afterMs"].is_u64(), "{record}");
    assert_eq!(record["error"].is_null(), record["error"]["message"].is_null(), "{record}");
    for object in record["objects"].as_array().unwrap() {
        for key in ["apiVersion", "kind", "name", "result"] {
            assert!(object[key].is_string(), "{key} of {object} is missing");
        }
    }
    record
}

/// Presses Ctrl-C, and returns the exit code and the data.
fn interrupted(mut child: Child) -> (i32, String) {
    press(&child);
    let mut data = String::new();
    child.stdout.as_mut().unwrap().read_to_string(&mut data).unwrap();
    (child.wait().unwrap().code().unwrap(), data)
}

#[test]
fn every_command_on_objects_prints_the_same_envelope() {
    let Some(quay) = Quay::reach() else { return };
    quay.workplace.write("app.yaml", map("a", "1") + &map("b", "1"));
    let give = |command: &str, args: &[&str], exit: i32| {
        let args = [&["-f", "app.yaml", "-o", "json"], args].concat();
        let ran = quay.run(command, &args);
        assert_eq!(ran.exit, exit, "{ran}");
        envelope(command, exit, &ran.stdout)
    };
    for (command, args, exit) in [
        ("diff", &[][..], 7),
        ("apply", &["--wait"], 0),
        ("diff", &[], 0),
        ("wait", &[], 0),
        ("explain", &[], 0),
    ] {
        let record = give(command, args, exit);
        assert_eq!(record["objects"].as_array().unwrap().len(), 2, "{record}");
        assert_eq!(record["objects"][0]["namespace"], quay.namespace.name(), "{record}");
    }
    quay.kubectl(&["delete", "cm", "a"]);
    let record = give("drift", &[], 7);
    assert_eq!(record["objects"][0]["result"], "gone", "{record}");
    let record = give("delete", &[], 0);
    assert_eq!(record["objects"][0]["result"], "absent", "{record}");
    assert_eq!(record["objects"][1]["result"], "deleted", "{record}");
}

#[test]
fn what_ends_before_anything_is_known_is_told_in_the_envelope() {
    let Some(quay) = Quay::reach() else { return };
    for command in ["apply", "diff", "drift", "wait", "delete", "explain"] {
        let ran = quay.run(command, &["-f", "missing.yaml", "-o", "json"]);
        assert_eq!(ran.exit, 2, "{ran}");
        let record = envelope(command, 2, &ran.stdout);
        let message = record["error"]["message"].as_str().unwrap();
        assert!(message.contains("could not read missing.yaml"), "{record}");
        assert!(ran.stderr.contains("could not read missing.yaml"), "{ran}");
    }
}

#[test]
fn interrupted_commands_print_the_same_envelope() {
    let Some(quay) = Quay::reach() else { return };
    let mut child = quay.start("wait", &["cm/late", "--for", "create", "-o", "json"]);
    hear(&mut child, "late: it is not there");
    let (exit, data) = interrupted(child);
    let record = envelope("wait", exit, &data);
    assert_eq!((exit, &record["objects"][0]["name"]), (5, &"late".into()), "{record}");
    assert_eq!(record["objects"][0]["result"], "awaited", "{record}");

    quay.workplace.write("app.yaml", map("a", "1") + &deployment("web", 1));
    let mut child = quay.start("apply", &["-f", "app.yaml", "--wait", "-o", "json"]);
    hear(&mut child, "Waiting deployment.apps/web");
    let (exit, data) = interrupted(child);
    let record = envelope("apply", exit, &data);
    assert_eq!((exit, &record["objects"][0]["result"]), (5, &"created".into()), "{record}");
    let waited = &record["waited"]["objects"];
    assert_eq!((&waited[0]["name"], &waited[0]["result"]), (&"web".into(), &"awaited".into()));

    quay.kubectl(&[
        "patch",
        "cm",
        "a",
        "-p",
        r#"{"metadata":{"finalizers":["example.com/stay"]}}"#,
    ]);
    let mut child = quay.start("delete", &["cm/a", "-o", "json"]);
    hear(&mut child, "finalizer example.com/stay is left");
    let (exit, data) = interrupted(child);
    let record = envelope("delete", exit, &data);
    assert_eq!((exit, &record["objects"][0]["result"]), (5, &"awaited".into()), "{record}");
    quay.kubectl(&["patch", "cm", "a", "-p", r#"{"metadata":{"finalizers":null}}"#]);
}
