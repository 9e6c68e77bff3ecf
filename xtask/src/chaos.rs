//! `cargo xtask chaos`: faults at random moments, with many seeds.

use std::process::ExitCode;

use clap::Args;
use rig::say::say;

use crate::{faults, report};

/// Bring clusters up in chaos, and take them down: no hang, no false proof, no leak.
///
/// The tests try ten seeds; 200 take about half an hour on two cores.
#[derive(Debug, Args)]
pub(crate) struct Chaos {
    /// How many seeds.
    #[arg(long, default_value_t = 200, value_name = "COUNT")]
    seeds: u32,
    /// The first of them.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl Chaos {
    pub(crate) fn run(&self) -> ExitCode {
        let Self { seeds, seed } = self;
        say("Trying", format!("{seeds} seeds, the first is {seed}"));
        let asked = [("SEAWORTHY_CHAOS", seeds.to_string()), ("SEAWORTHY_SEED", seed.to_string())];
        match faults::sweep("chaos::", asked) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => report(error.as_ref()),
        }
    }
}
