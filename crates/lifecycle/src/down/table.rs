//! The table of `down`.

use std::time::Duration;

use engine::{Check, Pace, Scope, Stage};
use events::{ClusterId, Plan, Reach};

/// The stages of `down`, in order: what others hang on goes last.
pub const TABLE: &[Stage] = &[
    stage("inventory", &[], &[Check::gate("inventory", Duration::from_mins(2))]),
    stage(
        "machines",
        &[("inventory", Reach::All)],
        &[Check::gate("machines", Duration::from_mins(10))],
    ),
    stage("rest", &[("machines", Reach::All)], &[Check::gate("rest", Duration::from_mins(10))]),
    stage("zero", &[("rest", Reach::All)], &[Check::gate("zero", Duration::from_mins(5))]),
];

pub(super) const fn stage(
    name: &'static str,
    after: &'static [(&'static str, Reach)],
    checks: &'static [Check],
) -> Stage {
    Stage { name, after, scope: Scope::Cluster, checks }
}

/// Makes the plan of a run of `down`.
pub fn plan(cluster: &str, id: ClusterId, tool: &str, speed: Option<u32>) -> Plan {
    let pace = Pace { speed, ..Pace::default() };
    Plan {
        command: Plan::TEARDOWN.to_owned(),
        cluster: cluster.to_owned(),
        cluster_id: id,
        title: "everything that carries the cluster's id".to_owned(),
        tool: tool.to_owned(),
        stages: engine::planned(TABLE, &[], &pace).expect("no deadline was given"),
        nodes: Vec::new(),
        spec: None,
        monthly_cents: None,
        simulated_speed: speed,
        rerun: None,
        stand_ins: Vec::new(),
    }
}
