//! A component's process: in a group of its own, marked, logged, recorded.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use thiserror::Error;

use crate::process::Process;
use crate::run::{Run, RunError};
use crate::settings::RUN_MARK;
use crate::tail::tail;

/// How often a condition is looked at while waiting for it.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long a daemon may take to end in peace.
const GRACE: Duration = Duration::from_secs(5);

/// How many lines of a log go into a message.
const SHOWN_LINES: usize = 20;

/// One running daemon; dropping it ends it.
#[derive(Debug)]
pub struct Daemon {
    name: String,
    child: Child,
    process: Option<Process>,
    log: PathBuf,
}

/// Why a daemon is not up.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// It could not be started at all.
    #[error("could not start {name}")]
    Spawn {
        /// The daemon.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// It ended before it was ready.
    #[error("{name} ended at once ({status}); the end of its log:\n{log}")]
    Ended {
        /// The daemon.
        name: String,
        /// How it ended.
        status: String,
        /// The last lines of its log.
        log: String,
    },
    /// It was not ready in time.
    #[error(
        "{name} was not ready after {} s: {because}\nthe end of its log:\n{log}",
        patience.as_secs()
    )]
    NotReady {
        /// The daemon.
        name: String,
        /// How long it was waited for.
        patience: Duration,
        /// What the last look saw.
        because: String,
        /// The last lines of its log.
        log: String,
    },
    /// Its run could not be kept.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Daemon {
    /// Starts a daemon that belongs to a run.
    pub fn start(run: &mut Run, name: &str, mut command: Command) -> Result<Self, DaemonError> {
        let spawn = |source| DaemonError::Spawn { name: name.to_owned(), source };
        let log = run.folder("log")?.join(format!("{name}.log"));
        let out = File::create(&log).map_err(spawn)?;
        let err = out.try_clone().map_err(spawn)?;
        command.env(RUN_MARK, run.id()).process_group(0);
        let child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().map_err(spawn)?;
        let process = Process::find(child.id().cast_signed());
        let daemon = Self { name: name.to_owned(), child, process, log };
        if let Some(process) = process {
            run.note(|record| record.processes.push((name.to_owned(), process)))?;
        }
        Ok(daemon)
    }

    /// Waits until `look` is content, or says why it never was: `look` returns
    /// the reason it is not.
    pub fn wait_until(
        &mut self,
        patience: Duration,
        mut look: impl FnMut() -> Result<(), String>,
    ) -> Result<(), DaemonError> {
        let deadline = Instant::now() + patience;
        loop {
            let Err(because) = look() else { return Ok(()) };
            if let Ok(Some(status)) = self.child.try_wait() {
                let (name, log) = (self.name.clone(), self.log_tail());
                return Err(DaemonError::Ended { name, status: status.to_string(), log });
            }
            if Instant::now() > deadline {
                let (name, log) = (self.name.clone(), self.log_tail());
                return Err(DaemonError::NotReady { name, patience, because, log });
            }
            thread::sleep(INTERVAL);
        }
    }

    /// Asks the daemon to end, without waiting for it.
    pub fn ask_to_end(&self) {
        if let Some(process) = self.process {
            // If it cannot be asked, it will be made to.
            let _ = process.kill(Signal::TERM);
        }
    }

    /// Ends the daemon without asking, as a crash would.
    pub fn kill(mut self) {
        // If it is gone already, that is what was wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Returns the daemon's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the daemon's process.
    pub fn process(&self) -> Option<Process> {
        self.process
    }

    fn log_tail(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        tail(&String::from_utf8_lossy(&log), SHOWN_LINES)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.ask_to_end();
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_daemon_that_dies_shows_its_log() {
        let runs = tempfile::tempdir().unwrap();
        let mut run = Run::start_in(runs.path()).unwrap();
        let mut daemon =
            Daemon::start(&mut run, "demo", shell("echo no such flag; exit 3")).unwrap();
        let error = daemon.wait_until(Duration::from_secs(10), || Err("refused".into()));
        let text = error.unwrap_err().to_string();
        assert!(text.starts_with("demo ended at once (exit status: 3)"), "{text}");
        assert!(text.contains("| no such flag"), "{text}");
    }

    #[test]
    fn a_daemon_that_never_gets_ready_shows_the_last_reason() {
        let runs = tempfile::tempdir().unwrap();
        let mut run = Run::start_in(runs.path()).unwrap();
        let mut daemon = Daemon::start(&mut run, "demo", shell("exec sleep 60")).unwrap();
        let error = daemon.wait_until(Duration::ZERO, || Err("connection refused".into()));
        let text = error.unwrap_err().to_string();
        assert!(text.contains("was not ready after 0 s: connection refused"), "{text}");
    }

    #[test]
    fn a_dropped_daemon_is_gone_and_was_recorded() {
        let runs = tempfile::tempdir().unwrap();
        let mut run = Run::start_in(runs.path()).unwrap();
        let daemon = Daemon::start(&mut run, "demo", shell("exec sleep 60")).unwrap();
        let process = daemon.process().unwrap();
        let record = crate::run::Record::read(run.dir());
        assert_eq!(record.processes, [("demo".to_owned(), process)]);
        drop(daemon);
        assert!(!process.is_alive());
    }
}
