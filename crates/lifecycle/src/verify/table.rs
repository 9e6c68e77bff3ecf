//! The table of `verify`: gates without acts, none after another. What a run does not
//! look at stands in its plan, too, so that its reports can list it.

use std::time::Duration;

use engine::{Check, Pace, Scope, Stage};
use events::{ClusterId, Plan};

use super::{Acquaintance, Selection};

/// The gate that asks the machines, which takes credentials for Talos.
pub const MACHINES: &str = "machines";

/// The check that asks the members of etcd, which takes the same.
pub(super) const ETCD_MEMBERS: &str = "etcd-members";

/// The gates, in the order in which they are told. Where nobody waits, each
/// looks once.
pub const TABLE: &[Stage] = &[
    stage("api", &[Check::gate("api", Duration::ZERO)]),
    stage(
        "etcd",
        &[Check::gate("etcd", Duration::ZERO), Check::gate(ETCD_MEMBERS, Duration::ZERO)],
    ),
    stage(MACHINES, &[Check::gate(MACHINES, Duration::ZERO)]),
    stage("nodes", &[Check::gate("nodes", Duration::ZERO)]),
    stage("cni", &[Check::gate("cni", Duration::ZERO)]),
    stage("workloads", &[Check::gate("workloads", Duration::ZERO)]),
    stage("dns", &[Check::gate("dns", Duration::ZERO)]),
];

/// What a run of `verify` needs to know.
#[derive(Clone, Debug)]
pub struct Circumstances<'a> {
    /// The address of the API, which is what a cluster of others is called by.
    pub server: &'a str,
    /// The identity of the state folder.
    pub id: ClusterId,
    /// The version of the tool.
    pub tool: &'a str,
    /// How long to wait for each gate.
    pub wait: Duration,
    /// How long each gate must stay ready; with zero one look is enough.
    pub stable: Duration,
    /// What is looked at.
    pub selection: &'a Selection,
}

const fn stage(name: &'static str, checks: &'static [Check]) -> Stage {
    Stage { name, after: &[], scope: Scope::Cluster, checks }
}

/// Returns the names of the gates.
pub fn gates() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|stage| stage.name)
}

/// Makes the plan of a run of `verify`.
pub fn plan(met: &Acquaintance, now: &Circumstances<'_>) -> Plan {
    let checks = || TABLE.iter().flat_map(|stage| stage.checks).map(|check| check.name.to_owned());
    let pace = Pace {
        deadlines: checks().map(|check| (check, now.wait)).collect(),
        stable: checks().map(|check| (check, now.stable)).collect(),
        speed: None,
    };
    let mut stages =
        engine::planned(TABLE, &[], &pace).expect("every deadline is for a gate of ours");
    for stage in &mut stages {
        for check in &mut stage.checks {
            check.required = now.selection.left_out(stage.name.as_str(), &check.name).is_none();
        }
    }
    Plan {
        command: "verify".to_owned(),
        cluster: now.server.to_owned(),
        cluster_id: now.id,
        title: met.title(),
        tool: now.tool.to_owned(),
        stages,
        nodes: Vec::new(),
        spec: None,
        monthly_cents: None,
        simulated_speed: None,
        rerun: None,
        stand_ins: Vec::new(),
    }
}
