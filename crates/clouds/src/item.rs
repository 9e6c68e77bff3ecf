//! Things that are ours and can be taken away, whatever the cloud.

use std::fmt;

use events::{Call, CallClass};
use serde_json::Value;

/// Something that is provably ours. Only a cloud's look makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub(crate) kind: &'static str,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) proof: &'static str,
    pub(crate) rank: usize,
    pub(crate) is_protected: bool,
    /// What takes it off others, where something does have to.
    pub(crate) release: Option<Value>,
}

/// A step of taking something away; each is one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is taken off others.
    Release,
    /// It is deleted.
    Delete,
}

impl Item {
    /// Returns what it is, such as `server`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns its id in the cloud.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns why it is ours.
    pub fn proof(&self) -> &'static str {
        self.proof
    }

    /// Returns whether the cloud refuses to delete it.
    pub fn is_protected(&self) -> bool {
        self.is_protected
    }

    /// Returns its place: items of one rank may go at the same time, and
    /// those of the next when all of this one are gone.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the next step of taking it away.
    pub fn step(&self) -> Step {
        if self.release.is_some() { Step::Release } else { Step::Delete }
    }

    /// Returns the call that takes the next step.
    pub fn call(&self) -> Call {
        let name = format!("{} ({})", self.name, self.id);
        Call::new(CallClass::Named, format!("{} {}", self.step(), self.kind), name, b"")
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.kind, self.name, self.id)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Release => "release",
            Self::Delete => "delete",
        })
    }
}
