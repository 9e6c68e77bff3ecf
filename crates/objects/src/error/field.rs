//! What the API says about single fields.

use std::fmt;

/// A field that another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldConflict {
    /// Who owns it, such as `kubectl`.
    pub manager: String,
    /// The path, as the API writes it: `.spec.containers[name="app"].image`.
    pub path: String,
}

/// A field that the API does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// The path, where the API names one: `spec.ports[0].port`.
    pub path: String,
    /// The reason as a word, such as `FieldValueRequired`.
    pub reason: String,
    /// What is wrong with it.
    pub message: String,
}

impl FieldConflict {
    /// Reads a cause: `conflict with "kubectl" using apps/v1`. The manager
    /// stands nowhere else.
    pub(super) fn of(message: &str, path: &str) -> Self {
        let manager = message.split('"').nth(1).unwrap_or(message);
        Self { manager: manager.to_owned(), path: path.to_owned() }
    }
}

impl fmt::Display for FieldConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` belongs to {}", self.path, self.manager)
    }
}

impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "`{}`: {}", self.path, self.message)
        }
    }
}
