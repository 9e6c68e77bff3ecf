//! Why a patch cannot be applied. No value of a patch is shown: it may be a secret.

use std::fmt;

/// Why a patch cannot be applied: which patch, where in it, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchError {
    /// The patch: its file, or where it is written.
    pub patch: String,
    /// The line, from 1.
    pub line: u64,
    /// The document and the path within; empty where the patch as a whole is meant.
    pub place: String,
    /// The reason.
    pub reason: Reason,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// It is no YAML.
    #[error("it is not YAML: {0}")]
    Syntax(String),
    /// There is nothing in it.
    #[error("there is nothing in it")]
    Empty,
    /// It has neither form.
    #[error("expected documents of a machine config, or a list of JSON patch operations")]
    NoPatch,
    /// A key is set twice.
    #[error("the key is set twice")]
    KeyTwice,
    /// A key is no text.
    #[error("a key has to be a text")]
    KeyIsNoText,
    /// One mapping is to be copied into another.
    #[error("merge keys are not read: write the settings out")]
    MergeKey,
    /// An alias leads nowhere.
    #[error("the alias has no anchor")]
    NoAnchor,
    /// A document does not say what it is.
    #[error("a document needs both `apiVersion` and `kind`, unless it has `machine` or `cluster`")]
    NoKind,
    /// Two values cannot be merged.
    #[error("{new} cannot be merged into {old}")]
    Mismatch {
        /// What is there.
        old: &'static str,
        /// What the patch has.
        new: &'static str,
    },
    /// What is to be deleted is not there.
    #[error("there is nothing to delete")]
    NothingToDelete,
    /// Something within an element of a list is to be deleted.
    #[error("only whole elements of a list can be deleted")]
    WithinElement,
    /// An element is to be deleted, but not said which.
    #[error("a key is needed that says which element to delete")]
    WhichElement,
    /// The main document is to be deleted.
    #[error("the main document cannot be deleted")]
    DeletesMain,
    /// A step is no operation.
    #[error("it is no operation of a JSON patch")]
    NoOperation,
    /// An operation does not work on this config.
    #[error("the operation does not fit the machine config: {0}")]
    Operation(String),
    /// There is no main document to work on.
    #[error("the machine config has no main document")]
    NoMain,
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.patch, self.line)?;
        if !self.place.is_empty() {
            write!(f, ", `{}`", self.place)?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for PatchError {}
