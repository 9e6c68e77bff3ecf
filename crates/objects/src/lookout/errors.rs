//! Looks that failed.

use events::Failure;

use crate::{ApiError, Trouble};

/// How often in a row a look may be refused for good before that is the end:
/// a token or a right may be renewed while we look.
const REFUSALS: u32 = 3;

/// Looks that failed: counted, shown, and never taken for an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookErrors {
    /// How many in all.
    pub total: u32,
    /// How many since the last look that did not fail.
    pub in_a_row: u32,
    /// The last one.
    pub last: Option<Failure>,
    /// How many of the last ones were refused for good.
    refused: u32,
}

impl LookErrors {
    pub(crate) fn add(&mut self, error: &ApiError) {
        self.total += 1;
        self.in_a_row += 1;
        // A kind that the API does not serve will not be served a second later.
        self.refused = match error.trouble() {
            Trouble::KindMissing { stale, .. } if stale.is_empty() => REFUSALS,
            _ if error.class().is_retryable() => 0,
            _ => self.refused + 1,
        };
        self.last = Some(error.failure());
    }

    /// Takes in a request that failed, and was refused for good where that is its class.
    pub(crate) fn add_final(&mut self, failure: Failure) {
        self.total += 1;
        self.in_a_row += 1;
        self.refused = if failure.class.is_retryable() { 0 } else { REFUSALS };
        self.last = Some(failure);
    }

    pub(crate) fn end_row(&mut self) {
        (self.in_a_row, self.refused) = (0, 0);
    }

    /// Returns whether it is no use to look on.
    pub fn are_final(&self) -> bool {
        self.refused >= REFUSALS
    }

    /// Returns them in one line; none where there are none.
    pub fn line(&self) -> Option<String> {
        let last = self.last.as_ref()?;
        let Self { total, in_a_row, .. } = self;
        Some(format!("{total} looks failed, the last {in_a_row} in a row: {last}"))
    }
}
