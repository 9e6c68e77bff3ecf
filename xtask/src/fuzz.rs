//! `cargo xtask fuzz`: parsers of foreign bytes under libFuzzer, led by coverage.

use std::fs::{create_dir_all, read_dir};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use rig::say::say;

use crate::{cargo, report};

/// What libFuzzer needs to see which branches an input takes. These are options
/// of the stable compiler; only sanitizers would need a nightly one.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks";

/// Fuzz the parsers of foreign bytes.
///
/// What is found lies below `target/fuzz/found`, and what was learnt below
/// `target/fuzz/corpus`; the next run goes on from there.
#[derive(Debug, Args)]
pub(crate) struct Fuzz {
    /// The targets of `crates/fuzz`; all of them where none is named.
    targets: Vec<String>,
    /// How long each is fuzzed.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Where everything of it lies.
struct Folder {
    root: PathBuf,
    /// What this machine is called. Where a build names it, flags are not for
    /// build scripts, which libFuzzer does not watch.
    machine: String,
}

impl Fuzz {
    pub(crate) fn run(&self) -> ExitCode {
        match self.fuzz() {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => report(&error),
        }
    }

    /// Returns whether nothing was found.
    fn fuzz(&self) -> io::Result<bool> {
        let folder = Folder::make()?;
        if !folder.build()? {
            return Ok(false);
        }
        let all = folder.targets()?;
        if let Some(unknown) = self.targets.iter().find(|name| !all.contains(name)) {
            let message = format!("there is no target `{unknown}`; there are {}", all.join(", "));
            return Err(io::Error::other(message));
        }
        let chosen = if self.targets.is_empty() { &all } else { &self.targets };
        let mut well = true;
        for target in chosen {
            say("Fuzzing", format!("{target} for {} s", self.seconds));
            well &= self.one(target, &folder)?;
        }
        Ok(well)
    }

    fn one(&self, target: &str, folder: &Folder) -> io::Result<bool> {
        let found = folder.root.join("found").join(target);
        create_dir_all(&found)?;
        let status = Command::new(folder.program())
            .env("SEAWORTHY_FUZZ_TARGET", target)
            .arg(format!("-max_total_time={}", self.seconds))
            .args(["-timeout=10", "-rss_limit_mb=2048", "-verbosity=0", "-print_final_stats=1"])
            .arg(format!("-artifact_prefix={}/", found.display()))
            .arg(folder.corpus().join(target))
            .status()?;
        if !status.success() {
            eprintln!("error: {target} broke; the input is in {}", found.display());
        }
        Ok(status.success())
    }
}

impl Folder {
    fn make() -> io::Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fuzz");
        create_dir_all(&folder)?;
        let version = Command::new("rustc").arg("-vV").output()?;
        let version = String::from_utf8_lossy(&version.stdout).into_owned();
        let machine = version.lines().find_map(|line| line.strip_prefix("host: "));
        let machine = machine.ok_or_else(|| io::Error::other("rustc does not name its host"))?;
        Ok(Self { root: folder.canonicalize()?, machine: machine.to_owned() })
    }

    /// Builds in a place of its own: with other flags everything is built anew.
    fn build(&self) -> io::Result<bool> {
        say("Building", "the targets, watched by libFuzzer");
        let mut build = cargo();
        build.args(["build", "--release", "--package", "fuzz", "--bin", "fuzz"]);
        build.args(["--features", "libfuzzer"]);
        build.args(["--target", &self.machine]).env("RUSTFLAGS", COVERAGE);
        build.arg("--target-dir").arg(self.root.join("build"));
        Ok(build.status()?.success())
    }

    fn program(&self) -> PathBuf {
        self.root.join("build").join(&self.machine).join("release/fuzz")
    }

    fn corpus(&self) -> PathBuf {
        self.root.join("corpus")
    }

    /// Puts the seeds to what earlier runs have learnt, and returns the targets.
    fn targets(&self) -> io::Result<Vec<String>> {
        let mut seeds = cargo();
        seeds.args(["run", "--quiet", "--package", "fuzz", "--bin", "seeds"]).arg(self.corpus());
        if !seeds.status()?.success() {
            return Err(io::Error::other("the seeds could not be written"));
        }
        let names = read_dir(self.corpus())?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names = names.collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }
}
