//! `cargo xtask test`: everything, with a last line that can be trusted.

mod failures;
mod program;
mod tally;

use std::fs;
use std::io::{BufRead, BufReader, Write, stdout};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Instant;

use clap::Args;
use rig::ControlPlane;
use rig::say::{brief, say};
use rig::settings::{REMARKS, SHARED, SKIPS, Settings, TIER};

use crate::rig::prepare;
use crate::{cargo, report};
use failures::Failures;
pub(crate) use program::Program;
use tally::Tally;

/// Run the tests: simulators and the rig's first two tiers.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Simulators only: nothing of the rig is built or started.
    #[arg(long)]
    quick: bool,
    /// Add tier 3: real Talos.
    #[arg(long, conflicts_with = "quick")]
    all: bool,
    /// Passed to `cargo test`, such as a filter or `-- --nocapture`.
    #[arg(last = true)]
    cargo_args: Vec<String>,
}

impl Test {
    /// Runs what `ci` runs.
    pub(crate) fn for_ci(all: bool) -> Self {
        Self { quick: false, all, cargo_args: Vec::new() }
    }

    pub(crate) fn run(&self) -> ExitCode {
        match self.tests() {
            Ok(code) => code,
            Err(error) => report(error.as_ref()),
        }
    }

    /// With the workspace beside them, packages that are named would mean nothing.
    fn names_packages(&self) -> bool {
        let mut of_cargo = self.cargo_args.iter().take_while(|arg| *arg != "--");
        of_cargo.any(|arg| arg.starts_with("-p") || arg.starts_with("--package"))
    }

    fn tests(&self) -> Result<ExitCode, Box<dyn std::error::Error>> {
        let began = Instant::now();
        let tier = match (self.quick, self.all) {
            (true, _) => 0,
            (_, true) => 3,
            _ => Settings::get().tier,
        };
        let scratch = tempfile::tempdir()?;
        let skips = scratch.path().join("skips.jsonl");
        let remarks = scratch.path().join("remarks");
        let shared = if self.quick { None } else { start_shared(tier)? };
        let mut tests = cargo();
        tests.args(["test", "--no-fail-fast", "--config"]).arg(runner()?);
        if !self.names_packages() {
            tests.arg("--workspace");
        }
        tests.args(&self.cargo_args);
        tests.env(TIER, tier.to_string()).env(SKIPS, &skips).env(REMARKS, &remarks);
        if let Some(plane) = &shared {
            tests.env(SHARED, plane.access().dir());
        }
        say("Building", "the workspace and its tests, then running them");
        let (mut tally, failures, status) = stream(&mut tests)?;
        drop(shared);
        tally.read_skips(&skips)?;
        say("Finished", format!("in {}", brief(began.elapsed())));
        for remark in fs::read_to_string(&remarks).unwrap_or_default().lines() {
            eprintln!("      remark {remark}");
        }
        eprint!("{failures}");
        Ok(conclude(&tally, status))
    }
}

/// Makes cargo run each program of the tests through [`Program`].
fn runner() -> std::io::Result<String> {
    let this = std::env::current_exe()?;
    Ok(format!("target.'cfg(unix)'.runner=[{:?}, {:?}]", this.display().to_string(), Program::NAME))
}

/// Builds what the tests use and starts the control plane that they share.
/// What cannot be built is said here, and its tests will be skipped.
fn start_shared(tier: u8) -> Result<Option<ControlPlane>, Box<dyn std::error::Error>> {
    let outcome = prepare(|component| component.tier <= tier);
    let names = |name: &&str| rig::component::component(name).is_some_and(|c| c.tier == 1);
    if tier == 0 || outcome.missing.iter().any(names) {
        return Ok(None);
    }
    let began = Instant::now();
    let plane = ControlPlane::start()?;
    say("Started", format!("the shared control plane in {}", brief(began.elapsed())));
    Ok(Some(plane))
}

/// Runs the tests, passing their output on line by line, counting, and keeping what
/// those have said that fail.
fn stream(tests: &mut Command) -> std::io::Result<(Tally, Failures, ExitStatus)> {
    let mut child = tests.stdout(Stdio::piped()).spawn()?;
    let (mut tally, mut failures) = (Tally::default(), Failures::default());
    let out = child.stdout.take().expect("the output was piped");
    let mut out = BufReader::new(out);
    let mut line = Vec::new();
    while out.read_until(b'\n', &mut line)? > 0 {
        stdout().write_all(&line)?;
        let text = String::from_utf8_lossy(&line);
        tally.read_line(&text);
        failures.read_line(&text);
        line.clear();
    }
    Ok((tally, failures, child.wait()?))
}

/// Prints the reasons and the last line, and decides.
fn conclude(tally: &Tally, status: ExitStatus) -> ExitCode {
    for (reason, count) in tally.reasons() {
        eprintln!("     skipped {count}: {reason}");
    }
    let verdict = tally.verdict(status.success());
    if let Err(problem) = &verdict {
        eprintln!("error: {problem}");
    }
    println!("{tally}");
    if verdict.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
