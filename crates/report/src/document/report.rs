//! The document as a whole.

use std::collections::BTreeMap;

use events::{Cause, ClusterId, Digest, PlannedNode, RunId, Unit};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ReportStage, SCHEMA};
use crate::{FirstCause, MicroEuros, Outcome, Run, Story, Tally, Warning};

/// A run, for machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The schema of the document.
    pub schema: String,
    /// How the run ended.
    pub outcome: Outcome,
    /// What was required and not seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What failed first, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_cause: Option<ReportCause>,
    /// The run; none where not even its first event is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<ReportRun>,
    /// How long it took.
    pub elapsed_ms: u64,
    /// How much time passed in the simulated world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_ms: Option<u64>,
    /// What the planned cluster costs in that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micro_euros: Option<MicroEuros>,
    /// How many of each there are.
    pub tally: Tally,
    /// The stages, in the order of the table.
    pub stages: Vec<ReportStage>,
    /// The warnings, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<ReportWarning>,
    /// Choices that later runs keep.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pins: BTreeMap<String, String>,
    /// How often each secret was kept from the disk.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hidden: BTreeMap<String, u64>,
}

/// What was announced when the run started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportRun {
    /// The run.
    pub id: RunId,
    /// When it started.
    pub started: Timestamp,
    /// The command, such as `up`.
    pub command: String,
    /// The cluster's name.
    pub cluster: String,
    /// The cluster's identity.
    pub cluster_id: ClusterId,
    /// One line about what is wanted.
    pub title: String,
    /// The version of the tool.
    pub tool: String,
    /// The digest of the cluster file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Digest>,
    /// The nodes, control planes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<PlannedNode>,
    /// What the result costs in a month, in cents of a euro.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly_cents: Option<u64>,
    /// How many times faster than real the simulated world runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_speed: Option<u32>,
    /// The addons that stand-ins take the place of, in a rehearsal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stand_ins: Vec<String>,
    /// The run that this one goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<RunId>,
}

/// What failed first, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportCause {
    /// The unit that failed.
    pub unit: Unit,
    /// Where it was found out, for people.
    pub place: String,
    /// Why it failed.
    #[serde(flatten)]
    pub cause: Cause,
}

/// Something that people should know and that stopped nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportWarning {
    /// When.
    pub at_ms: u64,
    /// The unit it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// What they should know.
    pub message: String,
}

// === impl Report ===

impl Report {
    /// Returns the document of a story.
    pub fn of(story: &Story) -> Self {
        let pins = story.pins().iter();
        Self {
            schema: SCHEMA.to_owned(),
            outcome: story.outcome(),
            missing: story.missing().to_vec(),
            first_cause: story.first_cause().map(|first| ReportCause::of(&first)),
            run: story.run().map(ReportRun::of),
            elapsed_ms: story.elapsed_ms(),
            simulated_ms: story.simulated_ms(),
            cost_micro_euros: story.cost(),
            tally: story.tally(),
            stages: story
                .stages()
                .iter()
                .map(|stage| ReportStage::of(stage, story.elapsed_ms()))
                .collect(),
            warnings: story.warnings().iter().map(ReportWarning::of).collect(),
            pins: pins.map(|pin| (pin.key.clone(), pin.value.clone())).collect(),
            hidden: story.hidden().clone(),
        }
    }
}

impl ReportRun {
    fn of(run: &Run) -> Self {
        Self {
            id: run.id,
            started: run.started,
            command: run.command.clone(),
            cluster: run.cluster.clone(),
            cluster_id: run.cluster_id,
            title: run.title.clone(),
            tool: run.tool.clone(),
            spec: run.spec,
            nodes: run.nodes.clone(),
            monthly_cents: run.monthly_cents,
            simulated_speed: run.simulated_speed,
            stand_ins: run.stand_ins.clone(),
            resumes: run.resumes,
        }
    }
}

impl ReportCause {
    fn of(first: &FirstCause<'_>) -> Self {
        Self { unit: first.unit.clone(), place: first.place(), cause: first.cause.clone() }
    }
}

impl ReportWarning {
    fn of(warning: &Warning) -> Self {
        Self {
            at_ms: warning.moment.at_ms,
            unit: warning.unit.clone(),
            message: warning.message.clone(),
        }
    }
}
