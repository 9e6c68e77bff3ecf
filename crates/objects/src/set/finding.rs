//! What comparing a set with what is there has shown.

use super::StepError;
use crate::{ObjectId, Version};

/// What was found of one object of a set.
#[derive(Debug)]
pub struct Compared<T> {
    /// The object.
    pub id: ObjectId,
    /// Its life and state; none where it is not there.
    pub version: Option<Version>,
    /// What was found.
    pub finding: Finding<T>,
}

/// What comparing an object with what is there has shown.
#[derive(Debug)]
pub enum Finding<T> {
    /// It is surely as wished: no request was needed to tell.
    Same,
    /// What a dry run has told.
    Told {
        /// What it has told.
        answer: T,
        /// What the API said besides.
        warnings: Vec<String>,
    },
    /// It is not there.
    Absent,
    /// It would be made, and no dry run can tell more: the rest of the set is
    /// not there yet, or a webhook takes none.
    Unchecked {
        /// What is missing.
        because: String,
    },
    /// It could not be compared, or an apply would fail.
    Failed(StepError),
}
