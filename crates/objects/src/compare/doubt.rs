//! What makes it doubtful that an apply would change nothing.

use std::fmt;

use crate::fields::FieldPath;

/// What makes it doubtful that an apply would change nothing, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// What.
    pub why: Why,
    /// Where; the object itself if it is not about a field.
    pub at: FieldPath,
}

/// What makes it doubtful that an apply would change nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The live object is another one than was meant.
    AnotherObject,
    /// It is being deleted.
    BeingDeleted,
    /// We own nothing of it by applying.
    NeverApplied,
    /// We applied it in this other version.
    OtherVersion(String),
    /// Its owners cannot be told.
    Unreadable(String),
    /// We desire a field that we do not own, or do not own any more.
    NotOurs,
    /// We own a field that we do not desire any more.
    Dropped,
    /// We own a field that is not there.
    NotThere,
    /// The values differ, or are two spellings of one.
    Value,
    /// A null may mean a default, or that the field goes away.
    Null,
    /// The desired value is of another shape than what we own.
    Shape,
    /// An item of a list cannot be told from others.
    Ambiguous,
    /// Our items are in another order.
    Order,
    /// We own an item by its position, which says little.
    Position,
}

impl Why {
    pub(crate) fn at(self, at: FieldPath) -> Doubt {
        Doubt { why: self, at }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AnotherObject => "another object is there",
            Self::BeingDeleted => "the object is being deleted",
            Self::NeverApplied => "it was never applied by us",
            Self::OtherVersion(version) => return write!(f, "it was applied as {version}"),
            Self::Unreadable(problem) => problem,
            Self::NotOurs => "the field is not ours",
            Self::Dropped => "the field is ours, and not desired any more",
            Self::NotThere => "the field is not there",
            Self::Value => "the values differ",
            Self::Null => "null may mean a default",
            Self::Shape => "the value is of another shape",
            Self::Ambiguous => "the item cannot be told from others",
            Self::Order => "the items are in another order",
            Self::Position => "the item is owned by its position",
        })
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.is_root() { self.why.fmt(f) } else { write!(f, "{} at `{}`", self.why, self.at) }
    }
}
