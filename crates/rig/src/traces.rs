//! What is left of a run, looked up without asking the run.
//!
//! For tests that prove a clean end: the [janitor](crate::janitor) works from
//! the run's record and this from the machine, so one cannot hide what the
//! other forgot.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Returns every process, mount, control group, interface and file on this
/// machine that names the run.
pub fn of(run: &str) -> Vec<String> {
    let mut traces = processes(run);
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = mounts.lines().filter(|line| line.contains(run));
    traces.extend(mounts.map(|line| format!("mount {line}")));
    let mut groups = Vec::new();
    named_below(Path::new("/sys/fs/cgroup"), run, 2, &mut groups);
    named_below(Path::new("/sys/class/net"), run, 1, &mut groups);
    named_below(&crate::run::runs_dir(), run, 1, &mut groups);
    traces.extend(groups.iter().map(|path| path.display().to_string()));
    traces.extend(network_results(run));
    traces.extend(log_links(run));
    traces
}

/// Waits for the last trace of a run to go; returns those that stay.
pub fn await_none(run: &str, patience: Duration) -> Vec<String> {
    let deadline = Instant::now() + patience;
    loop {
        let traces = of(run);
        if traces.is_empty() || Instant::now() > deadline {
            return traces;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// A daemon's arguments name the run's folder, a shim's environment the run,
/// and a container's control group too.
fn processes(run: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    pids.filter(|pid| pid.chars().all(|c| c.is_ascii_digit()) && *pid != own)
        .filter(|pid| ["cmdline", "environ", "cgroup"].iter().any(|file| names(pid, file, run)))
        .map(|pid| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            format!("process {pid} {}", name.trim())
        })
        .collect()
}

fn names(pid: &str, file: &str, run: &str) -> bool {
    let contents = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    String::from_utf8_lossy(&contents).contains(run)
}

fn named_below(folder: &Path, run: &str, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().contains(run) {
            found.push(entry.path());
        } else if depth > 1 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            named_below(&entry.path(), run, depth - 1, found);
        }
    }
}

/// What CNI remembers of a sandbox names its network namespace's path.
fn network_results(run: &str) -> Vec<String> {
    let entries = fs::read_dir("/var/lib/cni/results").into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let of_run = |file: &PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains(run));
    files.filter(of_run).map(|file| file.display().to_string()).collect()
}

fn log_links(run: &str) -> Vec<String> {
    let entries = fs::read_dir("/var/log/containers").into_iter().flatten().flatten();
    let links = entries.map(|entry| entry.path());
    let of_run = |link: &PathBuf| {
        fs::read_link(link).is_ok_and(|target| target.to_string_lossy().contains(run))
    };
    links.filter(of_run).map(|link| link.display().to_string()).collect()
}
