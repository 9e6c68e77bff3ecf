//! From an object to the one below it that is worst off.

use super::Surroundings;
use crate::{Object, Status};

/// Returns the object and those below it, down to the one that is closest to
/// the cause.
pub(crate) fn path<'a>(root: &'a Object, around: &'a Surroundings) -> Vec<&'a Object> {
    let mut path = vec![root];
    if root.kind().is("apps", "Deployment") {
        path.extend(newest(owned(root, &around.replica_sets)));
    }
    if let Some(owner) = path.last() {
        path.extend(worst(owned(owner, &around.pods)));
    }
    path
}

fn owned<'a>(owner: &'a Object, all: &'a [Object]) -> impl Iterator<Item = &'a Object> {
    let uid = owner.uid().unwrap_or_default();
    all.iter().filter(move |object| object.is_owned_by(uid))
}

/// The replica set of the latest rollout; older ones only hold what is left.
fn newest<'a>(replica_sets: impl Iterator<Item = &'a Object>) -> Option<&'a Object> {
    let revision = |object: &Object| {
        let annotations = object.at("/metadata/annotations")?;
        annotations["deployment.kubernetes.io/revision"].as_str()?.parse::<u64>().ok()
    };
    replica_sets.max_by_key(|object| revision(object))
}

/// The first pod of the worst: pods that are ready say nothing about why
/// others are not.
fn worst<'a>(pods: impl Iterator<Item = &'a Object>) -> Option<&'a Object> {
    let badness = |pod: &Object| match Status::of(pod) {
        Status::Ready => 4,
        Status::Terminating { .. } => 3,
        Status::Unknown { .. } => 2,
        Status::InProgress { .. } => 1,
        Status::Failed { .. } => 0,
    };
    pods.min_by_key(|pod| badness(pod)).filter(|pod| badness(pod) < 4)
}
