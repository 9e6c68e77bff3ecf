//! Ending a run's processes, and nobody else's.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Leftover, PATIENCE, child_dirs, leftover};
use crate::process::{self, Process};
use crate::run::Record;

/// Ends processes until none is found: one that is being killed may still
/// fork, and a shim's container outlives the shim. None must be found twice,
/// because the environment of a process that has just been executed is empty
/// for a moment.
pub(super) fn end_all(run: &str, record: &Record) -> Vec<Leftover> {
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
