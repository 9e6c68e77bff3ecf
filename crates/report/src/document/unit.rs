//! A unit of the document: what it tried, called and found.

use std::collections::BTreeMap;

use events::{CallClass, CallOutcome, Cause, CheckName, Digest, Failure, NodeName, RunId, Verdict};
use serde::{Deserialize, Serialize};

use crate::{Attempt, CallMade, Check, CheckState, Finding, State, UnitStory};

/// A unit: a stage on one node, or on the cluster as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportUnit {
    /// The node, where its stage works node by node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeName>,
    /// Where it stands.
    pub state: State,
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<u64>,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<u64>,
    /// How it ended, in a line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Its tries, where there was more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<ReportAttempt>,
    /// What its gates and probes said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ReportCheck>,
    /// The mutating calls it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ReportCall>,
}

/// One try of a unit to act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportAttempt {
    /// Its number, from 1.
    pub number: u32,
    /// When it began.
    pub at_ms: u64,
    /// What ended the try before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Failure>,
}

/// What a gate or probe said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportCheck {
    /// Its name.
    pub name: CheckName,
    /// Where it stands.
    pub state: CheckState,
    /// Why it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// The run whose result was taken instead of a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused: Option<RunId>,
    /// Each verdict that differed from the one before, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ReportFinding>,
}

/// A verdict and when it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportFinding {
    /// When.
    pub at_ms: u64,
    /// In which try of the unit.
    pub attempt: u32,
    /// What was found.
    pub verdict: Verdict,
}

/// A mutating call and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportCall {
    /// When it was intended.
    pub at_ms: u64,
    /// How long the answer took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// In which try of the unit.
    pub attempt: u32,
    /// What makes it safe to resume.
    pub class: CallClass,
    /// What it does, such as `create server`.
    pub kind: String,
    /// To what.
    pub name: String,
    /// The digest of the request.
    pub request: Digest,
    /// What came of it.
    pub state: CallState,
    /// The ids of what it made.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ids: BTreeMap<String, String>,
    /// What was answered, where it was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// What a later look found, where the answer was in doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<String>,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallState {
    /// No answer is known.
    Open,
    /// It was done.
    Done,
    /// It was refused, and nothing was changed.
    Refused,
    /// It may have arrived.
    InDoubt,
}

// === impl ReportUnit ===

impl ReportUnit {
    pub(super) fn of(unit: &UnitStory) -> Self {
        let tries = if unit.attempts.len() > 1 { &unit.attempts[..] } else { &[] };
        Self {
            node: unit.unit.node.clone(),
            state: unit.state(),
            from_ms: unit.started.map(|moment| moment.at_ms),
            to_ms: unit.ended.map(|moment| moment.at_ms),
            summary: unit.summary().to_owned(),
            cause: unit.cause().cloned(),
            attempts: tries.iter().map(ReportAttempt::of).collect(),
            checks: unit.checks.iter().map(ReportCheck::of).collect(),
            calls: unit.calls.iter().map(ReportCall::of).collect(),
        }
    }
}

impl ReportAttempt {
    fn of(attempt: &Attempt) -> Self {
        Self { number: attempt.number, at_ms: attempt.moment.at_ms, after: attempt.after.clone() }
    }
}

impl ReportCheck {
    fn of(check: &Check) -> Self {
        Self {
            name: check.name.clone(),
            state: check.state(),
            skipped: check.skipped.clone(),
            reused: check.probing.and_then(|probing| probing.reused),
            findings: check.findings.iter().map(ReportFinding::of).collect(),
        }
    }
}

impl ReportFinding {
    fn of(finding: &Finding) -> Self {
        Self {
            at_ms: finding.moment.at_ms,
            attempt: finding.attempt,
            verdict: finding.verdict.clone(),
        }
    }
}

impl ReportCall {
    fn of(made: &CallMade) -> Self {
        let answer = made.result.as_ref();
        let (state, ids, error) = match answer.map(|(_, outcome)| outcome) {
            None => (CallState::Open, BTreeMap::new(), None),
            Some(CallOutcome::Done { made }) => (CallState::Done, made.ids.clone(), None),
            Some(CallOutcome::Refused { error }) => {
                (CallState::Refused, BTreeMap::new(), Some(error))
            }
            Some(CallOutcome::InDoubt { error }) => {
                (CallState::InDoubt, BTreeMap::new(), Some(error))
            }
        };
        Self {
            at_ms: made.moment.at_ms,
            took_ms: answer.map(|(moment, _)| made.moment.until(moment.at_ms)),
            attempt: made.attempt,
            class: made.call.class,
            kind: made.call.kind.clone(),
            name: made.call.name.clone(),
            request: made.call.request,
            state,
            ids,
            error: error.cloned(),
            settled: made.settled.clone(),
        }
    }
}
