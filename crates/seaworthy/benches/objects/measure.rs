//! A process, timed and weighed.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often the weight is looked at. The kernel keeps the peak, so that only
/// what grows in the last moment is missed.
const LOOK: Duration = Duration::from_millis(2);

/// What a process cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) time: Duration,
    /// The most memory that it held at once, in MiB.
    pub(crate) peak: f64,
}

/// Runs a process to its end, which must be a good one.
pub(crate) fn run(command: &mut Command) -> Cost {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let start = Instant::now();
    let mut peak = 0.0;
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        peak = weight(&child).unwrap_or(0.0).max(peak);
        thread::sleep(LOOK);
    };
    let time = start.elapsed();
    let said = child.wait_with_output().map(|output| output.stderr).unwrap_or_default();
    assert!(ended.success(), "{command:?}: {}", String::from_utf8_lossy(&said));
    Cost { time, peak }
}

/// The most memory that a process has held at once so far, in MiB.
pub(crate) fn weight(child: &Child) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes / 1024.0)
}
