//! Values of secrets are printed by no command on objects.

use serde_json::json;

use crate::quay::Quay;
use crate::workplace::Ran;

const VALUE: &str = "canary-hunter22";

/// The value as it stands in `data`.
const ENCODED: &str = "Y2FuYXJ5LWh1bnRlcjIy";

#[track_caller]
fn hides(ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        assert!(!text.contains("canary") && !text.contains(&ENCODED[..12]), "{ran}");
    }
}

fn secret(field: &str, value: &str, more: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Secret, metadata: {{name: s{more}}}, {field}: {{p: {value}}}}}\n"
    )
}

#[test]
fn no_command_prints_the_value_of_a_secret() {
    let Some(quay) = Quay::reach() else { return };
    let run = |command: &str, args: &[&str], exit: i32| {
        for output in ["text", "json"] {
            let ran = quay.run(command, &[args, &["-o", output]].concat());
            assert_eq!(ran.exit, exit, "{command} {args:?}: {ran}");
            hides(&ran);
        }
    };
    quay.workplace.write("s.yaml", secret("stringData", VALUE, ""));
    run("apply", &["-f", "s.yaml", "--dry-run"], 0);
    run("diff", &["-f", "s.yaml"], 7);
    run("apply", &["-f", "s.yaml", "--wait"], 0);
    run("drift", &["-f", "s.yaml"], 0);
    run("wait", &["secret/s"], 0);
    run("explain", &["secret/s"], 0);
    // What fails tells what is there, and must not tell this.
    for goal in ["jsonpath={.data.p}=x", "field=data.p=x", "jsonpath={.data}=x"] {
        run("wait", &["secret/s", "--for", goal, "--timeout", "1s"], 3);
    }
    let other = format!("{VALUE}-two");
    let patch = json!({ "stringData": { "p": other } }).to_string();
    quay.kubectl(&["patch", "secret", "s", "-p", &patch]);
    run("apply", &["-f", "s.yaml"], 4);
    run("diff", &["-f", "s.yaml"], 4);
    run("drift", &["-f", "s.yaml"], 7);
    // Refused by the API with words about the value.
    quay.workplace.write("bad.yaml", secret("data", VALUE, ""));
    run("apply", &["-f", "bad.yaml"], 4);
    quay.workplace.write("bad.yaml", secret("stringData", &format!("[{VALUE}]"), ""));
    run("apply", &["-f", "bad.yaml"], 4);
    let held = secret("stringData", VALUE, ", finalizers: [example.com/stay]");
    quay.workplace.write("held.yaml", held);
    run("apply", &["-f", "held.yaml", "--force-conflicts"], 0);
    run("delete", &["secret/s", "--timeout", "1s"], 6);
    let ran = quay.run("delete", &["-f", "held.yaml", "--timeout", "1s", "--force-finalizers"]);
    assert_eq!(ran.exit, 0, "{ran}");
    hides(&ran);
}
