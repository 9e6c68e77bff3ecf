//! `cargo xtask faults`: faults of the simulated world, many at once.

use std::error::Error;
use std::process::ExitCode;

use clap::Args;
use rig::say::say;
use rig::settings::TIER;

use crate::{cargo, report};

/// Inject random pairs of faults, and check that one of the two is named first.
///
/// Writes `docs/fault-pairs.md`. The tests try a few pairs; 200 take about ten
/// minutes on two cores.
#[derive(Debug, Args)]
pub(crate) struct Faults {
    /// How many pairs.
    #[arg(long, default_value_t = 200, value_name = "COUNT")]
    pairs: u32,
    /// Run the commands that the output of every fault prints, instead of pairs.
    #[arg(long)]
    commands: bool,
    /// Which pairs: the same seed draws the same ones.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Faults {
    pub(crate) fn run(&self) -> ExitCode {
        if self.commands {
            return commands();
        }
        let Self { pairs, seed, .. } = self;
        say("Trying", format!("{pairs} pairs of faults, seed {seed}"));
        let asked =
            [("SEAWORTHY_FAULT_PAIRS", pairs.to_string()), ("SEAWORTHY_SEED", seed.to_string())];
        match sweep("fault_pairs::", asked) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => report(error.as_ref()),
        }
    }
}

/// Runs every fault with the real binary, and every command that it prints.
fn commands() -> ExitCode {
    say("Trying", "the commands that the output of every fault prints");
    let mut cargo = cargo();
    cargo.args(["test", "--package", "seaworthy", "--test", "seaworthy", "printed_commands::"]);
    cargo.args(["--", "--nocapture"]).env("SEAWORTHY_PRINTED_COMMANDS", "1");
    // talosctl is of the third tier; where it is not built, its commands are not tried.
    cargo.env(TIER, "3");
    match cargo.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => report(&error),
    }
}

/// Measures how soon each fault is named, and writes `docs/fault-times.md`.
pub(crate) fn times() -> Result<(), Box<dyn Error>> {
    say("Measuring", "how soon each fault is named");
    sweep("fault_times::", [("SEAWORTHY_FAULT_TIMES", "1".to_owned())])
}

/// Runs a sweep of the tests, with more than they try by themselves.
pub(crate) fn sweep<const N: usize>(
    filter: &str,
    asked: [(&str, String); N],
) -> Result<(), Box<dyn Error>> {
    let mut cargo = cargo();
    cargo.args(["test", "--package", "lifecycle", "--test", "voyage", filter, "--"]);
    let status = cargo.arg("--nocapture").envs(asked).status()?;
    if status.success() { Ok(()) } else { Err("not every run ended as it should".into()) }
}
