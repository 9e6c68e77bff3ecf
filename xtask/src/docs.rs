//! `cargo xtask docs`: writes generated files anew.

use std::process::ExitCode;

use clap::Args;
use rig::say::say;

use crate::{cargo, report};

/// Write generated files anew: the command reference, the schema, the pictures.
///
/// They are written by the tests that check them, so that there is one opinion
/// about what they should be.
#[derive(Debug, Args)]
pub(crate) struct Docs {}

/// The tests that write, by package and filter.
const WRITERS: [(&str, &str); 2] = [("seaworthy", "generated::"), ("report", "pictures::")];

pub(crate) fn run() -> ExitCode {
    for (package, filter) in WRITERS {
        say("Writing", format!("what {package} generates"));
        let mut command = cargo();
        command.args(["test", "--quiet", "--package", package, "--tests", filter]);
        match command.env("SEAWORTHY_BLESS", "1").status() {
            Ok(status) if status.success() => {}
            Ok(_) => return ExitCode::FAILURE,
            Err(error) => return report(&error),
        }
    }
    say("Wrote", "docs; `git diff` shows what changed");
    ExitCode::SUCCESS
}
