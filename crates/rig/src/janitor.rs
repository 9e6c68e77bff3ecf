//! Taking away what a run made: the one way, whoever asks.
//!
//! A run's owner calls [`sweep`] at its end, its [warden](crate::warden) when
//! the owner died, and the next run (or `cargo xtask rig clean`) when even the
//! warden was killed. Nothing is touched that is not provably the run's: a
//! process is ended if its pid *and* start time were recorded, if it carries
//! the run's mark in its environment, or if it is in the run's control group;
//! mounts, if they lie below the run's folder.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::mount::{UnmountFlags, unmount};
use rustix::process::Signal;

use crate::process::{self, Process};
use crate::run::Record;

/// How long killed processes may take to be gone. SIGKILL needs no more than
/// a process's way out of the kernel.
const PATIENCE: Duration = Duration::from_secs(15);

/// Where containerd's shims keep their sockets, whatever its configuration.
const SHIM_SOCKETS: &str = "/run/containerd/s";
/// Where the kubelet keeps links to container logs, whatever its configuration.
const LOG_LINKS: &str = "/var/log/containers";
/// Where CNI keeps what its plugins answered.
const CNI_RESULTS: &str = "/var/lib/cni/results";
/// Where the kubelet listens for device plugins, whatever its configuration.
const DEVICE_PLUGINS: &str = "/var/lib/kubelet/device-plugins";

/// The file in a folder of the host that a rig has made.
pub(crate) const FOLDER_MARK: &str = ".made-by-seaworthy-rig";

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
    let sockets = shim_sockets(dir);
    let mut leftovers = end_processes(name_of(dir), &record);
    leftovers.extend(unmount_below(dir));
    leftovers.extend(record.interfaces.iter().filter_map(|name| delete_interface(name)));
    leftovers.extend(record.cgroups.iter().filter_map(|path| remove_cgroup(path)));
    remove_host_files(dir, &record, &sockets);
    if !leftovers.is_empty() {
        return leftovers;
    }
    match fs::remove_dir_all(dir) {
        Err(error) if dir.exists() => vec![leftover(dir.display(), error)],
        _ => Vec::new(),
    }
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

