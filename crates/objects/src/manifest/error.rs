//! What can be wrong with manifests.

use std::fmt;

use super::SourceError;
use crate::NotAnObject;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// Why a manifest could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The file could not be opened.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The bytes are no text.
    #[error("{file} is not valid UTF-8 after byte {valid_up_to}")]
    NotUtf8 {
        /// The name of the file.
        file: String,
        /// How many bytes are good.
        valid_up_to: usize,
    },
    /// The text is no YAML or JSON, or sets a key twice.
    #[error("{place}: {problem}")]
    Syntax {
        /// Where.
        place: Place,
        /// What is wrong there.
        problem: String,
    },
    /// A document or an item of a list is something else.
    #[error("{place}: this is not an object: {problem}")]
    NotAnObject {
        /// Where it begins.
        place: Place,
        /// What is wrong with it.
        problem: NotAnObject,
    },
}

/// Everything that is wrong with a number of manifests; never nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestErrors(Vec<ManifestError>);

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) line: usize,
    pub(super) column: usize,
}

// === impl ManifestError ===

impl ManifestError {
    /// Returns where the mistake is, where it has a place.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Syntax { place, .. } | Self::NotAnObject { place, .. } => Some(place),
            Self::Source(_) | Self::NotUtf8 { .. } => None,
        }
    }
}

// === impl Place ===

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

// === impl Spot ===

impl Spot {
    pub(super) fn within(self, file: &str) -> Place {
        Place { file: file.to_owned(), line: self.line, column: self.column }
    }
}

// === impl ManifestErrors ===

impl ManifestErrors {
    /// The errors, if there are any.
    pub(super) fn of(errors: Vec<ManifestError>) -> Option<Self> {
        (!errors.is_empty()).then_some(Self(errors))
    }

    pub(super) fn into_errors(self) -> Vec<ManifestError> {
        self.0
    }

    /// Returns each of them, in the order of the files.
    pub fn errors(&self) -> &[ManifestError] {
        &self.0
    }
}

impl From<ManifestError> for ManifestErrors {
    fn from(error: ManifestError) -> Self {
        Self(vec![error])
    }
}

impl fmt::Display for ManifestErrors {
    /// One a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for ManifestErrors {}
