//! What the rig tells people: lines on stderr with a right-aligned verb.
//!
//! Written to the stream itself, because the test harness swallows what the
//! print macros write, and a build of five minutes must not look like a hang.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Verbs end at this column, as cargo's do.
const VERB_COLUMN: usize = 12;

/// How often a long wait is mentioned where lines cannot be redrawn.
const PLAIN_INTERVAL: Duration = Duration::from_secs(30);

/// Says one line: a verb in its column, then the rest.
pub fn say(verb: &str, rest: impl AsRef<str>) {
    // A closed stderr must not end a test run.
    let _ = writeln!(stderr(), "{verb:>VERB_COLUMN$} {}", rest.as_ref());
}

/// Says how long something has been going on: redrawn in place on a terminal,
/// a plain line now and then elsewhere.
#[derive(Debug)]
pub struct Elapsed {
    since: Instant,
    said: Instant,
    terminal: bool,
}

impl Elapsed {
    /// Starts counting.
    pub fn start() -> Self {
        let now = Instant::now();
        Self { since: now, said: now, terminal: stderr().is_terminal() }
    }

    /// Mentions the time passed, if it is time to.
    pub fn tick(&mut self, verb: &str, rest: &str) {
        let interval = if self.terminal { Duration::from_secs(1) } else { PLAIN_INTERVAL };
        if self.said.elapsed() < interval {
            return;
        }
        self.said = Instant::now();
        let line = format!("{verb:>VERB_COLUMN$} {rest}, {} so far", brief(self.since.elapsed()));
        let _ = if self.terminal {
            write!(stderr(), "{line}\x1b[K\r")
        } else {
            writeln!(stderr(), "{line}")
        };
    }

    /// Returns the time passed and frees the line that was redrawn.
    pub fn stop(self) -> Duration {
        if self.terminal {
            let _ = write!(stderr(), "\x1b[K");
        }
        self.since.elapsed()
    }
}

/// Formats a duration for people: `0.4s`, `12s`, `4m38s`.
pub fn brief(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{:.1}s", duration.as_secs_f64()),
        10..60 => format!("{seconds}s"),
        _ => format!("{}m{:02}s", seconds / 60, seconds % 60),
    }
}

/// Formats an estimate, which has no business being precise.
pub fn about(seconds: u64) -> String {
    match seconds {
        0..50 => format!("about {} s", seconds.div_ceil(10) * 10),
        _ => format!("about {} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_carry_units() {
        assert_eq!(brief(Duration::from_millis(420)), "0.4s");
        assert_eq!(brief(Duration::from_secs(12)), "12s");
        assert_eq!(brief(Duration::from_secs(278)), "4m38s");
    }

    #[test]
    fn estimates_are_round() {
        assert_eq!(about(5), "about 10 s");
        assert_eq!(about(55), "about 1 min");
        assert_eq!(about(280), "about 5 min");
    }
}
