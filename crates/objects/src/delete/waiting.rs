//! What is known of a deletion that is not over.

use std::time::Duration;

use events::{Because, NextStep};

use super::{Doomed, Impatience, Leftover, Remains};
use crate::LookErrors;

/// What is known of a deletion that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which deletion.
    pub doomed: Doomed,
    /// How long it takes so far.
    pub waited: Duration,
    /// For how long nothing has changed.
    pub quiet: Duration,
    /// What was left at the last look that did not fail.
    pub remains: Option<Remains>,
    /// What has happened on the way, the first first.
    pub milestones: Vec<Milestone>,
    /// What is left in a namespace, where it was looked for.
    pub content: Vec<Leftover>,
    /// Looks and requests that failed.
    pub errors: LookErrors,
    /// Why it is not waited for any longer; none while it is.
    pub ended: Option<Impatience>,
}

/// Something that has happened on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Milestone {
    /// When, from the beginning.
    pub at: Duration,
    /// What.
    pub what: String,
}

// === impl Waiting ===

impl Waiting {
    /// Returns what is waited for, and what lies behind it.
    pub fn because(&self) -> Because {
        let seen = match (&self.remains, &self.errors.last) {
            (Some(remains), _) => remains.says(),
            (None, Some(error)) => error.to_string(),
            (None, None) => "not seen yet".to_owned(),
        };
        let what = match self.quiet.as_secs() {
            0 => format!("{}: {seen}", self.doomed.id),
            quiet => format!("{}: {seen}, no change for {quiet} s", self.doomed.id),
        };
        let details = self.remains.iter().flat_map(Remains::details);
        let content = self.content.iter().map(ToString::to_string);
        let chain = details.chain(content).chain(self.errors.line());
        chain.fold(Because::new(what), Because::caused_by)
    }

    /// Returns the story so far, a line for each milestone.
    pub fn story(&self) -> Vec<String> {
        let lines = self.milestones.iter();
        lines.map(|one| format!("{:.1} s: {}", one.at.as_secs_f64(), one.what)).collect()
    }

    /// Returns the command that shows the object.
    pub fn next(&self) -> NextStep {
        let id = &self.doomed.id;
        let inside = id.namespace.iter().map(|namespace| format!(" -n {namespace}"));
        let inside: String = inside.collect();
        let command = format!("kubectl{inside} get {}/{} -o yaml", id.kind, id.name);
        NextStep { command, tells: "shows its finalizers and conditions".to_owned() }
    }
}
