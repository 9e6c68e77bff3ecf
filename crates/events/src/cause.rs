//! Why something failed: a code with a page behind it, and the chain of causes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{CheckName, Evidence, Heals};

/// The code of a cause, such as `SW0307`. `seaworthy explain` prints its page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Code(pub u16);

/// Why a unit failed, with the most direct cause first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The code of the cause.
    pub code: Code,
    /// What is the matter, in one line.
    pub message: String,
    /// Whether it goes away by waiting, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heals: Option<Heals>,
    /// The check that showed it, where a check did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_by: Option<ShownBy>,
    /// What lies behind it, each line caused by the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    /// What else is wrong, beside the chain: none of these causes another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// What follows from it, where that is not obvious.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub so: Option<String>,
    /// What was seen of it: facts, logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<Evidence>>,
    /// What to do next, as commands that can be copied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextStep>,
}

/// The check that showed a cause, and how long it looked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownBy {
    /// The gate or probe.
    pub check: CheckName,
    /// How often it looked.
    pub looks: u64,
    /// For how long.
    pub waited_ms: u64,
    /// What it got last, where it could not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_answer: Option<String>,
}

/// A command that helps, and what it does or tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStep {
    /// The command, ready to be copied.
    pub command: String,
    /// What it does or tells.
    pub tells: String,
}

/// A text that is no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a code such as SW0307")]
pub struct InvalidCode(String);

// === impl Code ===

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SW{:04}", self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Code {
    type Err = InvalidCode;

    fn from_str(text: &str) -> Result<Self, InvalidCode> {
        text.strip_prefix("SW")
            .or_else(|| text.strip_prefix("sw"))
            .filter(|digits| digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .map(Self)
            .ok_or_else(|| InvalidCode(text.to_owned()))
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.to_string()
    }
}

impl TryFrom<String> for Code {
    type Error = InvalidCode;

    fn try_from(text: String) -> Result<Self, InvalidCode> {
        text.parse()
    }
}

// === impl Cause ===

impl Cause {
    /// A cause with nothing behind it yet.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            heals: None,
            shown_by: None,
            because: Vec::new(),
            also: Vec::new(),
            so: None,
            evidence: None,
            next: Vec::new(),
        }
    }

    /// Adds what lies behind it, most direct first.
    #[must_use]
    pub fn because<T: Into<String>>(mut self, chain: impl IntoIterator<Item = T>) -> Self {
        self.because.extend(chain.into_iter().map(Into::into));
        self
    }

    /// Adds what else is wrong, beside the chain.
    #[must_use]
    pub fn also<T: Into<String>>(mut self, others: impl IntoIterator<Item = T>) -> Self {
        self.also.extend(others.into_iter().map(Into::into));
        self
    }

    /// Adds things that lie behind it side by side: the first ends the chain, the others
    /// stand beside it.
    #[must_use]
    pub fn because_of_each<T: Into<String>>(self, things: impl IntoIterator<Item = T>) -> Self {
        let mut things = things.into_iter();
        let first = things.next();
        self.because(first).also(things)
    }

    /// Says whether it goes away by waiting.
    #[must_use]
    pub fn heals(mut self, heals: Heals) -> Self {
        self.heals = Some(heals);
        self
    }

    /// Returns whether waiting can help: where nothing is known, it may.
    pub fn heals_by_waiting(&self) -> bool {
        self.heals.is_none_or(Heals::by_waiting)
    }

    /// Says what follows from it.
    #[must_use]
    pub fn so(mut self, text: impl Into<String>) -> Self {
        self.so = Some(text.into());
        self
    }

    /// Adds what was seen of it.
    #[must_use]
    pub fn seen(mut self, evidence: Evidence) -> Self {
        self.evidence = Some(Box::new(evidence));
        self
    }

    /// Adds a command that helps.
    #[must_use]
    pub fn next(mut self, command: impl Into<String>, tells: impl Into<String>) -> Self {
        self.next.push(NextStep { command: command.into(), tells: tells.into() });
        self
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_survive_their_text_and_refuse_others() {
        assert_eq!("SW0307".parse(), Ok(Code(307)));
        assert_eq!("sw0307".parse(), Ok(Code(307)));
        assert_eq!(Code(307).to_string(), "SW0307");
        for wrong in ["", "SW", "SW307", "SW03070", "SW+307", "0307", "XX0307"] {
            let error = wrong.parse::<Code>().unwrap_err();
            assert_eq!(error.to_string(), format!("`{wrong}` is not a code such as SW0307"));
        }
    }
}
