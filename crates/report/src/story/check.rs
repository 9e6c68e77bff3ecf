//! A gate or probe and all that it said.

use events::{CheckKind, CheckName, Digest, Evidence, PlannedCheck, RunId, Verdict};
use serde::{Deserialize, Serialize};

use super::Moment;
use crate::text::line;

/// A gate or probe of one unit, and all that it said.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: CheckName,
    /// Whether it reads or writes.
    pub kind: CheckKind,
    /// How long it may take.
    pub deadline_ms: u64,
    /// Whether the run is only proven with it.
    pub required: bool,
    /// Each verdict that differed from the one before, oldest first.
    pub findings: Vec<Finding>,
    /// The probe's writing, or the earlier result that was taken instead.
    pub probing: Option<Probing>,
    /// Why it was left out.
    pub skipped: Option<String>,
    /// When its unit failed, whether it was ready or not.
    pub given_up: Option<Moment>,
}

/// A verdict and when it was given.
#[derive(Clone, Debug)]
pub struct Finding {
    /// When.
    pub moment: Moment,
    /// In which try of the unit.
    pub attempt: u32,
    /// What was found.
    pub verdict: Verdict,
}

/// A probe that writes, or a fresh result that spares it.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    /// When it began.
    pub moment: Moment,
    /// The digest of all that its result depends on.
    pub inputs: Digest,
    /// The run whose result was taken.
    pub reused: Option<RunId>,
}

/// Where a check stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// It has not looked yet.
    Unseen,
    /// Not so yet.
    Waiting,
    /// What it judges could not be read.
    Unknown,
    /// It is so.
    Ready,
    /// It is not so, and waiting is over.
    Failed,
    /// It was left out.
    Skipped,
}

// === impl Check ===

impl Check {
    pub(crate) fn new(planned: &PlannedCheck) -> Self {
        Self {
            name: line(planned.name.as_str()).into(),
            kind: planned.kind,
            deadline_ms: planned.deadline_ms,
            required: planned.required,
            findings: Vec::new(),
            probing: None,
            skipped: None,
            given_up: None,
        }
    }

    /// Returns where it stands.
    pub fn state(&self) -> CheckState {
        if self.skipped.is_some() {
            return CheckState::Skipped;
        }
        match self.last() {
            None => CheckState::Unseen,
            Some(Verdict::Ready { .. }) => CheckState::Ready,
            Some(Verdict::Failed { .. }) => CheckState::Failed,
            Some(Verdict::Blind { .. }) => CheckState::Unknown,
            Some(Verdict::NotYet { .. }) if self.given_up.is_some() => CheckState::Failed,
            Some(Verdict::NotYet { .. }) => CheckState::Waiting,
        }
    }

    /// Returns what it said last.
    pub fn last(&self) -> Option<&Verdict> {
        self.findings.last().map(|finding| &finding.verdict)
    }

    /// Returns the last evidence it gave.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.findings.iter().rev().find_map(|finding| finding.verdict.evidence())
    }

    /// Returns the milliseconds from its first verdict to its last, or to the
    /// end of the wait where that was in vain.
    pub fn looked_ms(&self) -> u64 {
        let (Some(first), Some(last)) = (self.findings.first(), self.findings.last()) else {
            return 0;
        };
        let vain = self.given_up.filter(|_| !matches!(last.verdict, Verdict::Ready { .. }));
        first.moment.until(vain.unwrap_or(last.moment).at_ms)
    }

    /// Returns the last thing it said before it was over, where that was not yet ready.
    pub fn last_answer(&self) -> Option<String> {
        self.findings
            .iter()
            .rev()
            .find(|finding| {
                matches!(finding.verdict, Verdict::NotYet { .. } | Verdict::Blind { .. })
            })
            .map(|finding| finding.verdict.to_string())
    }
}

// === impl CheckState ===

impl CheckState {
    /// Returns the word that people read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unseen => "unseen",
            Self::Waiting => "waiting",
            Self::Unknown => "unknown",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}
