//! Processes as `/proc` shows them, told apart by pid and start time.

use std::fs;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::settings::RUN_MARK;

/// One process, past or present: a pid alone may since have been given to
/// another, together with its start time it is unique until the next boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Process {
    /// The process id.
    pub pid: i32,
    /// The start time in clock ticks since boot.
    pub start: u64,
}

impl Process {
    /// Looks a living process up; a zombie counts as gone.
    pub fn find(pid: i32) -> Option<Self> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (state, start) = state_and_start(&line)?;
        (state != 'Z' && state != 'X').then_some(Self { pid, start })
    }

    /// Says whether this very process still runs.
    pub fn is_alive(self) -> bool {
        Self::find(self.pid) == Some(self)
    }

    /// Ends this very process. A process that is already gone is no error.
    pub fn kill(self, signal: Signal) -> io::Result<()> {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return Ok(());
        };
        // The descriptor keeps meaning the same process, so that the check
        // after it cannot be outrun by a reuse of the pid.
        let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => descriptor,
            Err(rustix::io::Errno::SRCH) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if !self.is_alive() {
            return Ok(());
        }
        match pidfd_send_signal(&descriptor, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the living processes that carry a run's mark in their environment.
///
/// The mark reaches children of children too (containerd's shims), and those
/// whose pid was not yet recorded when their parent was killed.
pub fn marked(run: &str) -> Vec<Process> {
    let mark = format!("{RUN_MARK}={run}");
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| carries(*pid, &mark))
        .filter_map(Process::find)
        .collect()
}

fn carries(pid: i32, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}

/// Reads state and start time; the name before them may hold anything, spaces
/// and parentheses included.
fn state_and_start(line: &str) -> Option<(char, u64)> {
    let mut fields = line.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some((state, start))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99";
        assert_eq!(state_and_start(stat), Some(('S', 4711)));
    }

    #[test]
    fn a_reused_pid_is_not_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let real = Process::find(pid).unwrap();
        let earlier = Process { start: real.start - 1, ..real };
        earlier.kill(Signal::KILL).unwrap();
        assert!(real.is_alive());
        real.kill(Signal::KILL).unwrap();
        child.wait().unwrap();
        assert!(!real.is_alive());
        real.kill(Signal::KILL).unwrap();
    }

    #[test]
    fn marked_processes_are_found() {
        let run = "test-of-marks";
        let mut child = Command::new("sleep").arg("60").env(RUN_MARK, run).spawn().unwrap();
        // The environment of a process that has just been executed is empty
        // for a moment.
        let found = (0..1000).map(|_| marked(run)).find(|found| !found.is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        let pids: Vec<i32> = found.unwrap().iter().map(|process| process.pid).collect();
        assert_eq!(pids, [child.id().cast_signed()]);
    }
}
