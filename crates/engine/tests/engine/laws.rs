//! The laws of the engine, over a table of the shape that real ones have.

use std::time::Duration;

use engine::laws::{Harbour, keep_all};
use engine::{Check, Pace, Scope, Stage, planned};
use events::{ClusterId, Plan, PlannedNode, Reach, Role};

const MINUTES: Duration = Duration::from_mins(10);

/// Chains per node, a barrier of control planes, a slow worker's way around it,
/// and probes at the end.
const TABLE: &[Stage] = &[
    stage("preflight", &[], Scope::Cluster, &[Check::gate("preflight", MINUTES)]),
    stage(
        "network",
        &[("preflight", Reach::All)],
        Scope::Cluster,
        &[Check::gate("network", MINUTES)],
    ),
    stage("nodes", &[("network", Reach::All)], Scope::EachNode, &[Check::gate("nodes", MINUTES)]),
    stage("config", &[("nodes", Reach::Chain)], Scope::EachNode, &[Check::gate("config", MINUTES)]),
    stage("hosts", &[("config", Reach::Chain)], Scope::EachNode, &[]),
    stage(
        "etcd",
        &[("config", Reach::ControlPlanes)],
        Scope::Cluster,
        &[Check::gate("etcd", MINUTES)],
    ),
    stage(
        "ready",
        &[("etcd", Reach::All), ("hosts", Reach::Chain)],
        Scope::EachNode,
        &[Check::gate("ready", MINUTES)],
    ),
    stage(
        "proof",
        &[("ready", Reach::All)],
        Scope::Cluster,
        &[
            Check::gate("proof", MINUTES).stable(Duration::from_mins(2)),
            Check::probe("datapath", MINUTES),
        ],
    ),
];

const fn stage(
    name: &'static str,
    after: &'static [(&'static str, Reach)],
    scope: Scope,
    checks: &'static [Check],
) -> Stage {
    Stage { name, after, scope, checks }
}

fn plan(control_planes: usize, workers: usize) -> Plan {
    let node = |role: Role, name: &str, n: usize| PlannedNode {
        name: format!("demo-{name}-{n}").into(),
        role,
    };
    let mut nodes: Vec<_> =
        (1..=control_planes).map(|n| node(Role::ControlPlane, "cp", n)).collect();
    nodes.extend((1..=workers).map(|n| node(Role::Worker, "worker", n)));
    Plan {
        command: "up".to_owned(),
        cluster: "demo".to_owned(),
        cluster_id: ClusterId::new(0),
        title: format!("{control_planes} + {workers}"),
        tool: "laws".to_owned(),
        stages: planned(TABLE, &nodes, &Pace::default()).unwrap(),
        nodes,
        spec: None,
        monthly_cents: None,
        simulated_speed: None,
        rerun: None,
        stand_ins: Vec::new(),
    }
}

fn keep(control_planes: usize, workers: usize) {
    let folder = tempfile::tempdir().unwrap();
    let kept = keep_all(|| Harbour::calm(plan(control_planes, workers)), folder.path()).unwrap();
    println!("{control_planes}+{workers}: {kept}");
    assert!(kept.records > 20 && kept.effects > 5 && kept.failures > 5, "{kept}");
}

#[test]
fn a_single_node_keeps_the_laws() {
    keep(1, 0);
}

#[test]
fn one_and_two_keep_the_laws() {
    keep(1, 2);
}
