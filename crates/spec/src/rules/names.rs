//! Names that would clash or be too long.

use super::Rule;
use crate::cluster::{Cloud, Cluster, NodeGroup, Pool};
use crate::plan::LabelSet;
use crate::read::{Problem, Problems, Spanned};
use crate::scalar::{LabelKey, LabelValue};

/// A host name has 63 characters; a dash and a number follow cluster and pool.
const LONGEST_TOGETHER: usize = 56;

/// Names that our own resources have, or that mean several pools.
const RESERVED: [&str; 7] =
    ["cp", "control-plane", "controlplane", "api", "lb", "all", "all-workers"];

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    for (index, pool) in cluster.pools.iter().enumerate() {
        check_pool(cluster, pool, &cluster.pools[..index], problems);
    }
    for (index, manifest) in cluster.manifests.iter().enumerate() {
        let before =
            cluster.manifests[..index].iter().find(|other| other.name.value == manifest.name.value);
        if let Some(first) = before {
            problems.push(duplicate(
                "manifests",
                manifest.name.as_str(),
                manifest.name.span,
                first.name.span,
            ));
        }
    }
    if let Cloud::Machines(machines) = &cluster.cloud {
        for (index, machine) in machines.nodes.iter().enumerate() {
            let before =
                machines.nodes[..index].iter().find(|other| other.name.value == machine.name.value);
            if let Some(first) = before {
                problems.push(duplicate(
                    "machines",
                    machine.name.as_str(),
                    machine.name.span,
                    first.name.span,
                ));
            }
        }
    }
    check_own_labels(&cluster.labels, problems);
    let groups = cluster.pools.iter().map(|pool| &pool.group);
    for group in groups.chain([&cluster.control_plane.group]) {
        check_node_labels(group, problems);
        check_taints(group, problems);
    }
}

fn check_pool(cluster: &Cluster, pool: &Pool, before: &[Pool], problems: &Problems) {
    let name = pool.name.as_str();
    if let Some(first) = before.iter().find(|other| other.name.value == pool.name.value) {
        problems.push(duplicate("pools", name, pool.name.span, first.name.span));
    }
    if RESERVED.contains(&name) {
        problems.push(
            Problem::error(
                Rule::ReservedName,
                pool.name.span,
                format!("a pool cannot be called `{name}`"),
            )
            .label("this name means something else already"),
        );
    }
    let together = cluster.name.as_str().len() + name.len();
    if together > LONGEST_TOGETHER {
        problems.push(
            Problem::error(Rule::NameTooLong, pool.name.span, "the nodes' names would be too long")
                .label(format!(
                    "at most {} characters fit here",
                    LONGEST_TOGETHER.saturating_sub(cluster.name.as_str().len())
                ))
                .related(
                    cluster.name.span,
                    format!("these are {} characters", cluster.name.as_str().len()),
                )
                .note("a host name has at most 63 characters; cluster, pool and number share them"),
        );
    }
}

pub(super) fn duplicate(
    what: &str,
    name: &str,
    span: crate::read::Span,
    first: crate::read::Span,
) -> Problem {
    Problem::error(Rule::DuplicateName, span, format!("two {what} are called `{name}`"))
        .label("choose another name")
        .related(first, "the first one")
}

fn check_own_labels(labels: &[(Spanned<LabelKey>, Spanned<LabelValue>)], problems: &Problems) {
    for (key, _) in labels {
        if key.prefix() == Some(LabelSet::PREFIX) {
            problems.push(
                Problem::error(
                    Rule::ReservedLabel,
                    key.span,
                    format!("the label `{}` is seaworthy's own", key.value),
                )
                .label("choose another prefix")
                .note("its labels say what may be deleted"),
            );
        }
    }
}

/// The kubelet may not give itself these; it would not join.
fn check_node_labels(group: &NodeGroup, problems: &Problems) {
    const ALLOWED: [&str; 2] = ["node.kubernetes.io", "kubelet.kubernetes.io"];
    for (key, _) in &group.labels {
        let Some(prefix) = key.prefix() else { continue };
        let is_theirs = ["kubernetes.io", "k8s.io"]
            .iter()
            .any(|domain| prefix == *domain || prefix.ends_with(&format!(".{domain}")));
        let is_allowed = ALLOWED
            .iter()
            .any(|domain| prefix == *domain || prefix.ends_with(&format!(".{domain}")))
            || key.as_str().starts_with("topology.kubernetes.io/");
        if is_theirs && !is_allowed {
            problems.push(
                Problem::error(Rule::ReservedLabel, key.span, format!("a node cannot give itself the label `{}`", key.value))
                    .label("use a prefix of your own, or `node.kubernetes.io/`")
                    .note("the API server refuses a kubelet that sets labels under kubernetes.io or k8s.io"),
            );
        }
    }
}

/// Kubernetes takes several with different effects; a machine config has one for a key.
fn check_taints(group: &NodeGroup, problems: &Problems) {
    for (index, taint) in group.taints.iter().enumerate() {
        let key = &taint.value.key;
        let before = group.taints[..index].iter().find(|other| other.value.key == *key);
        if let Some(first) = before {
            let what = format!("two taints have the key `{key}`");
            problems.push(
                Problem::error(Rule::DuplicateName, taint.span, what)
                    .label("Talos keeps one for each key")
                    .related(first.span, "the first one"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Colour, read};

    #[test]
    fn two_taints_of_one_key_are_not_silently_one() {
        let base = include_str!("../../tests/bases/everything.yaml");
        let taints = "[a=b:NoSchedule, c=d:NoSchedule, a=b:NoExecute]";
        let file = base.replace("[\"dedicated=brain:NoSchedule\"]", taints);
        assert_ne!(file, base);
        let said = read("cluster.yaml", file.as_bytes()).render(Colour::Plain);
        assert!(said.contains("error: two taints have the key `a`"), "{said}");
        assert!(said.ends_with("not valid: 1 problem\n"), "{said}");
    }
}
