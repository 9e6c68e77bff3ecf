//! How many nodes there can be.

use super::Rule;
use crate::cluster::{Cloud, CloudKind, Cluster, Machines, NodeGroup};
use crate::read::{Problem, Problems, Span, Spanned, nearest};
use crate::scalar::{PoolName, Taint, TaintEffect};

/// etcd grows slower with every member, and nine survive the loss of four.
const MOST_CONTROL_PLANES: u32 = 9;

/// The most nodes that Kubernetes itself is made for.
pub(super) const MOST_NODES: u32 = 5000;

/// The most servers in one of Hetzner's networks.
const MOST_IN_NETWORK: u32 = 100;

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    let is_known = cluster.counts_were_read();
    if is_known || cluster.control_plane.count.is_some() {
        check_quorum(cluster, problems);
    }
    if !is_known {
        return;
    }
    check_total(cluster, problems);
    check_somewhere_to_schedule(cluster, problems);
    match &cluster.cloud {
        Cloud::Machines(machines) => check_machines(cluster, machines, problems),
        Cloud::Hetzner(_) | Cloud::Proxmox(_) => check_pool_counts(cluster, problems),
    }
}

fn check_quorum(cluster: &Cluster, problems: &Problems) {
    let count = cluster.control_plane_count();
    let at = cluster
        .control_plane
        .count
        .as_ref()
        .map_or(cluster.control_plane.group.at, |count| count.span);
    if count > MOST_CONTROL_PLANES {
        problems.push(
            Problem::error(
                Rule::TooManyControlPlanes,
                at,
                format!("{count} control planes are too many"),
            )
            .label(format!("use at most {MOST_CONTROL_PLANES}"))
            .note("every write waits for a majority of them; more nodes go into pools"),
        );
    } else if count == 0 {
        problems.push(
            Problem::error(Rule::Quorum, cluster.cloud.at(), "no machine is a control plane")
                .label("give one of its nodes `pool: control-plane`"),
        );
    } else if count == 1 {
        problems.push(
            Problem::warning(
                Rule::SingleControlPlane,
                at,
                "one control plane is not highly available",
            )
            .label("use 3 to survive the loss of one"),
        );
    } else if count.is_multiple_of(2) {
        let note = match count {
            2 => "with 2 members etcd stops when either one does".to_owned(),
            _ => format!("with {count} members etcd survives as many losses as with {}", count - 1),
        };
        problems.push(
            Problem::error(Rule::Quorum, at, quorum_message(count))
                .label(format!("use {} or {}", count - 1, count + 1))
                .note(note),
        );
    }
}

fn quorum_message(count: u32) -> String {
    match count {
        2 => "2 control planes cannot keep a quorum".to_owned(),
        _ => format!("an even number of control planes, {count}, gains nothing"),
    }
}

fn check_total(cluster: &Cluster, problems: &Problems) {
    let total = cluster.node_count();
    let (most, limit) = match cluster.cloud.kind() {
        CloudKind::Hetzner => (
            MOST_IN_NETWORK,
            format!(
                "Hetzner allows {MOST_IN_NETWORK} servers in a network, control planes included"
            ),
        ),
        CloudKind::Proxmox | CloudKind::Machines => {
            (MOST_NODES, format!("Kubernetes is made for {MOST_NODES} nodes at most"))
        }
    };
    if total > most {
        let largest = cluster.pools.iter().max_by_key(|pool| cluster.pool_count(pool));
        let count = largest.and_then(|pool| pool.count.as_ref());
        let at = count.map_or(cluster.cloud.at(), |count| count.span);
        let message = format!("{total} nodes are too many for one cluster");
        problems.push(Problem::error(Rule::TooManyNodes, at, message).label(limit));
    }
}

