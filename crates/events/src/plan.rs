//! The announced plan: every unit of a run and what it waits for, before the
//! first one starts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{CheckName, ClusterId, Digest, NodeName, StageName, Unit};

/// What a run is about to do, announced whole in its first event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The command, such as `up`.
    pub command: String,
    /// The cluster's name.
    pub cluster: String,
    /// The cluster's identity.
    pub cluster_id: ClusterId,
    /// One line about what is wanted, such as `3 control planes + 2 workers, Talos v1.14.1`.
    pub title: String,
    /// The version of the tool.
    pub tool: String,
    /// The nodes, control planes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<PlannedNode>,
    /// The stages, in the order of the table.
    pub stages: Vec<PlannedStage>,
    /// The digest of the cluster file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Digest>,
    /// What the result costs in a month, in cents of a euro.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly_cents: Option<u64>,
    /// How many times faster than real the simulated world runs; none where the world is real.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_speed: Option<u32>,
    /// The whole command that repeats the run, with all that names its cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun: Option<String>,
    /// The addons that stand-ins of ours take the place of, where the world is simulated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stand_ins: Vec<String>,
}

/// A node of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedNode {
    /// Its name.
    pub name: NodeName,
    /// What it is for.
    pub role: Role,
}

/// What a node is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Runs etcd and the API.
    ControlPlane,
    /// Runs workloads.
    Worker,
}

/// A stage of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStage {
    /// Its name.
    pub name: StageName,
    /// What must have passed before it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<After>,
    /// The nodes it works on, one unit each; none: one unit for the whole cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<NodeName>>,
    /// What proves that it worked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<PlannedCheck>,
}

/// A stage that has to pass first, and on which nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// The stage.
    pub stage: StageName,
    /// On which nodes it has to have passed.
    pub on: Reach,
}

/// Which units of an earlier stage count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// The same node's: a chain per node, no barrier between nodes. For a unit
    /// of the whole cluster this is the same as `All`.
    Chain,
    /// Those of the control planes.
    ControlPlanes,
    /// All of them: a barrier.
    All,
}

/// A gate or probe of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCheck {
    /// Its name.
    pub name: CheckName,
    /// Whether it reads or writes.
    pub kind: CheckKind,
    /// How long to wait for it.
    pub deadline_ms: u64,
    /// How long to pause between two looks, where nothing wakes the wait earlier.
    pub poll_ms: u64,
    /// How long it must stay ready before it counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stable_ms: u64,
    /// How long a probe's result may be taken again, where its inputs are the same.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fresh_ms: u64,
    /// Whether the run is only proven with it.
    pub required: bool,
}

/// Whether a check reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// Only reads; looked at again and again until it is ready.
    Gate,
    /// Writes something of its own, and cleans it up.
    Probe,
}

/// What a run may say of its cluster once everything that it requires was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Everything was ready, and stayed ready for a window of time.
    Proven,
    /// Everything was ready at the moment when it was looked at.
    Healthy,
    /// Nothing of the cluster is left.
    Removed,
}

/// A plan that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPlan {
    /// Two stages have the same name.
    #[error("stage `{0}` is planned twice")]
    StageTwice(StageName),
    /// A stage waits for one that is not before it in the table, which also rules out circles.
    #[error("stage `{stage}` comes after `{after}`, which is not planned before it")]
    AfterUnplanned {
        /// The stage.
        stage: StageName,
        /// What it waits for.
        after: StageName,
    },
    /// A stage names a node that the plan does not have, or twice.
    #[error("stage `{stage}` names node `{node}`, which is not planned, or names it twice")]
    BadNode {
        /// The stage.
        stage: StageName,
        /// The node.
        node: NodeName,
    },
    /// Two nodes have the same name.
    #[error("node `{0}` is planned twice")]
    NodeTwice(NodeName),
    /// Two checks of a stage have the same name.
    #[error("stage `{stage}` has two checks named `{check}`")]
    CheckTwice {
        /// The stage.
        stage: StageName,
        /// The check.
        check: CheckName,
    },
}

// === impl Plan ===

impl Plan {
    /// The command after whose proof nothing of the cluster is left.
    pub const TEARDOWN: &'static str = "down";

    /// The same in a rehearsed world, where it is asked for in another way.
    pub const REHEARSED_TEARDOWN: &'static str = "rehearse --down";

    /// Returns whether nothing of the cluster is left after the proof of a command.
    pub fn tears_down(command: &str) -> bool {
        [Self::TEARDOWN, Self::REHEARSED_TEARDOWN].contains(&command)
    }

    /// Returns what the run may say in the end: what was looked at once is not proven.
    pub fn claim(&self) -> Claim {
        let stays = |check: &PlannedCheck| check.stable_ms > 0;
        if Self::tears_down(&self.command) {
            Claim::Removed
        } else if self.stages.iter().flat_map(|stage| &stage.checks).any(stays) {
            Claim::Proven
        } else {
            Claim::Healthy
        }
    }

