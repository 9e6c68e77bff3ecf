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
    /// What could not be seen besides, which is never the end.
    pub aside: Option<Failure>,
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

    /// Takes in a look that only helps to understand.
    pub(crate) fn add_aside(&mut self, error: &ApiError) {
        self.total += 1;
        self.aside = Some(error.failure());
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
        let Some(last) = &self.last else {
            let aside = self.aside.as_ref()?;
            return Some(format!("what it waits for was not seen: {aside}"));
        };
        Some(match (self.total, self.in_a_row) {
            (1, _) => format!("1 look failed: {last}"),
            (total, 0) => {
                format!("{total} looks failed, and the last one did not; before it: {last}")
            }
            (total, 1) => format!("{total} looks failed, the last one too: {last}"),
            (total, row) => format!("{total} looks failed, the last {row} in a row: {last}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_many_failed_and_whether_the_last_did() {
        let mut errors = LookErrors::default();
        assert_eq!(errors.line(), None);
        let mut add = |ends: bool| {
            errors.add(&ApiError::new("look", Trouble::Absent));
            if ends {
                errors.end_row();
            }
            errors.line().unwrap()
        };
        let last = "could not look: it is not there";
        assert_eq!(add(true), format!("1 look failed: {last}"));
        assert_eq!(add(false), format!("2 looks failed, the last one too: {last}"));
        assert_eq!(add(false), format!("3 looks failed, the last 2 in a row: {last}"));
        let passed = format!("4 looks failed, and the last one did not; before it: {last}");
        assert_eq!(add(true), passed);
    }
}
