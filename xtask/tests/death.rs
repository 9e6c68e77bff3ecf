//! `rig up --node` with a real pod and `rig talos` with a real node, ended in
//! every way there is.
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

/// What is started.
#[derive(Clone, Copy)]
enum Kind {
    /// A control plane and a node, with a pod.
    Node,
    /// A Talos node in maintenance mode.
    BareTalos,
    /// A Talos cluster of one node, with all that runs on it.
    Talos,
}

/// A rig that stays until it is ended.
struct Up {
    child: Child,
    /// The ids of its runs.
    runs: Vec<String>,
    folder: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Kind {
    fn can_run(self) -> bool {
        match self {
            Self::Node => need::node_parts().is_some(),
            Self::BareTalos | Self::Talos => need::talos_parts().is_some(),
        }
    }

    fn args(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["rig", "up", "--node"],
            Self::BareTalos => &["rig", "talos", "--bare", "--workers", "0"],
            Self::Talos => &["rig", "talos", "--workers", "0"],
        }
    }

    /// How long something may be left when the command has ended: nothing is, but
    /// for a dead first process of a Talos node, which the host's own has to bury.
    fn burial(self) -> Duration {
        match self {
            Self::Node => Duration::ZERO,
            Self::BareTalos | Self::Talos => PATIENCE,
        }
    }

    /// How many runs it consists of.
    fn runs(self) -> usize {
        match self {
            Self::Node => 2,
            Self::BareTalos | Self::Talos => 1,
        }
    }
}

impl Up {
    /// Starts it, with a folder of runs that no other test cleans.
    fn start(kind: Kind, folder: &Path) -> Self {
        let alone = alone();
        let mut child = xtask(folder)
            .args(kind.args())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = said_until(&mut child, "Waiting for Ctrl-C");
        let runs: Vec<_> = left(folder).into_iter().filter(|name| name != "reserved").collect();
        assert_eq!(runs.len(), kind.runs(), "{said}");
        Self { child, runs, folder: folder.to_owned(), _alone: alone }
    }

    fn signal(&self, signal: Signal) {
        Process::find(self.child.id().cast_signed()).unwrap().kill(signal).unwrap();
    }

    fn traces(&self) -> Vec<String> {
        self.runs.iter().flat_map(|run| traces::of(run)).collect()
    }

    #[track_caller]
    fn assert_gone(&self) {
        for run in &self.runs {
            assert_eq!(traces::await_none(run, PATIENCE), Vec::<String>::new());
        }
        assert_eq!(left(&self.folder), ["reserved"]);
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

/// What lies in a folder of runs.
fn left(folder: &Path) -> Vec<String> {
    let user = rustix::process::geteuid().as_raw();
    let entries = std::fs::read_dir(folder.join(format!("seaworthy-rig-{user}"))).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
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

fn an_interrupt_ends(kind: Kind) {
    if !kind.can_run() {
        return;
    }
    let runs = tempfile::tempdir().unwrap();
    let mut up = Up::start(kind, runs.path());
    assert!(!up.traces().is_empty());
    up.signal(Signal::INT);
    let mut said = String::new();
    up.child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
    assert!(up.child.wait().unwrap().success(), "{said}");
    assert!(said.contains("Gone"), "{said}");
    for run in &up.runs {
        assert_eq!(traces::await_none(run, kind.burial()), Vec::<String>::new());
    }
}

fn wardens_clean_up_after(kind: Kind) {
    if !kind.can_run() {
        return;
    }
    let runs = tempfile::tempdir().unwrap();
    let mut up = Up::start(kind, runs.path());
    assert!(!up.traces().is_empty());
    up.signal(Signal::KILL);
    up.child.wait().unwrap();
    up.assert_gone();
}

/// Of each kind of trace there is something to clean up.
fn the_next_run_cleans_up_after(kind: Kind, kinds: &[&str]) {
    if !kind.can_run() {
        return;
    }
    let runs = tempfile::tempdir().unwrap();
    let mut up = Up::start(kind, runs.path());
    let traces = up.traces();
    let wardens: Vec<Process> = traces
        .iter()
        .filter_map(|trace| trace.strip_prefix("process ")?.strip_suffix(" rig-warden"))
        .map(|pid| Process::find(pid.parse().unwrap()).unwrap())
        .collect();
    assert_eq!(wardens.len(), kind.runs(), "{traces:#?}");
    for warden in wardens {
        warden.kill(Signal::KILL).unwrap();
    }
    up.signal(Signal::KILL);
    up.child.wait().unwrap();
    let left = up.traces();
    for kind in kinds {
        assert!(left.iter().any(|trace| trace.starts_with(kind)), "no {kind} is left: {left:#?}");
    }
    let clean = xtask(runs.path()).args(["rig", "clean"]).output().unwrap();
    let said = String::from_utf8_lossy(&clean.stderr);
    assert!(clean.status.success(), "{said}");
    assert_eq!(said.matches("Removed run").count(), kind.runs(), "{said}");
    up.assert_gone();
}

#[test]
fn an_interrupt_ends_a_node_in_order() {
    an_interrupt_ends(Kind::Node);
}

#[test]
fn an_interrupt_ends_a_talos_node_in_order() {
    an_interrupt_ends(Kind::BareTalos);
}

#[test]
fn the_wardens_of_a_killed_node_clean_up() {
    wardens_clean_up_after(Kind::Node);
}

#[test]
fn the_warden_of_a_killed_talos_cluster_cleans_up() {
    wardens_clean_up_after(Kind::Talos);
}

#[test]
fn the_next_run_cleans_up_where_even_the_wardens_of_a_node_were_killed() {
    let traces =
        ["process", "mount", "/sys/fs/cgroup", "/sys/class/net", "/var/lib/cni", "/var/log"];
    the_next_run_cleans_up_after(Kind::Node, &traces);
}

#[test]
fn the_next_run_cleans_up_where_even_the_warden_of_a_talos_node_was_killed() {
    let traces = ["process", "/sys/fs/cgroup", "/sys/class/net"];
    the_next_run_cleans_up_after(Kind::BareTalos, &traces);
}
