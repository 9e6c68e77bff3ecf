//! `rig up --node` with a real pod, ended in every way there is.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rig::process::Process;
use rig::{need, traces};
use rustix::process::Signal;

const PATIENCE: Duration = Duration::from_mins(1);

/// A `rig up --node` that stays until it is ended.
struct Up {
    child: Child,
    /// The ids of the control plane's run and of the node's.
    runs: [String; 2],
    folder: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Up {
    /// Starts it, with a folder of runs that no other test cleans.
    fn start(runs: &Path) -> Self {
        let alone = alone();
        let mut child = xtask(runs)
            .args(["rig", "up", "--node"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = said_until(&mut child, "Waiting for Ctrl-C");
        assert!(said.contains("Running pod hello"), "{said}");
        let mut kubeconfig = String::new();
        let out = child.stdout.as_mut().unwrap();
        BufReader::new(out).read_line(&mut kubeconfig).unwrap();
        let plane = PathBuf::from(kubeconfig.trim());
        let plane = plane.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        let node = said.split("node rig-").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        Self { child, runs: [plane, node], folder: runs.to_owned(), _alone: alone }
    }

    fn signal(&self, signal: Signal) {
        Process::find(self.child.id().cast_signed()).unwrap().kill(signal).unwrap();
    }

    fn traces(&self) -> Vec<String> {
        self.runs.iter().flat_map(|run| traces::of(run)).collect()
    }

    #[track_caller]
    fn assert_gone(&self, runs: &Path) {
        for run in &self.runs {
            assert_eq!(traces::await_none(run, PATIENCE), Vec::<String>::new());
        }
        let left = std::fs::read_dir(runs.join(format!("seaworthy-rig-{}", user())));
        let left = left.unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["reserved"]);
    }
}

impl Drop for Up {
    /// A test that has failed leaves nothing for others to stumble over.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.child.kill();
            let _ = self.child.wait();
            let _ = xtask(&self.folder).args(["rig", "clean"]).output();
        }
    }
}

/// Waits for the turn. The first rig on a host makes the folders that kubelets use
/// whatever they are told, and takes them away where they are empty: a node that has
/// just begun would miss them, and what the test looks for.
fn alone() -> MutexGuard<'static, ()> {
    static STANDING: Mutex<()> = Mutex::new(());
    STANDING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn xtask(runs: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.env("TMPDIR", runs);
    command
}

/// Reads what people are told, up to a line.
fn said_until(child: &mut Child, last: &str) -> String {
    let mut said = String::new();
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap());
    while !said.contains(last) {
        let read = lines.read_line(&mut said).unwrap();
        assert_ne!(read, 0, "it ended before `{last}`:\n{said}");
    }
    said
}

#[test]
fn an_interrupt_ends_it_in_order() {
    if need::node_parts().is_none() {
        return;
    }
    let runs = tempfile::tempdir().unwrap();
    let mut up = Up::start(runs.path());
    assert!(!up.traces().is_empty());
    up.signal(Signal::INT);
    let mut said = String::new();
    up.child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
    assert!(up.child.wait().unwrap().success(), "{said}");
    assert!(said.contains("Gone in"), "{said}");
    // Nothing to wait for: all of it is gone when the command has ended.
    assert_eq!(up.traces(), Vec::<String>::new());
}

#[test]
fn its_warden_cleans_up_after_a_kill() {
    if need::node_parts().is_none() {
        return;
    }
    let runs = tempfile::tempdir().unwrap();
    let mut up = Up::start(runs.path());
    up.signal(Signal::KILL);
    up.child.wait().unwrap();
    up.assert_gone(runs.path());
}

#[test]
fn the_next_run_cleans_up_where_even_the_warden_was_killed() {
    if need::node_parts().is_none() {
        return;
    }
    let runs = tempfile::tempdir().unwrap();
    let mut up = Up::start(runs.path());
    let traces = up.traces();
    let wardens: Vec<Process> = traces
        .iter()
        .filter_map(|trace| trace.strip_prefix("process ")?.strip_suffix(" rig-warden"))
        .map(|pid| Process::find(pid.parse().unwrap()).unwrap())
        .collect();
    assert_eq!(wardens.len(), 2, "{traces:#?}");
    for warden in wardens {
        warden.kill(Signal::KILL).unwrap();
    }
    up.signal(Signal::KILL);
    up.child.wait().unwrap();
    let left = up.traces();
    for kind in ["process", "mount", "/sys/fs/cgroup", "/sys/class/net", "/var/lib/cni", "/var/log"]
    {
        assert!(left.iter().any(|trace| trace.starts_with(kind)), "no {kind} is left: {left:#?}");
    }
    let clean = xtask(runs.path()).args(["rig", "clean"]).output().unwrap();
    let said = String::from_utf8_lossy(&clean.stderr);
    assert!(clean.status.success(), "{said}");
    assert_eq!(said.matches("Removed run").count(), 2, "{said}");
    up.assert_gone(runs.path());
}
