//! What can be said of an apply that the API does not try out.
//!
//! A webhook that has not promised to do nothing outside of the cluster takes no
//! dry runs, and then nobody can tell what would come of an object. What is
//! left is to lay the wish over what is there: what the API would add or spell
//! otherwise is not seen, so a difference may be none. That is said along.

use serde_json::{Value, json};

use super::adopt::is_entry;
use crate::fields::{FieldPath, FieldSet, Owners, OwnersError, Step};
use crate::{ApiError, FIELD_MANAGER, Object, Trouble, differing};

/// Returns whether the API has refused to try something out, and not the thing.
pub(super) fn is_untried(error: &ApiError) -> bool {
    matches!(error.trouble(), Trouble::NoDryRun { .. })
}

/// What is said where differences were found without the API.
pub(super) fn warning(error: &ApiError) -> String {
    let why = error.trouble();
    format!("{why}; compared without the API, which may spell the same otherwise")
}

/// Returns what an apply would leave, as far as it can be told.
pub(super) fn guess(wished: &Object, live: &Object) -> Result<Object, OwnersError> {
    let ours = Owners::of(live)?.fields_applied_by(FIELD_MANAGER);
    let mut body = live.body().clone();
    let mut fields = ours.clone();
    let status = FieldPath::of_fields(["status"]);
    for path in differing(wished, live) {
        // What only the API may say is not sent.
        if status.is_prefix_of(&path) {
            continue;
        }
        if let Some(value) = path.find(wished.body()) {
            put(&path, value.clone(), &mut body);
            fields.insert(&path);
        }
    }
    for path in ours.leaves() {
        if can_be_missed(&path) && path.find(wished.body()).is_none() {
            path.remove_from(&mut body);
        }
    }
    own(&mut body, wished, &fields);
    Ok(live.with_body(body))
}

/// Items are found by all their keys, some of which the API has added.
fn can_be_missed(path: &FieldPath) -> bool {
    path.steps().iter().all(|step| match step {
        Step::Field(_) | Step::Value(_) => true,
        Step::Item(key) => key.pairs().len() == 1,
        Step::Index(_) => false,
    })
}

fn put(path: &FieldPath, value: Value, into: &mut Value) {
    let [inner @ .., last] = path.steps() else { return };
    let parent = inner.iter().try_fold(into, |value, step| match step {
        Step::Field(name) => value.get_mut(&**name),
        Step::Index(index) => value.get_mut(usize::try_from(*index).ok()?),
        Step::Item(_) | Step::Value(_) => None,
    });
    match (parent, last) {
        (Some(Value::Object(map)), Step::Field(name)) => {
            map.insert(name.to_string(), value);
        }
        (Some(Value::Array(items)), Step::Index(index)) => {
            if let Some(item) = usize::try_from(*index).ok().and_then(|at| items.get_mut(at)) {
                *item = value;
            }
        }
        _ => {}
    }
}

/// Makes fields ours, as an apply would.
fn own(body: &mut Value, wished: &Object, fields: &FieldSet) {
    let entries = &mut body["metadata"]["managedFields"];
    if !entries.is_array() {
        *entries = json!([]);
    }
    let Some(entries) = entries.as_array_mut() else { return };
    entries.retain(|entry| !is_entry(entry, FIELD_MANAGER, "Apply"));
    entries.push(json!({ "manager": FIELD_MANAGER, "operation": "Apply",
        "apiVersion": wished.kind().api_version(), "fieldsType": "FieldsV1",
        "fieldsV1": fields.to_fields_v1() }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{Diff, Veil};

    fn object(body: Value) -> Object {
        Object::new(body).unwrap()
    }

    #[test]
    fn a_wish_is_laid_over_what_is_there() {
        let ours = json!({ "f:data": { "f:a": {}, "f:gone": {} } });
        let live = object(json!({ "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "c", "managedFields": [{ "manager": "seaworthy",
                "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "fieldsV1": ours }] },
            "data": { "a": "1", "gone": "x", "theirs": "y" } }));
        let wished = object(json!({ "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "c" }, "data": { "a": "2", "new": "z" } }));
        let guessed = guess(&wished, &live).unwrap();
        let data = json!({ "a": "2", "new": "z", "theirs": "y" });
        assert_eq!(guessed.at("/data"), Some(&data));
        let diff = Diff::between(Some(&live), &guessed, &Veil::new([7; 32])).unwrap();
        let paths: Vec<String> = diff.differences.iter().map(|it| it.path.to_string()).collect();
        assert_eq!(paths, ["data.a", "data.gone", "data.new"]);
    }
}
