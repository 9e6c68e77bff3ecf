//! What comes of a wait, and what is told meanwhile.

use std::fmt;
use std::time::Duration;

use events::{Because, Failure, NextStep};

use super::{Goal, NoRollout};
use crate::{Ailment, ObjectId};

/// What happens while one waits; only changes are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitEvent {
    /// An object is not there yet, for a new reason.
    Waiting {
        /// Which object; none where a selector matches nothing yet.
        id: Option<ObjectId>,
        /// What is missing, and what lies behind it.
        because: Because,
    },
    /// An object has reached the goal, and has to stay there.
    Holding {
        /// Which object.
        id: ObjectId,
        /// For how long.
        stable: Duration,
    },
    /// An object has reached the goal.
    Met {
        /// Which object.
        id: ObjectId,
        /// After how long.
        after: Duration,
    },
    /// Could not look; it is tried again.
    Trouble {
        /// What was tried, and what came of it.
        error: Failure,
        /// How many looks have failed so far.
        total: u32,
    },
}

/// Everybody has reached the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// Who.
    pub objects: Vec<ObjectId>,
    /// Those among them that are there, and of which nothing can say more: their
    /// kinds were defined without a status.
    pub not_judged: Vec<ObjectId>,
    /// After how long.
    pub after: Duration,
    /// How many looks failed on the way.
    pub errors: u32,
}

/// Why there is no good end.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// Nobody was named.
    #[error("there is nobody to wait for")]
    Nobody,
    /// A kind can never reach the goal.
    #[error(transparent)]
    NoRollout(#[from] NoRollout),
    /// Somebody has not reached it.
    #[error(transparent)]
    Unmet(Box<Unmet>),
}

/// Somebody has not reached the goal.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Unmet {
    /// The goal.
    pub goal: Goal,
    /// Who has not, those for whom it is certain first.
    pub missed: Vec<Missed>,
    /// Who has.
    pub met: Vec<ObjectId>,
    /// After how long.
    pub after: Duration,
    /// How many looks failed on the way.
    pub errors: u32,
}

/// Somebody that has not reached the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Which object; none where a selector matched nothing.
    pub id: Option<ObjectId>,
    /// Why it was not waited for any longer; none where others ended the wait.
    pub why: Option<Miss>,
    /// What was missing, and the chain of causes.
    pub because: Because,
}

/// Why an object is not waited for any longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The time is over.
    TimedOut,
    /// It was not there for too long.
    NotThere,
    /// It will not get there.
    Hopeless(Ailment),
    /// It says nothing by which to tell.
    Untold,
    /// Looking is refused.
    Refused(Failure),
}

impl Missed {
    /// Returns the command that shows the object.
    pub fn next(&self) -> Option<NextStep> {
        let id = self.id.as_ref()?;
        let inside = id.namespace.as_ref().map(|name| format!(" -n {name}")).unwrap_or_default();
        let name = format!("{}/{}", id.kind, id.name);
        let (command, tells) = match self.why {
            Some(Miss::Untold) => (
                format!("kubectl{inside} get {name} -o yaml"),
                "shows what it says; wait for that with `--for condition=TYPE` or `--for \
                 jsonpath={.path}=VALUE`",
            ),
            _ => (format!("kubectl{inside} describe {name}"), "shows its conditions and events"),
        };
        Some(NextStep { command, tells: tells.to_owned() })
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("the time is over"),
            Self::NotThere => f.write_str("it is not there"),
            Self::Hopeless(_) => f.write_str("it will not get there by itself"),
            Self::Untold => f.write_str("nobody can tell"),
            Self::Refused(_) => f.write_str("looking is refused"),
        }
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.missed.len() + self.met.len();
        let after = self.after.as_secs_f64();
        write!(f, "{} of {all} did not reach `{}` in {after:.1} s", self.missed.len(), self.goal)?;
        let Some(first) = self.missed.first() else { return Ok(()) };
        match &first.id {
            Some(id) => write!(f, ": {id}: {}", first.because.what),
            None => write!(f, ": {}", first.because.what),
        }
    }
}
