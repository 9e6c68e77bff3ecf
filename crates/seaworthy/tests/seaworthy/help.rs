//! What the binary says about itself, and to whoever mistypes.

use insta::assert_snapshot;

use crate::workplace::Workplace;

#[test]
fn help_is_one_screen() {
    let ran = Workplace::new().run(["-h"]);
    assert_eq!(ran.exit, 0);
    assert_snapshot!(ran);
}

#[test]
fn a_typo_is_met_with_the_nearest_command() {
    let ran = Workplace::new().run(["valdate"]);
    assert_eq!(ran.exit, 2);
    assert_snapshot!(ran);
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Workplace::new().run(["completions", shell]);
        assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
        for command in ["init", "validate", "plan", "report", "schema"] {
            assert!(ran.stdout.contains(command), "{shell} does not know {command}");
        }
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let workplace = Workplace::new();
    let mut child =
        workplace.command(["schema"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
