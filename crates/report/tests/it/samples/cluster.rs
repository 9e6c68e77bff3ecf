//! The plan of `up`, as DESIGN has it.

use events::{
    After, CheckKind, ClusterId, NodeName, Plan, PlannedCheck, PlannedNode, PlannedStage, Reach,
    Role,
};

#[derive(Clone, Copy, PartialEq)]
enum Where {
    Cluster,
    AllNodes,
    ControlPlanes,
}

/// Name, place, how much of the stage before has to be over, and checks.
type Row = (&'static str, Where, Reach, &'static [(&'static str, CheckKind)]);

const STAGES: [Row; 16] = {
    use CheckKind::{Gate, Probe};
    use Reach::{All, Chain, ControlPlanes};
    use Where::{AllNodes, Cluster};
    [
        ("preflight", Cluster, All, &[("token", Gate), ("types", Gate)]),
        ("secrets", Cluster, All, &[("bundle", Gate)]),
        ("image", Cluster, All, &[("image", Gate)]),
        ("network", Cluster, All, &[("network", Gate)]),
        ("nodes", AllNodes, All, &[("node-running", Gate)]),
        ("identity", AllNodes, Chain, &[("identity", Gate)]),
        ("config", Where::ControlPlanes, Chain, &[("talos-api", Gate)]),
        ("etcd", Cluster, ControlPlanes, &[("etcd", Gate)]),
        ("api", Cluster, All, &[("api", Gate)]),
        ("cni", AllNodes, All, &[("cilium", Gate)]),
        ("cloud", AllNodes, Chain, &[("cloud", Gate)]),
        ("ready", AllNodes, Chain, &[("node-ready", Gate)]),
        ("storage", AllNodes, All, &[("csi", Gate), ("volume", Probe)]),
        ("seal", Cluster, All, &[("certificate", Gate), ("round-trip", Probe)]),
        ("gitops", Cluster, All, &[("flux", Gate)]),
        ("proof", Cluster, All, &[("datapath", Probe), ("stability", Gate)]),
    ]
};

/// A cluster of that many control planes and workers, in a simulated world.
pub(crate) fn plan(control_planes: usize, workers: usize) -> Plan {
    let nodes = nodes(control_planes, workers);
    let stages = STAGES
        .iter()
        .enumerate()
        .map(|(index, (name, place, reach, checks))| {
            let before = index
                .checked_sub(1)
                .map(|before| After { stage: STAGES[before].0.into(), on: *reach });
            PlannedStage {
                name: (*name).into(),
                after: before.into_iter().chain(joins(name)).collect(),
                nodes: names(&nodes, *place),
                checks: checks.iter().map(|(name, kind)| check(name, *kind)).collect(),
            }
        })
        .collect();
    Plan {
        command: "rehearse".to_owned(),
        cluster: "demo".to_owned(),
        cluster_id: ClusterId::new(7),
        title: format!(
            "{control_planes} control planes + {workers} workers, Talos v1.14.1, Kubernetes v1.36.3"
        ),
        tool: "0.1.0".to_owned(),
        nodes,
        stages,
        spec: None,
        monthly_cents: Some(3_847),
        simulated_speed: Some(30),
        rerun: None,
        stand_ins: vec!["cilium".to_owned(), "hcloud-ccm".to_owned()],
    }
}

/// A node gets its network when it is itself, and not before the API is up.
fn joins(stage: &str) -> Option<After> {
    (stage == "cni").then(|| After { stage: "identity".into(), on: Reach::Chain })
}

/// Sixteen stages that all work node by node: the largest report there is.
pub(crate) fn plan_of_everything(nodes: usize) -> Plan {
    let mut plan = plan(3, nodes - 3);
    let all = names(&plan.nodes, Where::AllNodes);
    for stage in &mut plan.stages {
        stage.nodes.clone_from(&all);
        stage.after.truncate(1);
        stage.after.iter_mut().for_each(|after| after.on = Reach::Chain);
    }
    plan
}

fn nodes(control_planes: usize, workers: usize) -> Vec<PlannedNode> {
    let node = |name: String, role| PlannedNode { name: name.into(), role };
    let control_planes =
        (1..=control_planes).map(|i| node(format!("demo-cp-{i}"), Role::ControlPlane));
    let workers = (1..=workers).map(|i| node(format!("demo-worker-{i}"), Role::Worker));
    control_planes.chain(workers).collect()
}

fn names(nodes: &[PlannedNode], place: Where) -> Option<Vec<NodeName>> {
    let wanted = |node: &&PlannedNode| place == Where::AllNodes || node.role == Role::ControlPlane;
    (place != Where::Cluster)
        .then(|| nodes.iter().filter(wanted).map(|node| node.name.clone()).collect())
}

fn check(name: &str, kind: CheckKind) -> PlannedCheck {
    PlannedCheck {
        name: name.into(),
        kind,
        deadline_ms: 600_000,
        poll_ms: 2_000,
        stable_ms: if name == "stability" { 30_000 } else { 0 },
        fresh_ms: 0,
        required: true,
    }
}
