//! A run: one folder that holds all of a control plane's or a node's files,
//! and the record of what it has outside of it.
//!
//! The owner holds a lock on the folder for as long as it lives. The kernel
//! frees it at the owner's death, whatever the cause; that is how the
//! [warden] and the [janitor] know.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

use crate::janitor::{self, Leftover};
use crate::process::Process;
use crate::warden::{self, Warden, WardenError};

/// Ports below the range that the kernel gives to outgoing connections, so
/// that none of those can take one between our look and the daemon's bind.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

/// What a run has outside its folder, written before each thing is made.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The daemons, by name.
    pub processes: Vec<(String, Process)>,
    /// The control groups, one directory per hierarchy.
    pub cgroups: Vec<PathBuf>,
    /// The network interfaces.
    pub interfaces: Vec<String>,
    /// Folders of the host that were not there before and go when empty.
    pub folders: Vec<PathBuf>,
}

/// A run that this process owns; dropping it takes everything away.
#[derive(Debug)]
pub struct Run {
    id: String,
    dir: PathBuf,
    record: Record,
    lock: Option<File>,
    warden: Option<Warden>,
    reserved: Vec<File>,
}

/// Why a run could not be made or kept.
#[derive(Debug, Error)]
pub enum RunError {
    /// Its folder could not be written.
    #[error("could not write {}", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nobody would clean up after us, so nothing is started.
    #[error(transparent)]
    Warden(#[from] WardenError),
    /// Every port, or every subnet, is taken.
    #[error("no free {0} is left; `cargo xtask rig clean` removes what dead runs hold")]
    NoneFree(&'static str),
}

impl Run {
    /// Makes a run's folder and the warden that guards it, after removing what
    /// dead runs left.
    pub fn start() -> Result<Self, RunError> {
        Self::start_in(&runs_dir())
    }

    pub(crate) fn start_in(runs: &Path) -> Result<Self, RunError> {
        private_dir(runs).map_err(written(runs))?;
        janitor::clean(runs);
        let id = Uuid::new_v4().simple().to_string()[..8].to_owned();
        let dir = runs.join(&id);
        private_dir(&dir).map_err(written(&dir))?;
        let lock = locked(&dir).map_err(written(&dir))?;
        let mut run = Self {
            id,
            dir,
            record: Record::default(),
            lock: Some(lock),
            warden: None,
            reserved: Vec::new(),
        };
        run.save()?;
        run.warden = Some(warden::watch(&run.dir)?);
        Ok(run)
    }

    /// Returns the run's id, the mark of all that belongs to it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the run's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns a path inside the run's folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.join(name)
    }

    /// Writes a file that only this user can read, and returns its path.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<PathBuf, RunError> {
        let path = self.path(name);
        write_private(&path, contents.as_ref()).map_err(written(&path))?;
        Ok(path)
    }

    /// Makes a folder inside the run's folder, and returns its path.
    pub fn folder(&self, name: &str) -> Result<PathBuf, RunError> {
        let path = self.path(name);
        private_dir(&path).map_err(written(&path))?;
        Ok(path)
    }

    /// Changes the record; on disk before this returns.
    pub fn note(&mut self, change: impl FnOnce(&mut Record)) -> Result<(), RunError> {
        change(&mut self.record);
        self.save()
    }

    /// Reserves a free loopback port for the run's lifetime.
    pub fn port(&mut self) -> Result<u16, RunError> {
        let span = PORTS.end - PORTS.start;
        let offset = Uuid::new_v4().as_u128() % u128::from(span);
        let offset = u16::try_from(offset).expect("less than the span of ports");
        for step in 0..span {
            let port = PORTS.start + (offset + step) % span;
            if TcpListener::bind(("127.0.0.1", port)).is_ok()
                && self.reserve(&format!("port-{port}"))?
            {
                return Ok(port);
            }
        }
        Err(RunError::NoneFree("port"))
    }

    /// Takes a name that no other run on this machine may hold at the same
    /// time, and says whether it was free.
    pub fn reserve(&mut self, name: &str) -> Result<bool, RunError> {
        let dir = self.dir.with_file_name("reserved");
        private_dir(&dir).map_err(written(&dir))?;
        let path = dir.join(name);
        let file = File::create(&path).map_err(written(&path))?;
        let free = file.try_lock().is_ok();
        if free {
            self.reserved.push(file);
        }
        Ok(free)
    }

    /// Takes everything away now, and says what would not go.
    pub fn end(mut self) -> Vec<Leftover> {
        self.take_away()
    }

    fn take_away(&mut self) -> Vec<Leftover> {
        if self.lock.is_none() {
            return Vec::new();
        }
        let leftovers = janitor::sweep(&self.dir);
        self.lock = None;
        if let Some(warden) = self.warden.take() {
            warden.dismiss();
        }
        leftovers
    }

    fn save(&self) -> Result<(), RunError> {
        let path = self.path("run.json");
        let json = serde_json::to_vec_pretty(&self.record).expect("a record is plain data");
        let staged = self.path("run.json.new");
        write_private(&staged, &json).map_err(written(&staged))?;
        fs::rename(&staged, &path).map_err(written(&path))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        for leftover in self.take_away() {
            crate::say::say("Left", leftover.to_string());
        }
    }
}

impl Record {
    /// Reads a run's record; a folder without one has nothing outside itself.
    pub fn read(dir: &Path) -> Self {
        let json = fs::read(dir.join("run.json")).unwrap_or_default();
        serde_json::from_slice(&json).unwrap_or_default()
    }
}

/// Returns the folder that holds this user's runs.
pub fn runs_dir() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    std::env::temp_dir().join(format!("seaworthy-rig-{user}"))
}

/// Makes the run's lock. It gets its name only when it is held, or a janitor
/// that looks in between would take the run for dead.
fn locked(dir: &Path) -> io::Result<File> {
    let staged = dir.join("lock.new");
    let lock = File::create(&staged)?;
    lock.lock()?;
    fs::rename(&staged, dir.join("lock"))?;
    Ok(lock)
}

fn written(path: &Path) -> impl Fn(io::Error) -> RunError {
    let path = path.to_owned();
    move |source| RunError::Write { path: path.clone(), source }
}

fn private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn write_private(path: &Path, contents: &[u8]) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut file =
        File::options().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    file.write_all(contents)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_run_keeps_its_files_private_and_goes_away_whole() {
        let runs = tempfile::tempdir().unwrap();
        let run = Run::start_in(runs.path()).unwrap();
        let secret = run.write("secret", "s").unwrap();
        assert_eq!(secret.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let dir = run.dir().to_owned();
        assert_eq!(run.end(), Vec::new());
        assert!(!dir.exists());
    }

    #[test]
    fn two_runs_never_share_a_port() {
        let runs = tempfile::tempdir().unwrap();
        let mut first = Run::start_in(runs.path()).unwrap();
        let mut second = Run::start_in(runs.path()).unwrap();
        let port = first.port().unwrap();
        assert!(PORTS.contains(&port));
        assert!(!second.reserve(&format!("port-{port}")).unwrap());
        drop(first);
        assert!(second.reserve(&format!("port-{port}")).unwrap());
    }
}