/// Ends processes until none is found: one that is being killed may still
/// fork, and a shim's container outlives the shim. None must be found twice,
/// because the environment of a process that has just been executed is empty
/// for a moment.
fn end_processes(run: &str, record: &Record) -> Vec<Leftover> {
    let deadline = Instant::now() + PATIENCE;
    let mut looks_in_vain = 0;
    loop {
        let alive = processes(run, record);
        looks_in_vain = if alive.is_empty() { looks_in_vain + 1 } else { 0 };
        if looks_in_vain == 2 {
            return Vec::new();
        }
        let failed: Vec<Leftover> = alive
            .iter()
            .filter_map(|process| Some((process, process.kill(Signal::KILL).err()?)))
            .map(|(process, error)| leftover(format!("process {}", process.pid), error))
            .collect();
        if Instant::now() > deadline {
            let stuck =
                alive.iter().map(|p| leftover(format!("process {}", p.pid), "does not end"));
            return if failed.is_empty() { stuck.collect() } else { failed };
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn processes(run: &str, record: &Record) -> BTreeSet<Process> {
    let recorded = record.processes.iter().map(|(_, process)| *process).filter(|p| p.is_alive());
    let contained = record.cgroups.iter().flat_map(|path| cgroup_members(path));
    recorded.chain(process::marked(run)).chain(contained).collect()
}

fn cgroup_members(path: &Path) -> Vec<Process> {
    let own = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    let own = own.lines().filter_map(|pid| Process::find(pid.parse().ok()?));
    let mut members: Vec<Process> = own.collect();
    for child in child_dirs(path) {
        members.extend(cgroup_members(&child));
    }
    members
}

fn child_dirs(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// Unmounts all below a folder, the latest mount first, since it may lie on
/// another.
fn unmount_below(dir: &Path) -> Vec<Leftover> {
    let mut leftovers = Vec::new();
    for mount in mounts_below(dir).iter().rev() {
        if unmount(mount, UnmountFlags::empty()).is_ok() {
            continue;
        }
        if let Err(error) = unmount(mount, UnmountFlags::DETACH) {
            leftovers.push(leftover(format!("mount {}", mount.display()), error));
        }
    }
    leftovers
}

/// Returns the mount points below a folder, in the order they were mounted.
pub fn mounts_below(dir: &Path) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    table
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|field| PathBuf::from(unescape(field)))
        .filter(|point| point.starts_with(dir))
        .collect()
}

/// Undoes the octal escapes of mount tables.
fn unescape(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(field.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

fn delete_interface(name: &str) -> Option<Leftover> {
    let device = Path::new("/sys/class/net").join(name);
    if !device.exists() {
        return None;
    }
    let ip = crate::packages::program("ip")?;
    let output = Command::new(ip).args(["link", "delete", name]).stdin(Stdio::null()).output();
    let said = match &output {
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    device.exists().then(|| leftover(format!("interface {name}"), said))
}

/// Removes a control group, deepest first. The kernel may still be letting go
/// of its last member, so it is asked a few times.
fn remove_cgroup(path: &Path) -> Option<Leftover> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match remove_cgroup_tree(path) {
            _ if !path.exists() => return None,
            Err(error) if Instant::now() > deadline => {
                return Some(leftover(format!("control group {}", path.display()), error));
            }
            _ => thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn remove_cgroup_tree(path: &Path) -> std::io::Result<()> {
    for child in child_dirs(path) {
        remove_cgroup_tree(&child)?;
    }
    fs::remove_dir(path)
}

/// Reads where the run's shims listen, from the folders of their containers.
fn shim_sockets(dir: &Path) -> Vec<PathBuf> {
    let tasks = dir.join("containerd/state/io.containerd.runtime.v2.task/k8s.io");
    child_dirs(&tasks)
        .iter()
        .filter_map(|task| fs::read_to_string(task.join("address")).ok())
        .map(|address| PathBuf::from(address.trim().trim_start_matches("unix://")))
        .filter(|socket| socket.starts_with(SHIM_SOCKETS))
        .collect()
}

/// Removes what the kubelet, containerd and CNI put at places that they do not
/// let anyone choose. None of it can hurt anybody, so nothing here is an error.
fn remove_host_files(dir: &Path, record: &Record, sockets: &[PathBuf]) {
    for socket in sockets {
        let _ = fs::remove_file(socket);
    }
    let links = fs::read_dir(LOG_LINKS).into_iter().flatten().flatten().map(|entry| entry.path());
    for link in links.filter(|link| fs::read_link(link).is_ok_and(|to| to.starts_with(dir))) {
        let _ = fs::remove_file(link);
    }
    let results =
        fs::read_dir(CNI_RESULTS).into_iter().flatten().flatten().map(|entry| entry.path());
    // Each names the network namespace it was for, which lay below our folder.
    for result in results.filter(|result| mentions(result, dir)) {
        let _ = fs::remove_file(result);
    }
    let made = |folder: &str| record.folders.iter().any(|made| Path::new(folder).starts_with(made));
    if made(DEVICE_PLUGINS) {
        let _ = fs::remove_dir_all(DEVICE_PLUGINS);
    }
    for folder in &record.folders {
        remove_if_hollow(folder);
    }
}

fn mentions(file: &Path, dir: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.contains(&*dir.to_string_lossy()))
}

/// Removes a folder that holds nothing but folders and our mark.
fn remove_if_hollow(folder: &Path) {
    for child in child_dirs(folder) {
        remove_if_hollow(&child);
    }
    let mark = folder.join(FOLDER_MARK);
    let only_mark = |entries: fs::ReadDir| {
        let mut entries = entries.flatten();
        entries.all(|entry| entry.path() == mark)
    };
    if fs::read_dir(folder).is_ok_and(only_mark) {
        let _ = fs::remove_file(&mark);
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_mount_tables_are_undone() {
        assert_eq!(unescape("/a\\040b\\134"), "/a b\\");
    }

    #[test]
    fn a_folder_of_the_host_goes_only_when_nobody_uses_it() {
        let host = tempfile::tempdir().unwrap();
        let folder = host.path().join("cni");
        fs::create_dir_all(folder.join("results")).unwrap();
        fs::write(folder.join(FOLDER_MARK), "").unwrap();
        fs::write(folder.join("results/other"), "").unwrap();
        remove_if_hollow(&folder);
        assert!(folder.join(FOLDER_MARK).exists());
        fs::remove_file(folder.join("results/other")).unwrap();
        remove_if_hollow(&folder);
        assert!(!folder.exists());
    }

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