fn check_somewhere_to_schedule(cluster: &Cluster, problems: &Problems) {
    let control_plane = &cluster.control_plane;
    let workers = || cluster.pools.iter().filter(|pool| cluster.pool_count(pool) > 0);
    let schedulable = control_plane.schedulable.as_ref();
    let on_control_planes = schedulable.map_or(workers().next().is_none(), |it| it.value);
    let repelling: Vec<&Spanned<Taint>> =
        workers().filter_map(|pool| repelling_taint(&pool.group)).collect();
    if repelling.len() < workers().count() {
        return;
    }
    let problem = match (repelling.as_slice(), schedulable, repelling_taint(&control_plane.group)) {
        (_, _, None) if on_control_planes => return,
        ([taint, ..], _, None) => nowhere(taint.span)
            .label("every pool keeps them off")
            .help("leave a pool without such a taint, or set `controlPlane.schedulable: true`"),
        ([], Some(schedulable), None) => {
            nowhere(schedulable.span).label("use `true`, or add a pool")
        }
        (_, _, Some(taint)) => nowhere(taint.span)
            .label("it keeps them off the control planes, and no worker takes them")
            .help("add a pool without such a taint"),
        ([], None, None) => return,
    };
    problems.push(problem.note(
        "Talos' CoreDNS runs on control planes all the same; your own pods and most addons, \
         such as metrics-server, do not",
    ));
}

fn nowhere(at: Span) -> Problem {
    Problem::error(Rule::NowhereToSchedule, at, "no node would take ordinary pods")
}

/// A taint that ordinary pods do not tolerate.
fn repelling_taint(group: &NodeGroup) -> Option<&Spanned<Taint>> {
    group.taints.iter().find(|taint| taint.effect != TaintEffect::PreferNoSchedule)
}

fn check_pool_counts(cluster: &Cluster, problems: &Problems) {
    for pool in cluster.pools.iter().filter(|pool| pool.count.is_none()) {
        problems.push(
            Problem::error(
                Rule::MissingKey,
                pool.name.span,
                format!("missing key `count` in pool `{}`", pool.name.value),
            )
            .label("say how many nodes it has"),
        );
    }
}

fn check_machines(cluster: &Cluster, machines: &Machines, problems: &Problems) {
    if let Some(count) = &cluster.control_plane.count {
        check_listed(
            count.get(),
            machines.control_planes(),
            "control planes",
            count.span,
            problems,
        );
    }
    for pool in &cluster.pools {
        if let Some(count) = &pool.count {
            let what = format!("machines of pool `{}`", pool.name.value);
            check_listed(count.get(), machines.in_pool(&pool.name), &what, count.span, problems);
        }
    }
    for machine in &machines.nodes {
        check_known_pool(cluster, &machine.pool.value, machine.pool.span, problems);
    }
}

fn check_listed(asked: u32, listed: u32, what: &str, at: Span, problems: &Problems) {
    if asked != listed {
        problems.push(
            Problem::error(
                Rule::CountMismatch,
                at,
                format!("{asked} {what} are asked for, the list has {listed}"),
            )
            .label(format!("use {listed}, or remove the key"))
            .note("with `machines` the list decides"),
        );
    }
}

fn check_known_pool(cluster: &Cluster, pool: &PoolName, at: Span, problems: &Problems) {
    let names = || {
        cluster
            .pools
            .iter()
            .map(|pool| pool.name.as_str())
            .chain([crate::cluster::CONTROL_PLANE_POOL])
    };
    if names().any(|name| name == pool.as_str()) {
        return;
    }
    problems.push(unknown_pool(pool.as_str(), at, names()));
}

/// A pool that nobody described.
pub(super) fn unknown_pool<'a>(
    pool: &str,
    at: Span,
    known: impl Iterator<Item = &'a str>,
) -> Problem {
    let known: Vec<&str> = known.collect();
    let label = match nearest(pool, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("expected {}", crate::scalar::one_of(&known)),
    };
    Problem::error(Rule::UnknownPool, at, format!("unknown pool `{pool}`")).label(label)
}
