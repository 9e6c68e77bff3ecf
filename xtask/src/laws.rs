//! `cargo xtask laws`: the laws of the engine at every point of every shape.

use std::process::ExitCode;

use clap::Args;
use rig::say::say;

use crate::{cargo, report};

/// Crash, stop and fail `up` and `down` at every point, and resume.
///
/// The tests cross a share of these points that fits into minutes; all of them
/// take about half an hour on two cores.
#[derive(Debug, Args)]
pub(crate) struct Laws {}

pub(crate) fn run() -> ExitCode {
    say("Trying", "the laws at every point, in the release profile");
    let mut cargo = cargo();
    cargo.args(["test", "--release", "--package", "lifecycle", "--test", "laws", "--"]);
    cargo.args(["--nocapture", "--test-threads=2"]).env("SEAWORTHY_EVERY_POINT", "1");
    match cargo.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => report(&error),
    }
}
