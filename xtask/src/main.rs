//! The chores of the project, as `cargo xtask COMMAND`.
//!
//! One file per command. What people read goes to stderr; stdout carries only
//! what a script may want, such as the path of a kubeconfig.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers: it prints, measures and waits"
)]

mod bench;
mod chaos;
mod ci;
mod docs;
mod faults;
mod fuzz;
mod laws;
mod rig;
mod test;

use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Parser;

/// The chores of seaworthy.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
enum Chore {
    Rig(rig::Rig),
    Test(test::Test),
    Program(test::Program),
    Ci(ci::Ci),
    Docs(docs::Docs),
    Bench(bench::Bench),
    Laws(laws::Laws),
    Faults(faults::Faults),
    Chaos(chaos::Chaos),
    Fuzz(fuzz::Fuzz),
}

fn main() -> ExitCode {
    match Chore::parse() {
        Chore::Rig(rig) => rig.run(),
        Chore::Test(test) => test.run(),
        Chore::Program(program) => program.run(),
        Chore::Ci(ci) => ci.run(),
        Chore::Docs(docs::Docs {}) => docs::run(),
        Chore::Bench(bench) => bench.run(),
        Chore::Laws(laws::Laws {}) => laws::run(),
        Chore::Faults(faults) => faults.run(),
        Chore::Chaos(chaos) => chaos.run(),
        Chore::Fuzz(fuzz) => fuzz.run(),
    }
}

/// Returns a cargo command at the workspace's root.
fn cargo() -> Command {
    let mut cargo = ::rig::cargo();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    cargo.current_dir(root.expect("xtask lies in the workspace"));
    cargo
}

/// Prints an error with all that caused it.
fn report(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("  because  {cause}");
        source = cause.source();
    }
    ExitCode::FAILURE
}
