//! What can go wrong with a request, in classes.

mod credential;
mod field;
mod hidden;
mod immutable;
mod refusal;
mod right;
mod tls;
mod told;
mod transport;
mod trouble;

pub use credential::NoCredential;
pub use field::{FieldConflict, FieldProblem};
pub use immutable::Immutable;
pub(crate) use immutable::differing;
pub use right::{Right, RightTo};
pub use tls::TlsProblem;
pub use transport::Unreachable;
pub use trouble::Trouble;

use std::error::Error;

use events::{Arrival, Class, Failure};

use crate::{Object, ObjectId};

/// A request that was not answered as hoped: what was tried, what came of it,
/// and what to do next.
#[derive(Debug)]
pub struct ApiError {
    tried: String,
    trouble: Trouble,
    warnings: Vec<String>,
}

// === impl ApiError ===

impl ApiError {
    /// `tried` completes "could not …" and names the object.
    pub(crate) fn new(tried: impl Into<String>, trouble: Trouble) -> Self {
        Self { tried: tried.into(), trouble, warnings: Vec::new() }
    }

    pub(crate) fn warned(mut self, warnings: Vec<String>) -> Self {
        self.warnings = warnings;
        self
    }

    /// Says what the API could not know: that the namespace it misses is the
    /// object itself, or which kind it was asked for.
    pub(crate) fn about(mut self, id: &ObjectId) -> Self {
        match &mut self.trouble {
            Trouble::NamespaceMissing(name) if id.kind.is("", "Namespace") && *name == id.name => {
                self.trouble = Trouble::Absent;
            }
            Trouble::KindMissing { kind, .. } => {
                *kind = format!("{} of {}", id.kind.kind, id.kind.api_version());
            }
            _ => {}
        }
        self
    }

    /// Says what the API could not know about the object that it was sent: also
    /// where the names of its fields end, and which words are secrets.
    pub(crate) fn about_sent(mut self, object: &Object) -> Self {
        let sent = object.body();
        if object.kind().is("", "Secret") {
            self.trouble.hide_values_of(sent);
        }
        match &mut self.trouble {
            Trouble::Ownership(fields) => fields.iter_mut().for_each(|field| field.in_sent(sent)),
            Trouble::Invalid(problems) => problems.iter_mut().for_each(|one| one.in_sent(sent)),
            Trouble::Immutable(fields) => {
                fields.problems.iter_mut().for_each(|one| one.in_sent(sent));
                fields.of_kind(object.kind());
            }
            _ => {}
        }
        self.about(object.id())
    }

    /// Says which fields are wished for otherwise, where the API names only what
    /// holds them.
    pub(crate) fn about_differences(mut self, sent: &Object, live: &Object) -> Self {
        if let Trouble::Immutable(fields) = &mut self.trouble {
            fields.differ_at(differing(sent, live));
        }
        self
    }

    /// Returns the fields that the API does not know.
    pub(crate) fn unknown_fields(&mut self) -> impl Iterator<Item = &mut FieldProblem> {
        let problems = match &mut self.trouble {
            Trouble::Invalid(problems) => problems.as_mut_slice(),
            _ => &mut [],
        };
        problems.iter_mut().filter(|problem| problem.reason == told::NOT_DECLARED)
    }

    /// Says what was tried and what came of it, for whoever knows better than
    /// [`Trouble::next`] what to do about it.
    pub fn without_advice(&self) -> String {
        format!("could not {}: {}", self.tried, self.trouble)
    }

    /// Returns what was tried, such as `apply configmap/a in namespace b`.
    pub fn tried(&self) -> &str {
        &self.tried
    }

    /// Returns what is the matter.
    pub fn trouble(&self) -> &Trouble {
        &self.trouble
    }

    /// Returns what the API said besides.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns what may be done about it.
    pub fn class(&self) -> Class {
        self.trouble.class()
    }

    /// Returns whether the request may have had its effect all the same.
    pub fn arrival(&self) -> Arrival {
        self.trouble.arrival()
    }

    /// Returns whether the API has said that the object is not there.
    pub fn is_absent(&self) -> bool {
        matches!(self.trouble, Trouble::Absent)
    }

    /// Returns whether the kind may not be served. A path that is not found says
    /// so too, and whoever stands before the API may say it of any path.
    pub(crate) fn is_about_a_missing_kind(&self) -> bool {
        matches!(self.trouble, Trouble::KindMissing { .. })
    }

    /// Says what it means that a path is not found whose kind is not gone.
    pub(crate) fn though_served(mut self) -> Self {
        match &self.trouble {
            Trouble::KindMissing { stale, .. } if stale.is_empty() => {
                let message = "it was not found, but the API does not say that the kind is gone";
                self.trouble = Trouble::Refused { code: 404, message: message.to_owned() };
            }
            _ => {}
        }
        self
    }

    /// Returns it in the form that survives the journal.
    pub fn failure(&self) -> Failure {
        Failure::of(self.class(), self)
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "could not {}: {}", self.tried, self.trouble)?;
        match self.trouble.next() {
            Some(next) => write!(f, "; {next}"),
            None => Ok(()),
        }
    }
}

/// What a library says about it is part of the message, in our words.
impl Error for ApiError {}
