//! Whether anybody can tell that an object is ready.

use std::collections::HashMap;

use objects::{Cluster, Kind, ObjectId};

/// Parts objects into those that can be waited for, and those of kinds that
/// were defined without a status: nothing will ever say that they are ready.
pub(super) async fn part(
    cluster: &Cluster,
    all: impl Iterator<Item = ObjectId>,
) -> (Vec<ObjectId>, Vec<ObjectId>) {
    let mut known: HashMap<Kind, bool> = HashMap::new();
    let (mut judged, mut others) = (Vec::new(), Vec::new());
    for id in all {
        let has_status = match known.get(&id.kind) {
            Some(has_status) => *has_status,
            None => cluster.tells_status(&id.kind).await,
        };
        known.insert(id.kind.clone(), has_status);
        if has_status { judged.push(id) } else { others.push(id) }
    }
    (judged, others)
}
