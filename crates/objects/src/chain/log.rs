//! The last lines of a container.

use crate::request::Ask;
use crate::status::unwell;
use crate::{ApiError, Cluster, Object, ObjectId};

/// So much of a log is fetched and kept: the last words, not the story.
const LINES: usize = 5;
const BYTES: &str = "8192";
const WIDTH: usize = 240;

/// The last lines that a container wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTail {
    /// Its pod.
    pub pod: ObjectId,
    /// The container.
    pub container: String,
    /// The lines, the last one last, cut to a readable width.
    pub lines: Vec<String>,
}

/// Which log to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogOf {
    container: String,
    /// A container that was started again has said why in its life before.
    previous: bool,
}

impl LogOf {
    /// Returns the log of the first container that has ended badly.
    pub(super) fn pod(pod: &Object) -> Option<Self> {
        let unwell = unwell(pod).into_iter().find(|one| one.ended_before || one.ended)?;
        Some(Self { container: unwell.container, previous: unwell.ended_before })
    }
}

impl Cluster {
    pub(super) async fn log_tail(&self, pod: &ObjectId, of: LogOf) -> Result<LogTail, ApiError> {
        let tried = format!("read the log of {pod}");
        let path = format!("{}/log", self.resource(&pod.kind).await?.path_of(self, pod));
        let ask = Ask::get(path, tried)
            .with("container", &of.container)
            .with("tailLines", &LINES.to_string())
            .with("limitBytes", BYTES)
            .with("previous", if of.previous { "true" } else { "false" });
        let body = self.send(ask.accepting("*/*")).await?.body;
        let lines = last_lines(&String::from_utf8_lossy(&body));
        Ok(LogTail { pod: pod.clone(), container: of.container, lines })
    }
}

fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().map(|line| printable(line)).collect()
}

/// A log may hold anything, and a terminal obeys some of it.
fn printable(line: &str) -> String {
    let clean = line.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean.take(WIDTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_short_and_harmless() {
        let text = format!("1\n2\n\n3\n4\n5\n\x1b[31m6\n{}\n", "x".repeat(999));
        let lines = last_lines(&text);
        assert_eq!(lines[..4], ["3", "4", "5", " [31m6"]);
        assert_eq!(lines[4].len(), WIDTH);
        assert_eq!(last_lines(""), Vec::<String>::new());
    }
}
