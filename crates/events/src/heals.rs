//! Whether a cause goes away by waiting.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whether what a cause names goes away, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Heals {
    /// It may go away by itself: waiting helps.
    ByItself,
    /// It stays until somebody changes something.
    AfterAction,
    /// It stays: only a new object, node or cluster helps.
    Never,
}

impl Heals {
    /// Returns whether waiting can help.
    pub fn by_waiting(self) -> bool {
        self == Self::ByItself
    }
}

impl fmt::Display for Heals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByItself => "by itself",
            Self::AfterAction => "after an action",
            Self::Never => "never",
        })
    }
}
