//! What the API says about single fields.

use std::fmt;

use serde_json::Value;

use crate::fields::FieldPath;

/// A field that another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldConflict {
    /// Who owns it, such as `kubectl`.
    pub manager: String,
    /// Which field.
    pub path: FieldPath,
}

/// A field that the API does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// Which field, where the API names one.
    pub path: Option<FieldPath>,
    /// The reason as a word, such as `FieldValueRequired`.
    pub reason: String,
    /// What is wrong with it.
    pub message: String,
}

// === impl FieldConflict ===

impl FieldConflict {
    /// Reads a cause: `conflict with "kubectl" using apps/v1`. The manager
    /// stands nowhere else.
    pub(super) fn of(message: &str, path: &str) -> Self {
        let manager = message.split('"').nth(1).unwrap_or(message);
        Self { manager: manager.to_owned(), path: told(path).unwrap_or_default() }
    }

    /// Tells names with dots apart, now that it is known what was sent.
    pub(super) fn in_sent(&mut self, sent: &Value) {
        reread(&mut self.path, sent);
    }
}

// === impl FieldProblem ===

impl FieldProblem {
    pub(super) fn of(path: &str, reason: &str, message: &str) -> Self {
        Self { path: told(path), reason: reason.to_owned(), message: message.to_owned() }
    }

    pub(super) fn in_sent(&mut self, sent: &Value) {
        if let Some(path) = &mut self.path {
            reread(path, sent);
        }
    }
}

/// What the API calls a path is shown, even where it has another form.
fn told(path: &str) -> Option<FieldPath> {
    let whole = || (!path.is_empty() && path != "<nil>").then(|| FieldPath::of_fields([path]));
    FieldPath::told(path, None).or_else(whole)
}

fn reread(path: &mut FieldPath, sent: &Value) {
    if let Some(better) = FieldPath::told(&path.as_told(), Some(sent)) {
        *path = better;
    }
}

impl fmt::Display for FieldConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` belongs to {}", self.path, self.manager)
    }
}

impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "`{path}`: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}
