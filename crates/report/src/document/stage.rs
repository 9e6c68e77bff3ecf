//! A stage of the document.

use events::{CheckKind, CheckName, StageName};
use serde::{Deserialize, Serialize};

use super::ReportUnit;
use crate::{Check, Stage, State};

/// A stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportStage {
    /// Its name.
    pub name: StageName,
    /// Where it stands as a whole.
    pub state: State,
    /// Whether it works node by node.
    pub per_node: bool,
    /// How many units it has.
    pub planned: usize,
    /// How many of its units passed.
    pub passed: usize,
    /// When its first unit started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<u64>,
    /// How long it took, from its first unit's start to its last unit's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// How it ended, in a line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// What proves it, on each unit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ReportedCheck>,
    /// Its units: one per node, or one for the cluster.
    pub units: Vec<ReportUnit>,
}

/// A gate or probe, as it was planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedCheck {
    /// Its name.
    pub name: CheckName,
    /// Whether it reads or writes.
    pub kind: CheckKind,
    /// How long it may take.
    pub deadline_ms: u64,
    /// Whether the run is only proven with it.
    pub required: bool,
}

impl ReportStage {
    pub(super) fn of(stage: &Stage, now_ms: u64) -> Self {
        let span = stage.span(now_ms);
        let checks = stage.units.first().map_or(&[][..], |unit| &unit.checks);
        Self {
            name: stage.name.clone(),
            state: stage.state(),
            per_node: stage.per_node,
            planned: stage.units.len(),
            passed: stage.count(State::Passed),
            from_ms: span.as_ref().map(|span| span.start),
            took_ms: span.map(|span| span.end - span.start),
            summary: stage.summary().to_owned(),
            checks: checks.iter().map(ReportedCheck::of).collect(),
            units: stage.units.iter().map(ReportUnit::of).collect(),
        }
    }
}

impl ReportedCheck {
    fn of(check: &Check) -> Self {
        Self {
            name: check.name.clone(),
            kind: check.kind,
            deadline_ms: check.deadline_ms,
            required: check.required,
        }
    }
}
