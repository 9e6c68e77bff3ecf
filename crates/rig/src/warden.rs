//! The warden: a process that outlives its run's owner, and cleans up.
//!
//! It waits for the lock on the run's folder, which the kernel hands over when
//! the owner ends, be it by a panic, by SIGKILL or in peace, and then
//! [sweeps](crate::janitor::sweep). A parent-death signal would be simpler, but
//! follows the *thread* that forked, and tests are threads; it would also not
//! unmount anything.
//!
//! The program is this crate's `rig-warden`. Cargo builds it with the rest of
//! the workspace's tests; where it is missing or older than its source, it is
//! built first.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::SystemTime;

use thiserror::Error;

use crate::cargo::cargo;
use crate::janitor::{self, Leftover};
use crate::say::say;
use crate::tail::tail;

const PROGRAM: &str = "rig-warden";

/// What the program consists of, as far as it decides what is cleaned up.
const SOURCES: [&str; 8] = [
    "bin/rig-warden.rs",
    "janitor/host_files.rs",
    "janitor/kernel.rs",
    "janitor/mod.rs",
    "janitor/processes.rs",
    "process.rs",
    "run.rs",
    "warden.rs",
];

/// Why no warden could be set up.
#[derive(Debug, Error)]
pub enum WardenError {
    /// The program could not be built.
    #[error("could not build {PROGRAM}, which cleans up after a killed test\n{output}")]
    Build {
        /// What cargo said.
        output: String,
    },
    /// The program could not be found or run.
    #[error("could not start {PROGRAM}")]
    Start(#[from] io::Error),
}

/// A warden that stands guard over a run of ours.
#[derive(Debug)]
pub struct Warden {
    child: Child,
}

impl Warden {
    /// Waits for the warden's end. It comes at once when the run is gone and
    /// its lock is free.
    pub fn dismiss(mut self) {
        let _ = self.child.wait();
    }
}

/// Starts a warden for a run's folder, whose lock the caller holds.
pub fn watch(dir: &Path) -> Result<Warden, WardenError> {
    let mut command = Command::new(program()?);
    command.arg(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // In a group of its own, a Ctrl-C at the terminal does not reach it.
    let child = command.process_group(0).spawn()?;
    Ok(Warden { child })
}

/// Waits until a run's owner is gone, then takes the run away: the whole life
/// of the program.
pub fn stand_guard(dir: &Path) -> io::Result<Vec<Leftover>> {
    let lock = match File::open(dir.join("lock")) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    lock.lock()?;
    if !dir.join("lock").exists() {
        return Ok(Vec::new());
    }
    Ok(janitor::sweep(dir))
}

/// Returns the program, built if need be, once at a time in this process.
fn program() -> Result<PathBuf, WardenError> {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = beside(&env::current_exe()?);
    let path = folder.join(PROGRAM);
    if is_current(&path) {
        return Ok(path);
    }
    build(profile(&folder))?;
    Ok(path)
}

/// Returns cargo's output folder: test binaries lie one below it, in `deps`.
fn beside(executable: &Path) -> PathBuf {
    let dir = executable.parent().unwrap_or(Path::new("."));
    let dir = if dir.ends_with("deps") { dir.parent().unwrap_or(dir) } else { dir };
    dir.to_owned()
}

/// Returns the profile whose programs lie in a folder of cargo's output.
fn profile(folder: &Path) -> &str {
    match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    }
}

fn is_current(program: &Path) -> bool {
    let built = program.metadata().and_then(|file| file.modified());
    built.is_ok_and(|built| newest_source().is_none_or(|source| built >= source))
}

fn newest_source() -> Option<SystemTime> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modified = |part: &&str| fs::metadata(source.join(part)).ok()?.modified().ok();
    SOURCES.iter().filter_map(modified).max()
}

fn build(profile: &str) -> Result<(), WardenError> {
    say("Building", PROGRAM);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = cargo()
        .args(["build", "--quiet", "--profile", profile, "--bin", PROGRAM, "--manifest-path"])
        .arg(manifest)
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(WardenError::Build { output: tail(&String::from_utf8_lossy(&output.stderr), 15) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_binaries_find_the_programs_beside_their_folder() {
        assert_eq!(beside(Path::new("/t/debug/deps/x-1")), PathBuf::from("/t/debug"));
        assert_eq!(beside(Path::new("/t/debug/xtask")), PathBuf::from("/t/debug"));
    }

    #[test]
    fn a_program_is_built_where_it_is_looked_for() {
        assert_eq!(profile(Path::new("/t/debug")), "dev");
        assert_eq!(profile(Path::new("/t/release")), "release");
    }

    #[test]
    fn the_sources_exist() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let missing = SOURCES.iter().find(|part| !source.join(part).is_file());
        assert_eq!(missing, None);
    }

    #[test]
    fn a_run_that_is_already_gone_needs_no_guard() {
        let runs = tempfile::tempdir().unwrap();
        assert_eq!(stand_guard(&runs.path().join("gone")).unwrap(), Vec::new());
    }
}
