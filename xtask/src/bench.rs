//! `cargo xtask bench`: figures as ratios, measured in one run.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use rig::say::say;

use crate::{cargo, report};

/// Measure something, and print the figures.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// What to measure.
    what: What,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// The engine's overhead over the critical path, and events per second.
    Engine,
}

impl Bench {
    pub(crate) fn run(&self) -> ExitCode {
        let (package, bench) = match self.what {
            What::Engine => ("engine", "overhead"),
        };
        say("Measuring", format!("{package}, in the release profile"));
        let status = cargo().args(["bench", "--package", package, "--bench", bench]).status();
        match status {
            Ok(status) if status.success() => ExitCode::SUCCESS,
            Ok(_) => ExitCode::FAILURE,
            Err(error) => report(&error),
        }
    }
}
