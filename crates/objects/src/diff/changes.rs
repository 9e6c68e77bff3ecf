//! The differences between two states of an object, field by field.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::order::reordered;
use super::{Shown, Veil};
use crate::fields::{FieldPath, FieldSet, Handover, Owners, OwnersError, Step};
use crate::{FIELD_MANAGER, Kind, Object, ObjectId};

/// What an apply would change of an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// Which object.
    #[serde(serialize_with = "as_text")]
    pub id: ObjectId,
    /// Whether it would be a new one.
    pub is_new: bool,
    /// The fields that would change, sorted by path.
    pub differences: Vec<Difference>,
    /// The fields that would change hands.
    pub handover: Handover,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Which field.
    pub path: FieldPath,
    /// What is there; nothing if the field would be added.
    pub old: Option<Shown>,
    /// What would be there; nothing if the field would be removed.
    pub new: Option<Shown>,
}

/// A field that differs, before the veil.
pub(super) struct Raw<'a> {
    pub(super) path: FieldPath,
    pub(super) old: Option<&'a Value>,
    pub(super) new: Option<&'a Value>,
}

// === impl Diff ===

impl Diff {
    /// Compares the live object, if there is one, with what a dry run of the
    /// apply would make of it.
    pub fn between(
        live: Option<&Object>,
        would_be: &Object,
        veil: &Veil,
    ) -> Result<Self, OwnersError> {
        let after = Owners::of(would_be)?;
        let before = live.map_or(Ok(Owners::default()), Owners::of)?;
        let fields = before.fields_applied_by(FIELD_MANAGER);
        let fields = fields.union(&after.fields_applied_by(FIELD_MANAGER));
        let fields = with_what_is_kept(would_be.kind(), fields);
        let differences = raw(&fields, live.map(Object::body), would_be.body());
        let differences = differences.into_iter().map(|raw| raw.veiled(would_be, veil));
        let order = live.map(|live| reordered(&fields, live.body(), would_be.body()));
        let mut differences: Vec<Difference> =
            differences.chain(order.into_iter().flatten()).collect();
        differences.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Self {
            id: would_be.id().clone(),
            is_new: live.is_none(),
            differences,
            handover: Handover::between(&before, &after, FIELD_MANAGER),
        })
    }

    /// Returns whether the apply would change nothing of the object. Fields may
    /// still change hands.
    pub fn is_empty(&self) -> bool {
        !self.is_new && self.differences.is_empty()
    }
}

// === impl Raw ===

impl Raw<'_> {
    pub(super) fn veiled(self, object: &Object, veil: &Veil) -> Difference {
        let show = |value: &Value| veil.show(object.kind(), &self.path, value);
        Difference { old: self.old.map(show), new: self.new.map(show), path: self.path }
    }
}

pub(super) fn as_text<S: serde::Serializer>(id: &ObjectId, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(id)
}

/// Adds where the API keeps what it takes elsewhere: a Secret's `stringData` is
/// only written, what comes of it stands in `data`.
pub(super) fn with_what_is_kept(kind: &Kind, fields: FieldSet) -> FieldSet {
    let mut all = fields;
    if kind.is("", "Secret") {
        let kept: Vec<_> = all.leaves().iter().filter_map(kept_at).collect();
        for path in &kept {
            all.insert(path);
        }
    }
    all
}

fn kept_at(written: &FieldPath) -> Option<FieldPath> {
    let (first, rest) = written.steps().split_first()?;
    let data = FieldPath::of_fields(["data"]);
    let kept = rest.iter().fold(data, |path, step| path.then(step.clone()));
    (*first == Step::field("stringData")).then_some(kept)
}

/// Finds the leaves of a set that differ between two values.
pub(super) fn raw<'a>(fields: &FieldSet, old: Option<&'a Value>, new: &'a Value) -> Vec<Raw<'a>> {
    let mut found = Vec::new();
    for path in fields.leaves() {
        let old = old.and_then(|value| path.find(value));
        let new = path.find(new);
        take_apart(&path, old, new, &mut found);
    }
    without_own_keys(found)
}

/// Follows maps, and lists of the same length, down to what really differs.
fn take_apart<'a>(
    path: &FieldPath,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
    found: &mut Vec<Raw<'a>>,
) {
    let (old, new) = (old.filter(|one| !one.is_null()), new.filter(|one| !one.is_null()));
    if old == new {
        return;
    }
    match (old, new) {
        (Some(Value::Object(_)) | None, Some(Value::Object(_)) | None)
            if has_entries(old) || has_entries(new) =>
        {
            for name in names(old).chain(names(new)).collect::<BTreeSet<_>>() {
                let of = |side: Option<&'a Value>| side.and_then(|value| value.get(name));
                take_apart(&path.then(Step::field(name)), of(old), of(new), found);
            }
        }
        (Some(Value::Array(olds)), Some(Value::Array(news))) if olds.len() == news.len() => {
            for (index, (old, new)) in (0..).zip(olds.iter().zip(news)) {
                take_apart(&path.then(Step::Index(index)), Some(old), Some(new), found);
            }
        }
        _ => found.push(Raw { path: path.clone(), old, new }),
    }
}

fn has_entries(value: Option<&Value>) -> bool {
    value.and_then(Value::as_object).is_some_and(|map| !map.is_empty())
}

fn names(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str())
}

/// `containers[name="app"].name` says nothing that its path does not, unless
/// it is all that the item has.
fn without_own_keys(found: Vec<Raw<'_>>) -> Vec<Raw<'_>> {
    let is_own_key = |path: &FieldPath| match path.steps() {
        [.., Step::Item(key), Step::Field(name)] => key.pairs().iter().any(|(own, _)| own == name),
        _ => false,
    };
    let told: Vec<FieldPath> =
        found.iter().map(|raw| raw.path.clone()).filter(|path| !is_own_key(path)).collect();
    let is_told = |path: &FieldPath| {
        path.parent().is_some_and(|item| told.iter().any(|other| item.is_prefix_of(other)))
    };
    found.into_iter().filter(|raw| !is_own_key(&raw.path) || !is_told(&raw.path)).collect()
}
