//! Credentials that could not be had: nothing was sent.
//!
//! What a command prints is the token itself, and what it was started with may
//! hold secrets. So only its name and its error output are told.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// A stack trace says no more at its full length.
const LONGEST: usize = 1000;

/// Why there is nothing to show to the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCredential {
    /// The command that makes tokens could not be started.
    NotStarted {
        /// The command, without its arguments.
        command: String,
        /// What the system said.
        problem: String,
    },
    /// The command failed.
    Failed {
        /// The command, without its arguments.
        command: String,
        /// How it ended, such as `exit status: 1`.
        end: String,
        /// What it said on its error output.
        said: String,
    },
    /// The command answered with something else than a credential.
    Useless {
        /// The command, without its arguments.
        command: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The file with the token cannot be read.
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// The kubeconfig asks for a command and names none.
    NoCommand,
    /// The command did not end in time.
    TooSlow {
        /// The command, without its arguments.
        command: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The credential cannot stand in a request.
    Unsendable {
        /// Whose it is, such as `the token file /run/token`.
        name: String,
        /// What is wrong with it, without a word of it.
        problem: String,
    },
    /// The kubeconfig has a provider that kubectl has no more either.
    Provider(String),
    /// Another way to a token failed.
    Other(String),
}

// === impl NoCredential ===

impl NoCredential {
    pub(crate) fn failed(command: String, end: ExitStatus, said: &[u8]) -> Self {
        Self::Failed { command, end: end.to_string(), said: in_one_line(said) }
    }

    /// Returns what to do next, where there is something to do.
    pub fn next(&self) -> Option<&'static str> {
        match self {
            Self::NotStarted { .. } => Some("install it, or write its path into the kubeconfig"),
            Self::Failed { .. } => Some("run it by hand, and log in anew where it says so"),
            Self::Useless { .. } => Some("it must print an ExecCredential with a token"),
            Self::File { .. } => Some("check `tokenFile` in the kubeconfig"),
            Self::NoCommand => Some("write `command` into `exec` of the kubeconfig"),
            Self::TooSlow { .. } => Some("run it by hand, and look what it waits for"),
            Self::Unsendable { .. } => Some("get a fresh kubeconfig or token"),
            Self::Provider(_) => Some("use a credential plugin: `exec` in the kubeconfig"),
            Self::Other(_) => None,
        }
    }
}

impl fmt::Display for NoCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { command, problem } => {
                write!(f, "the command for a token, `{command}`, could not be started: {problem}")
            }
            Self::Failed { command, end, said } => {
                write!(f, "the command for a token, `{command}`, failed ({end})")?;
                if said.is_empty() { Ok(()) } else { write!(f, ": {said}") }
            }
            Self::Useless { command, problem } => {
                write!(f, "the command for a token, `{command}`, printed no credential: {problem}")
            }
            Self::File { path, problem } => {
                write!(f, "the token file {} cannot be read: {problem}", path.display())
            }
            Self::NoCommand => f.write_str("the kubeconfig asks for a command and names none"),
            Self::TooSlow { command, after } => {
                let seconds = after.as_secs();
                write!(f, "the command for a token, `{command}`, did not end within {seconds} s")
            }
            Self::Unsendable { name, problem } => write!(f, "{name} cannot be sent: {problem}"),
            Self::Provider(name) => {
                write!(f, "the auth provider `{name}` was removed from Kubernetes in 1.26")
            }
            Self::Other(problem) => f.write_str(problem),
        }
    }
}

/// The end is kept where it is long: that is where a stack trace says why.
fn in_one_line(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: Vec<char> = words.join(" ").chars().filter(|c| !c.is_control()).collect();
    let rest = line.len().saturating_sub(LONGEST);
    let cut = if rest == 0 { "" } else { "… " };
    format!("{cut}{}", line[rest..].iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_says_is_one_line_without_colours_and_not_too_long() {
        assert_eq!(in_one_line(b"\nno session\n  log in\x07 again\n"), "no session log in again");
        let long = in_one_line(format!("{} the reason", "x".repeat(2000)).as_bytes());
        assert!(long.starts_with("… x") && long.ends_with(" the reason"), "{long}");
        assert_eq!(long.chars().count(), LONGEST + 2);
    }
}
