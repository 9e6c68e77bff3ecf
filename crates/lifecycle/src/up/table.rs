//! The table of `up`: sixteen stages, what each comes after, and its gates.

use std::time::Duration;

use engine::{Check, Pace, Scope, Stage};
use events::{ClusterId, Digest, Plan, PlannedNode, Reach, Role};
use spec::plan::Stage as Name;
use spec::plan::Timeouts;

use super::addon_stage;

/// The stages of `up`, in order.
///
/// The bundle takes seconds of computing and is there before any node, while
/// image and network need none of it. What a node does alone is a chain: a slow
/// node holds up only itself. etcd
/// waits for the control planes and not for the workers, because a worker may
/// answer only after the API is up; it is proven at `ready`.
pub const TABLE: &[Stage] = &[
    whole("preflight", &[], &[gate("preflight", Name::Preflight)]),
    whole("secrets", &[("preflight", Reach::All)], &[gate("secrets", Name::Secrets)]),
    whole("image", &[("preflight", Reach::All)], &[gate("image", Name::Image)]),
    whole("network", &[("preflight", Reach::All)], &[gate("network", Name::Network)]),
    each(
        "nodes",
        &[("secrets", Reach::All), ("image", Reach::All), ("network", Reach::All)],
        &[gate("nodes", Name::Nodes)],
    ),
    each("identity", &[("nodes", Reach::Chain)], &[gate("identity", Name::Identity)]),
    each("config", &[("identity", Reach::Chain)], &[gate("config", Name::Config)]),
    whole(
        "etcd",
        &[("config", Reach::ControlPlanes)],
        &[probe("registry", Name::Etcd), gate("etcd", Name::Etcd)],
    ),
    whole("api", &[("etcd", Reach::All)], &[gate("api", Name::Api)]),
    whole("cni", &[("api", Reach::All), ("config", Reach::All)], &[gate("cni", Name::Cni)]),
    whole("cloud", &[("api", Reach::All), ("config", Reach::All)], &[gate("cloud", Name::Cloud)]),
    each(
        "ready",
        &[("cni", Reach::All), ("cloud", Reach::All), ("config", Reach::Chain)],
        &[gate("ready", Name::Ready)],
    ),
    whole(
        "storage",
        &[("ready", Reach::All)],
        &[gate("storage", Name::Storage), probe("storage-probe", Name::Storage)],
    ),
    whole(
        "seal",
        &[("ready", Reach::All)],
        &[gate("seal", Name::Seal), probe("seal-probe", Name::Seal)],
    ),
    whole(
        "gitops",
        &[("storage", Reach::All), ("seal", Reach::All)],
        &[gate("gitops", Name::Gitops), gate(addon_stage::METRICS, Name::Gitops)],
    ),
    whole(
        "proof",
        &[("gitops", Reach::All)],
        &[probe("proof", Name::Proof), stable("stability", Name::Proof)],
    ),
];

/// What a run of `up` needs to know beside the cluster file.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// The digest of the cluster file.
    pub spec: Option<Digest>,
    /// What the cluster costs in a month, in cents of a euro.
    pub monthly_cents: Option<u64>,
    /// How many times faster than real the simulated world runs.
    pub simulated_speed: Option<u32>,
}

/// Makes the plan of a run of `up`.
pub fn plan(cluster: &spec::Plan, id: ClusterId, tool: &str, now: &Circumstances) -> Plan {
    let nodes: Vec<_> = cluster.nodes.iter().map(node).collect();
    let pace = pace(cluster, now.simulated_speed);
    let mut stages =
        engine::planned(TABLE, &nodes, &pace).expect("every deadline is for a gate of ours");
    addon_stage::arrange(cluster, &mut stages);
    for stage in &mut stages {
        let named = |name: &&Name| name.as_str() == stage.name.as_str();
        let left_out =
            Name::all().iter().find(named).and_then(|name| addon_stage::skip(cluster, *name));
        // What the file does not ask for is not needed for the proof.
        stage.checks.iter_mut().for_each(|check| check.required &= left_out.is_none());
    }
    Plan {
        command: "up".to_owned(),
        cluster: cluster.cluster.to_string(),
        cluster_id: id,
        title: title(cluster),
        tool: tool.to_owned(),
        stages,
        nodes,
        spec: now.spec,
        monthly_cents: now.monthly_cents,
        simulated_speed: now.simulated_speed,
        rerun: None,
        stand_ins: stand_ins(cluster, now.simulated_speed),
    }
}

/// Every addon is one of ours in a rehearsal; outside of one there are none.
fn stand_ins(cluster: &spec::Plan, speed: Option<u32>) -> Vec<String> {
    let names = cluster.addons.iter().filter(|_| speed.is_some());
    names.map(|addon| addon.name.to_string()).collect()
}

/// The deadline of a stage holds for each of its checks.
fn pace(cluster: &spec::Plan, speed: Option<u32>) -> Pace {
    let deadlines = Name::all().iter().flat_map(|name| {
        let deadline = Duration::from(cluster.timeouts.get(*name));
        checks_of(*name).map(move |check| (check.to_owned(), deadline))
    });
    let stable = ("stability".to_owned(), Duration::from(cluster.stability_window));
    Pace { deadlines: deadlines.collect(), stable: vec![stable], speed }
}

fn checks_of(name: Name) -> impl Iterator<Item = &'static str> {
    let stage = TABLE.iter().filter(move |stage| stage.name == name.as_str());
    stage.flat_map(|stage| stage.checks).map(|check| check.name)
}

fn title(cluster: &spec::Plan) -> String {
    let count = |role| cluster.nodes.iter().filter(|node| node.role == role).count();
    let (control_planes, workers) = (count(Role::ControlPlane), count(Role::Worker));
    let many =
        |n: usize, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
    format!(
        "{} + {}, Talos {}, Kubernetes {}",
        many(control_planes, "control plane"),
        many(workers, "worker"),
        cluster.talos,
        cluster.kubernetes
    )
}

fn node(node: &spec::plan::NodePlan) -> PlannedNode {
    PlannedNode { name: node.name.as_str().into(), role: node.role }
}

const fn whole(
    name: &'static str,
    after: &'static [(&'static str, Reach)],
    checks: &'static [Check],
) -> Stage {
    Stage { name, after, scope: Scope::Cluster, checks }
}

const fn each(
    name: &'static str,
    after: &'static [(&'static str, Reach)],
    checks: &'static [Check],
) -> Stage {
    Stage { name, after, scope: Scope::EachNode, checks }
}

const fn gate(name: &'static str, stage: Name) -> Check {
    Check::gate(name, seconds(stage.default_timeout()))
}

const fn probe(name: &'static str, stage: Name) -> Check {
    Check::probe(name, seconds(stage.default_timeout()))
}

const fn stable(name: &'static str, stage: Name) -> Check {
    gate(name, stage).stable(seconds(Timeouts::STABILITY_WINDOW))
}

const fn seconds(duration: spec::Duration) -> Duration {
    Duration::from_secs(duration.as_secs() as u64)
}
