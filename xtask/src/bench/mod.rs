//! `cargo xtask bench`: figures as ratios, measured in one run.

mod critical_path;
mod voyage;

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use rig::say::say;

use crate::{cargo, faults, report};

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
    /// How soon each fault is named, against the deadline of its gate.
    Faults,
    /// Commands on Kubernetes objects, against a raw client and the peers.
    Objects,
    /// 200 simulated nodes to proven administration, against bare handshakes.
    Talos,
    /// A whole rehearsal: wall time, memory, and 3 + 50 against its critical path.
    Voyage,
}

impl Bench {
    pub(crate) fn run(&self) -> ExitCode {
        let done = match self.what {
            What::Engine => cargo_bench("engine", "overhead"),
            What::Faults => faults::times(),
            What::Objects => cargo_bench("seaworthy", "objects"),
            What::Talos => cargo_bench("talos", "nodes"),
            What::Voyage => voyage::run(),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => report(error.as_ref()),
        }
    }
}

fn cargo_bench(package: &str, bench: &str) -> Result<(), Box<dyn std::error::Error>> {
    say("Measuring", format!("{package}, in the release profile"));
    let status = cargo().args(["bench", "--package", package, "--bench", bench]).status()?;
    if status.success() { Ok(()) } else { Err("the benchmark failed".into()) }
}
