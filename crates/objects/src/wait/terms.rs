//! What to wait for, and for how long.

use std::time::Duration;

use super::{Goal, NoRollout};
use crate::{Claims, Kind, ObjectId, Scope};

/// A goal, the objects that have to reach it, and the terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    goal: Goal,
    subjects: Vec<Subject>,
    terms: Terms,
    /// Kinds that were defined without a status: to be there is all they can be.
    silent: Vec<Kind>,
    /// Classes that bind a volume only once a pod needs it.
    lazy: Vec<String>,
}

/// Who has to reach a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One object.
    One(ObjectId),
    /// Every object of a scope, of which there has to be at least one; those
    /// that come later count too. To be gone, only those that were there at
    /// the start have to go.
    Each(Scope),
}

/// For how long to wait, and when to stop early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// For the goal, in all.
    pub timeout: Duration,
    /// For an object that is not there, also when it has gone again. Neither
    /// for `create`, which has the whole timeout, nor for `delete`.
    pub existence: Duration,
    /// For how long the goal has to stay met without a break.
    pub stable: Duration,
    /// For how long a cause that does not heal by itself is put up with; none
    /// to wait for the timeout whatever the cause.
    pub grace: Option<Duration>,
    /// What a claim for a volume has to be.
    pub claims: Claims,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(10),
            existence: Duration::from_mins(1),
            stable: Duration::ZERO,
            // A registry, a scheduler or an autoscaler may need a moment.
            grace: Some(Duration::from_secs(30)),
            // Where a pod is waited for too, it has its volume before it is ready.
            claims: Claims::BoundWhenUsed,
        }
    }
}

impl Wait {
    /// Waits for nothing yet.
    pub fn new(goal: Goal, terms: Terms) -> Self {
        Self { goal, subjects: Vec::new(), terms, silent: Vec::new(), lazy: Vec::new() }
    }

    /// Adds an object; an error where its kind can never reach the goal.
    pub fn object(self, id: ObjectId) -> Result<Self, NoRollout> {
        self.subject(Subject::One(id))
    }

    /// Adds all objects of a scope; an error where their kind can never reach the goal.
    pub fn objects(self, scope: Scope) -> Result<Self, NoRollout> {
        self.subject(Subject::Each(scope))
    }

    /// Adds somebody; an error where their kind can never reach the goal.
    pub fn subject(mut self, subject: Subject) -> Result<Self, NoRollout> {
        self.goal.fits(subject.kind())?;
        self.subjects.push(subject);
        Ok(self)
    }

    /// Says which kinds were defined without a status.
    pub(super) fn with_silent(mut self, kinds: Vec<Kind>) -> Self {
        self.silent = kinds;
        self
    }

    /// Says which classes bind a volume only once a pod needs it.
    pub(super) fn with_lazy(mut self, classes: Vec<String>) -> Self {
        self.lazy = classes;
        self
    }

    /// Returns whether a class binds a volume only once a pod needs it.
    pub(super) fn is_lazy(&self, class: &str) -> bool {
        self.lazy.iter().any(|lazy| lazy == class)
    }

    /// Returns whether a kind was defined without a status.
    pub(super) fn is_silent(&self, kind: &Kind) -> bool {
        self.silent.contains(kind)
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// Returns who has to reach it.
    pub fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    /// Returns the terms.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }
}

impl Subject {
    /// Returns the kind.
    pub fn kind(&self) -> &Kind {
        match self {
            Self::One(id) => &id.kind,
            Self::Each(scope) => scope.kind(),
        }
    }
}