    /// Returns the stage of that name.
    pub fn stage(&self, name: &StageName) -> Option<&PlannedStage> {
        self.stages.iter().find(|stage| stage.name == *name)
    }

    /// Returns the role of the node of that name.
    pub fn role(&self, name: &NodeName) -> Option<Role> {
        self.nodes.iter().find(|node| node.name == *name).map(|node| node.role)
    }

    /// Returns every unit, in the order of the table.
    pub fn units(&self) -> impl Iterator<Item = Unit> + '_ {
        self.stages.iter().flat_map(PlannedStage::units)
    }

    /// Returns the units that must have passed, or been skipped, before `unit` starts.
    pub fn prerequisites(&self, unit: &Unit) -> Vec<Unit> {
        let Some(stage) = self.stage(&unit.stage) else {
            return Vec::new();
        };
        let mut reached = Vec::new();
        for after in &stage.after {
            let units = self.reached(after, unit);
            match self.stage(&after.stage) {
                // Nobody is there to wait for: wait for what they would wait for.
                Some(earlier) if units.is_empty() => {
                    reached.extend(self.prerequisites(&Unit {
                        stage: earlier.name.clone(),
                        node: unit.node.clone(),
                    }));
                }
                _ => reached.extend(units),
            }
        }
        reached.sort_unstable();
        reached.dedup();
        reached
    }

    fn reached(&self, after: &After, unit: &Unit) -> Vec<Unit> {
        let Some(earlier) = self.stage(&after.stage) else {
            return Vec::new();
        };
        let Some(nodes) = &earlier.nodes else {
            return earlier.units();
        };
        let on = |node: &NodeName| Unit::on(earlier.name.clone(), node.clone());
        match (after.on, &unit.node) {
            (Reach::Chain, Some(own)) => nodes.iter().filter(|node| *node == own).map(on).collect(),
            (Reach::Chain, None) | (Reach::All, _) => nodes.iter().map(on).collect(),
            (Reach::ControlPlanes, _) => {
                self.control_planes().filter(|node| nodes.contains(node)).map(on).collect()
            }
        }
    }

    fn control_planes(&self) -> impl Iterator<Item = &NodeName> {
        let control_plane = |node: &&PlannedNode| node.role == Role::ControlPlane;
        self.nodes.iter().filter(control_plane).map(|node| &node.name)
    }

    /// Checks that the plan can be run: names are unique, and a stage only
    /// waits for stages before it, so that there is no circle.
    pub fn check(&self) -> Result<(), InvalidPlan> {
        let mut nodes = BTreeSet::new();
        for node in &self.nodes {
            if !nodes.insert(&node.name) {
                return Err(InvalidPlan::NodeTwice(node.name.clone()));
            }
        }
        let mut before = BTreeSet::new();
        for stage in &self.stages {
            stage.check(&nodes, &before)?;
            if !before.insert(&stage.name) {
                return Err(InvalidPlan::StageTwice(stage.name.clone()));
            }
        }
        Ok(())
    }
}

// === impl PlannedStage ===

impl PlannedStage {
    /// Returns the units of this stage: one per node, or one for the cluster.
    pub fn units(&self) -> Vec<Unit> {
        match &self.nodes {
            None => vec![Unit::whole(self.name.clone())],
            Some(nodes) => {
                nodes.iter().map(|node| Unit::on(self.name.clone(), node.clone())).collect()
            }
        }
    }

    /// Returns whether the run is only proven with a check, or, where none is
    /// named, with any check of this stage.
    pub fn is_required(&self, check: Option<&CheckName>) -> bool {
        let counts = |planned: &&PlannedCheck| check.is_none_or(|name| planned.name == *name);
        self.checks.iter().filter(counts).any(|planned| planned.required)
    }

    /// Returns the check of that name.
    pub fn check_named(&self, name: &CheckName) -> Option<&PlannedCheck> {
        self.checks.iter().find(|check| check.name == *name)
    }

    fn check(
        &self,
        planned_nodes: &BTreeSet<&NodeName>,
        before: &BTreeSet<&StageName>,
    ) -> Result<(), InvalidPlan> {
        let stage = self.name.clone();
        if let Some(after) = self.after.iter().find(|after| !before.contains(&after.stage)) {
            return Err(InvalidPlan::AfterUnplanned { stage, after: after.stage.clone() });
        }
        let mut seen = BTreeSet::new();
        for node in self.nodes.iter().flatten() {
            if !planned_nodes.contains(node) || !seen.insert(node) {
                return Err(InvalidPlan::BadNode { stage, node: node.clone() });
            }
        }
        let mut names = BTreeSet::new();
        match self.checks.iter().find(|check| !names.insert(&check.name)) {
            Some(check) => Err(InvalidPlan::CheckTwice { stage, check: check.name.clone() }),
            None => Ok(()),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
