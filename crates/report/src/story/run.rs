//! The run itself, as its first event announced it.

use events::{Claim, ClusterId, Digest, Event, Plan, PlannedNode, RunId};
use jiff::Timestamp;

use crate::MicroEuros;
use crate::text::line;

/// What was announced when the run started.
#[derive(Clone, Debug)]
pub struct Run {
    /// The run.
    pub id: RunId,
    /// When it started.
    pub started: Timestamp,
    /// The command, such as `up`.
    pub command: String,
    /// What it may say in the end.
    pub claim: Claim,
    /// The cluster's name.
    pub cluster: String,
    /// The cluster's identity.
    pub cluster_id: ClusterId,
    /// One line about what is wanted.
    pub title: String,
    /// The version of the tool.
    pub tool: String,
    /// The digest of the cluster file.
    pub spec: Option<Digest>,
    /// The nodes, control planes first.
    pub nodes: Vec<PlannedNode>,
    /// What the result costs in a month, in cents of a euro.
    pub monthly_cents: Option<u64>,
    /// How many times faster than real the simulated world runs; none where the world is real.
    pub simulated_speed: Option<u32>,
    /// The addons that stand-ins take the place of; none where the world is real.
    pub stand_ins: Vec<String>,
    /// The command that repeats the run, ready to be pasted.
    pub rerun: String,
    /// The run that this one goes on from.
    pub resumes: Option<RunId>,
}

impl Run {
    pub(crate) fn new(event: &Event, plan: &Plan, resumes: Option<RunId>) -> Self {
        let node = |node: &PlannedNode| PlannedNode {
            name: line(node.name.as_str()).into(),
            role: node.role,
        };
        Self {
            id: event.run,
            started: event.at,
            command: line(&plan.command),
            claim: plan.claim(),
            cluster: line(&plan.cluster),
            cluster_id: plan.cluster_id,
            title: line(&plan.title),
            tool: line(&plan.tool),
            spec: plan.spec,
            nodes: plan.nodes.iter().map(node).collect(),
            monthly_cents: plan.monthly_cents,
            simulated_speed: plan.simulated_speed,
            stand_ins: plan.stand_ins.iter().map(|name| line(name)).collect(),
            rerun: rerun(plan),
            resumes,
        }
    }

    /// Returns how much time passed in the simulated world; none where the world is real.
    pub fn simulated_ms(&self, real_ms: u64) -> Option<u64> {
        self.simulated_speed.map(|speed| real_ms.saturating_mul(u64::from(speed)))
    }

    /// Returns what the planned cluster costs in that time, simulated time where there is one.
    pub fn cost(&self, real_ms: u64) -> Option<MicroEuros> {
        let ms = self.simulated_ms(real_ms).unwrap_or(real_ms);
        self.monthly_cents.map(|monthly| MicroEuros::part_of_month(monthly, ms))
    }
}

/// Journals of earlier versions know the command's name only. A backtick would
/// end the code that pages show it as.
fn rerun(plan: &Plan) -> String {
    let bare = || format!("seaworthy {}", plan.command);
    line(&plan.rerun.clone().unwrap_or_else(bare)).replace('`', "'")
}
