//! One program of the tests, with as many threads as suit it.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread::available_parallelism;

use clap::Args;

use crate::report;

/// Packages whose tests wait for servers nearly all of their time, and keep no
/// processor busy meanwhile.
const PATIENT: [&str; 1] = ["objects"];
/// How many of their tests wait on one processor.
const AT_ONCE: usize = 2;

/// Run one program of the tests. Cargo calls this, not people.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct Program {
    program: PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Program {
    /// The name of this command.
    pub(super) const NAME: &str = "program";

    /// Becomes the program.
    pub(crate) fn run(&self) -> ExitCode {
        let mut program = Command::new(&self.program);
        program.args(&self.args);
        if let Some(threads) = threads() {
            program.env("RUST_TEST_THREADS", threads.to_string());
        }
        report(&program.exec())
    }
}

/// Returns how many tests run at once, unless the harness knows best. Whoever
/// said so themselves is obeyed.
fn threads() -> Option<usize> {
    let package = env::var("CARGO_PKG_NAME").ok()?;
    let patient = PATIENT.contains(&package.as_str());
    let unsaid = env::var_os("RUST_TEST_THREADS").is_none();
    (patient && unsaid).then(|| AT_ONCE * available_parallelism().map_or(1, usize::from))
}
