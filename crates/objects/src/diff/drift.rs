//! What others have changed of our fields.

use jiff::Timestamp;
use serde::Serialize;

use super::changes::{as_text, raw};
use super::{Difference, Shown, Veil};
use crate::fields::{FieldPath, Owner, Owners, OwnersError, Share};
use crate::{FIELD_MANAGER, Object, ObjectId};

/// How far an object has drifted from what we want.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// Which object.
    #[serde(serialize_with = "as_text")]
    pub id: ObjectId,
    /// What others have changed or removed, sorted by path.
    pub drifted: Vec<Drifted>,
    /// What only differs because we want something else than we applied last.
    pub pending: Vec<Difference>,
}

/// A field of ours that others have changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drifted {
    /// Which field.
    pub path: FieldPath,
    /// What we want there; nothing if we do not want the field.
    pub ours: Option<Shown>,
    /// What is there; nothing if somebody has removed it.
    pub theirs: Option<Shown>,
    /// Who owns the field now.
    pub by: Vec<Touch>,
    /// Where nobody owns it, because it was removed: who has written to the
    /// object since our last apply, and may have done it. Somebody who did
    /// nothing but remove has left no name.
    pub perhaps: Vec<Touch>,
}

/// Somebody's last write to an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Touch {
    /// Who.
    pub owner: Owner,
    /// When, to the second.
    pub time: Option<Timestamp>,
}

impl Drift {
    /// Compares the live object with what a dry run would make of it if it took
    /// every field that we want ([`Ownership::Take`](crate::Ownership::Take)).
    ///
    /// A field that we still own has not been touched by anybody: if it
    /// differs, we want something else now.
    pub fn between(live: &Object, would_be: &Object, veil: &Veil) -> Result<Self, OwnersError> {
        let (owners, wanted) = (Owners::of(live)?, Owners::of(would_be)?);
        let ours = owners.fields_applied_by(FIELD_MANAGER);
        let fields = ours.union(&wanted.fields_applied_by(FIELD_MANAGER));
        let mut drift = Self { id: live.id().clone(), drifted: Vec::new(), pending: Vec::new() };
        for raw in raw(&fields, Some(live.body()), would_be.body()) {
            let difference = raw.veiled(live, veil);
            if ours.covers(&difference.path) {
                drift.pending.push(difference);
            } else {
                drift.drifted.push(Drifted::of(difference, &owners));
            }
        }
        Ok(drift)
    }

    /// Returns whether nobody has changed anything of ours.
    pub fn is_empty(&self) -> bool {
        self.drifted.is_empty()
    }
}

impl Drifted {
    fn of(difference: Difference, owners: &Owners) -> Self {
        let Difference { path, old: theirs, new: ours } = difference;
        let by: Vec<Touch> = touches(owners.of_field(&path));
        let perhaps = if by.is_empty() { touches(since_ours(owners)) } else { Vec::new() };
        Self { path, ours, theirs, by, perhaps }
    }
}

fn touches<'a>(shares: impl Iterator<Item = &'a Share>) -> Vec<Touch> {
    let others = shares.filter(|share| !share.owner.applies_as(FIELD_MANAGER));
    others.map(|share| Touch { owner: share.owner.clone(), time: share.time }).collect()
}

/// A time has a resolution of a second, so the same second counts. Writers of
/// the status alone change no field of ours.
fn since_ours(owners: &Owners) -> impl Iterator<Item = &Share> {
    let ours = owners.applied_by(FIELD_MANAGER).filter_map(|share| share.time).max();
    owners.shares().iter().filter(move |share| {
        share.time >= ours && share.owner.subresource.as_deref() != Some("status")
    })
}
