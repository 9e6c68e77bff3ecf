//! Taking away what a run made: the one way, whoever asks.
//!
//! A run's owner calls [`sweep`] at its end, its [warden](crate::warden) when
//! the owner died, and the next run (or `cargo xtask rig clean`) when even the
//! warden was killed. Nothing is touched that is not provably the run's: a
//! process is ended if its pid *and* start time were recorded, if it carries
//! the run's mark in its environment, or if it is in the run's control group;
//! mounts, if they lie below the run's folder.

mod host_files;
mod kernel;
mod processes;

pub(crate) use host_files::FOLDER_MARK;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::run::Record;

/// How long killed processes may take to be gone. SIGKILL needs no more than
/// a process's way out of the kernel.
const PATIENCE: Duration = Duration::from_secs(15);

/// Something that would not go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    what: String,
    why: String,
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

/// What [`clean`] found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cleaning {
    /// Runs whose owners were dead, and that were taken away.
    pub removed: Vec<String>,
    /// Runs that somebody still uses.
    pub in_use: Vec<String>,
    /// What would not go.
    pub leftovers: Vec<Leftover>,
}

/// Takes away every run in `runs` whose owner is dead.
pub fn clean(runs: &Path) -> Cleaning {
    let mut cleaning = Cleaning::default();
    for dir in run_dirs(runs) {
        let id = name_of(&dir).to_owned();
        // Held by the owner while it lives, and by whoever cleans up after it.
        let Ok(lock) = File::open(dir.join("lock")) else {
            continue;
        };
        if lock.try_lock().is_err() {
            cleaning.in_use.push(id);
            continue;
        }
        cleaning.leftovers.extend(sweep(&dir));
        cleaning.removed.push(id);
    }
    cleaning
}

/// Takes away one run. The caller holds its lock.
///
/// The folder with the record goes last and only if all else went, so that
/// whoever comes later can try again.
pub fn sweep(dir: &Path) -> Vec<Leftover> {
    let record = Record::read(dir);
    let sockets = host_files::shim_sockets(dir);
    let mut leftovers = processes::end_all(name_of(dir), &record);
    leftovers.extend(kernel::unmount_below(dir));
    leftovers.extend(record.interfaces.iter().filter_map(|name| kernel::delete_interface(name)));
    leftovers.extend(record.cgroups.iter().filter_map(|path| kernel::remove_cgroup(path)));
    host_files::remove(dir, &record, &sockets);
    if !leftovers.is_empty() {
        return leftovers;
    }
    match remove_folder(dir) {
        Err(error) if dir.exists() => vec![leftover(dir.display(), error)],
        _ => Vec::new(),
    }
}

/// Removes a run's folder, the lock and the record last: without them nobody
/// would know it for a run, should this be interrupted.
fn remove_folder(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        } else if !path.ends_with("lock") && !path.ends_with("run.json") {
            fs::remove_file(path)?;
        }
    }
    fs::remove_dir_all(dir)
}

fn leftover(what: impl fmt::Display, why: impl fmt::Display) -> Leftover {
    Leftover { what: what.to_string(), why: why.to_string() }
}

fn run_dirs(runs: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.join("lock").is_file()).collect()
}

fn name_of(dir: &Path) -> &str {
    dir.file_name().and_then(|name| name.to_str()).unwrap_or("unnamed")
}

fn child_dirs(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::thread;

    use super::*;
    use crate::process::Process;

    #[test]
    fn a_living_run_is_left_alone_and_a_dead_one_goes() {
        let runs = tempfile::tempdir().unwrap();
        for id in ["living", "dead"] {
            fs::create_dir(runs.path().join(id)).unwrap();
            File::create(runs.path().join(id).join("lock")).unwrap();
        }
        let owner = File::open(runs.path().join("living/lock")).unwrap();
        owner.lock().unwrap();
        let cleaning = clean(runs.path());
        assert_eq!(cleaning.removed, ["dead"]);
        assert_eq!(cleaning.in_use, ["living"]);
        assert!(runs.path().join("living").exists());
        assert!(!runs.path().join("dead").exists());
    }

    #[test]
    fn a_recorded_process_is_ended_and_its_successor_is_not() {
        let runs = tempfile::tempdir().unwrap();
        let dir = runs.path().join("dead");
        fs::create_dir(&dir).unwrap();
        let mut ours = Command::new("sleep").arg("60").spawn().unwrap();
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        let find = |child: &std::process::Child| Process::find(child.id().cast_signed()).unwrap();
        let (our_process, other_process) = (find(&ours), find(&other));
        let reused = Process { start: other_process.start - 1, ..other_process };
        let record = Record {
            processes: vec![("ours".into(), our_process), ("reused".into(), reused)],
            ..Record::default()
        };
        fs::write(dir.join("run.json"), serde_json::to_vec(&record).unwrap()).unwrap();
        // Reaps the child as init would, or it would stay a zombie.
        let reaper = thread::spawn(move || ours.wait().unwrap());
        assert_eq!(sweep(&dir), Vec::new());
        reaper.join().unwrap();
        assert!(other_process.is_alive());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
