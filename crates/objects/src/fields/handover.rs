//! How ownership passed between two states of an object.

use serde::Serialize;

use super::{FieldPath, FieldSet, Owner, Owners};

/// How the ownership of one manager's fields passed between two states of an
/// object, field by field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Handover {
    /// Fields that it owns now and that others owned, who do not any more.
    pub taken: Vec<Passed>,
    /// Fields that it has come to own together with others.
    pub shared: Vec<Passed>,
    /// Fields that it owned and others own now.
    pub lost: Vec<Passed>,
    /// Fields that it owned and nobody owns now.
    pub released: Vec<FieldPath>,
}

/// A field, and the others whose it was or is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Passed {
    /// Which field.
    pub path: FieldPath,
    /// The others.
    pub others: Vec<Owner>,
}

impl Handover {
    /// Compares who owned what, from the view of a manager that applies.
    pub fn between(before: &Owners, after: &Owners, manager: &str) -> Self {
        let (had, has) = (before.fields_applied_by(manager), after.fields_applied_by(manager));
        let mut handover = Self::default();
        for path in has.difference(&had).leaves() {
            let (were, are) = (others(before, manager, &path), others(after, manager, &path));
            if !are.is_empty() {
                handover.shared.push(Passed { path, others: are });
            } else if !were.is_empty() {
                handover.taken.push(Passed { path, others: were });
            }
        }
        for path in gone(&had, &has) {
            match others(after, manager, &path) {
                nobody if nobody.is_empty() => handover.released.push(path),
                others => handover.lost.push(Passed { path, others }),
            }
        }
        handover
    }

    /// Returns whether nothing passed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Leaves that are not in the set any more. A field that holds others now is
/// still there.
fn gone(had: &FieldSet, has: &FieldSet) -> Vec<FieldPath> {
    had.difference(has).leaves().into_iter().filter(|path| !has.covers(path)).collect()
}

/// Who owns this very path. Whoever has lost all that it had in a map is left
/// with the map itself, which reads like owning it as a whole; but the path is
/// one of ours inside of it, so nobody does.
fn others(owners: &Owners, manager: &str, path: &FieldPath) -> Vec<Owner> {
    let shares = owners.shares().iter().filter(|share| share.fields.contains(path));
    let shares = shares.filter(|share| !share.owner.applies_as(manager));
    shares.map(|share| share.owner.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Object;

    fn owners(entries: &[(&str, &str, Value)]) -> Owners {
        let entry = |(manager, operation, fields): &(&str, &str, Value)| json!({ "manager": manager, "operation": operation, "fieldsV1": { "f:data": fields } });
        let managed: Vec<Value> = entries.iter().map(entry).collect();
        let object = json!({ "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "a", "managedFields": managed } });
        Owners::of(&Object::new(object).unwrap()).unwrap()
    }

    #[test]
    fn an_empty_map_that_is_left_over_owns_nothing_in_it() {
        let before = owners(&[("kubectl", "Update", json!({ ".": {}, "f:k": {} }))]);
        let after =
            owners(&[("us", "Apply", json!({ "f:k": {} })), ("kubectl", "Update", json!({}))]);
        let handover = Handover::between(&before, &after, "us");
        assert_eq!(handover.taken.len(), 1, "{handover:?}");
        assert!(handover.shared.is_empty(), "{handover:?}");
    }

    #[test]
    fn taken_shared_lost_and_released_are_told_apart() {
        let before = owners(&[
            ("us", "Apply", json!({ "f:kept": {}, "f:lost": {}, "f:dropped": {} })),
            ("kubectl", "Update", json!({ "f:taken": {}, "f:shared": {} })),
        ]);
        let after = owners(&[
            ("us", "Apply", json!({ "f:kept": {}, "f:taken": {}, "f:shared": {}, "f:new": {} })),
            ("kubectl", "Update", json!({ "f:shared": {} })),
            ("hpa", "Update", json!({ "f:lost": {} })),
        ]);
        let handover = Handover::between(&before, &after, "us");
        let shown = |passed: &[Passed]| -> Vec<String> {
            passed.iter().map(|one| format!("{} {}", one.path, one.others[0])).collect()
        };
        assert_eq!(shown(&handover.taken), ["data.taken kubectl"]);
        assert_eq!(shown(&handover.shared), ["data.shared kubectl"]);
        assert_eq!(shown(&handover.lost), ["data.lost hpa"]);
        assert_eq!(handover.released, ["data.dropped".parse().unwrap()]);
        assert!(Handover::between(&after, &after, "us").is_empty());
    }
}
