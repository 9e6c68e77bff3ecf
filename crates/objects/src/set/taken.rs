//! Trying out an apply to an object that was applied by a client before.
//!
//! The real apply has two steps: the fields of that client become ours, and
//! then those go that are not wished for. A dry run has one, so the other is
//! played here, on what it gave.

use serde_json::Value;

use super::repair::Repair;
use crate::fields::{FieldSet, Owners, OwnersError};
use crate::{ApiError, Applied, Cluster, FIELD_MANAGER, Object, Ownership, Trouble};

/// Tries out an apply as if `repair` had been made. Conflicts with managers
/// whose fields become ours are none.
pub(super) async fn try_out(
    cluster: &Cluster,
    wished: &Object,
    live: Option<&Object>,
    repair: Option<&Repair>,
    ownership: Ownership,
) -> Result<Applied, ApiError> {
    let taken = repair.map(Repair::taken).unwrap_or_default();
    match cluster.preview(wished, ownership, live).await {
        Err(error) if is_only_with(taken, &error) => {
            cluster.preview(wished, Ownership::Take, live).await
        }
        preview => preview,
    }
}

fn is_only_with(taken: &[String], error: &ApiError) -> bool {
    let Trouble::Ownership(conflicts) = error.trouble() else { return false };
    conflicts.iter().all(|conflict| taken.contains(&conflict.manager))
}

/// Returns the object as it is once its fields are ours, and what an apply
/// leaves of it then.
pub(super) fn play(
    live: &Object,
    would_be: Object,
    repair: &Repair,
) -> Result<(Object, Object), OwnersError> {
    let mut before = live.clone().into_body();
    before["metadata"]["managedFields"] = repair.managed_fields().into();
    let mut after = would_be.into_body();
    if let Some(Value::Array(entries)) = after.pointer_mut("/metadata/managedFields") {
        entries.retain(|entry| !repair.takes(entry));
    }
    let before = live.with_body(before);
    let owned = Owners::of(&before)?.fields_applied_by(FIELD_MANAGER);
    let shares = Owners::of(&live.with_body(after.clone()))?;
    let kept = shares.shares().iter().fold(FieldSet::default(), |all, it| all.union(&it.fields));
    let gone = owned.difference(&kept);
    let leaves = gone.leaves();
    // The innermost first: a map goes when the last field in it has gone.
    for path in gone.paths().iter().rev() {
        let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
        if leaves.contains(path) || path.find(&after).is_some_and(is_empty) {
            path.remove_from(&mut after);
        }
    }
    Ok((before, live.with_body(after)))
}
