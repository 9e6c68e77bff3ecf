//! Credentials that could not be had: nothing was sent.
//!
//! What a command prints is the token itself, and what it was started with may
//! hold secrets. So only its name and its error output are told.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::Output;

use kube::client::AuthError;
use kube::config::AuthInfo;

use super::transport::find;
use super::{ApiError, Trouble};

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
    /// Another way to a token failed.
    Other(String),
}

// === impl NoCredential ===

impl NoCredential {
    /// Finds out whether a request failed for want of a credential.
    pub(crate) fn behind(error: &(dyn Error + 'static), command: &str) -> Option<Self> {
        let command = || command.to_owned();
        let useless = |problem: String| Self::Useless { command: command(), problem };
        Some(match find::<AuthError>(error)? {
            AuthError::AuthExecStart(error) => {
                Self::NotStarted { command: command(), problem: error.to_string() }
            }
            AuthError::AuthExecRun { out, .. } => Self::failed(command(), out),
            AuthError::AuthExecParse(error) => useless(place(error.location())),
            AuthError::ExecPluginFailed => useless("it has no status".to_owned()),
            AuthError::MalformedTokenExpirationDate(_) => {
                useless("its expirationTimestamp is no time".to_owned())
            }
            AuthError::UnrefreshableTokenResponse => {
                useless("the first had a token that ends, this one has none".to_owned())
            }
            AuthError::ReadTokenFile(error, path) => Self::unread(path.clone(), error),
            AuthError::InvalidBearerToken(_) => {
                Self::Other("the token has characters that cannot be sent".to_owned())
            }
            // That is about the server's certificate.
            AuthError::NoValidNativeRootCA(_) => return None,
            other => Self::Other(other.to_string()),
        })
    }

    fn failed(command: String, out: &Output) -> Self {
        Self::Failed { command, end: out.status.to_string(), said: in_one_line(&out.stderr) }
    }

    fn unread(path: PathBuf, error: &io::Error) -> Self {
        Self::File { path, problem: error.to_string() }
    }

    /// Returns what to do next, where there is something to do.
    pub fn next(&self) -> Option<&'static str> {
        match self {
            Self::NotStarted { .. } => Some("install it, or write its path into the kubeconfig"),
            Self::Failed { .. } => Some("run it by hand, and log in anew where it says so"),
            Self::Useless { .. } => Some("it must print an ExecCredential with a token"),
            Self::File { .. } => Some("check `tokenFile` in the kubeconfig"),
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
            Self::Other(problem) => f.write_str(problem),
        }
    }
}

// === impl ApiError ===

impl ApiError {
    /// A request that got no answer, or was not sent for want of a credential.
    /// The library's own words for that hold what the command printed, so they
    /// are not kept.
    pub(crate) fn unsent(tried: &str, command: &str, error: kube::Error) -> Self {
        match NoCredential::behind(&error, command) {
            Some(reason) => Self::new(tried, Trouble::NoCredential(Box::new(reason))),
            None => Self::lost(tried, error),
        }
    }
}

/// Returns the command that makes tokens for a user, as it is told.
pub(crate) fn command_of(user: &AuthInfo) -> String {
    let exec = user.exec.as_ref().and_then(|exec| exec.command.clone());
    let provider = || user.auth_provider.as_ref()?.config.get("cmd-path").cloned();
    exec.or_else(provider).unwrap_or_default()
}

/// The parser's words would quote what it has read.
fn place(location: Option<serde_saphyr::Location>) -> String {
    match location {
        Some(at) => format!("it cannot be read at line {}, column {}", at.line(), at.column()),
        None => "it cannot be read".to_owned(),
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
