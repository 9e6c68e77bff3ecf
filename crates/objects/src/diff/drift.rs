//! What others have changed of our fields.

use jiff::Timestamp;
use serde::Serialize;

use super::changes::{as_text, raw, with_what_is_kept};
use super::order::reordered;
use super::{Difference, Shown, Veil};
use crate::fields::{FieldPath, FieldSet, Owner, Owners, OwnersError, Share};
use crate::{FIELD_MANAGER, Object, ObjectId};

/// How far an object has drifted from what we want.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// Which object.
    #[serde(serialize_with = "as_text")]
    pub id: ObjectId,
    /// Whether we have applied the object in this life of it. Where we have not,
    /// others have changed nothing of ours: they have made it.
    pub applied: bool,
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
        let known = ours.union(&wanted.fields_applied_by(FIELD_MANAGER));
        let fields = with_what_is_kept(live.kind(), known.clone());
        let mut drift = Self::none(live, !ours.is_empty());
        for raw in raw(&fields, Some(live.body()), would_be.body()) {
            let difference = raw.veiled(live, veil);
            // What we write elsewhere is as we left it where nobody has written there since.
            let path = &difference.path;
            let untouched =
                !known.covers(path) && !since_ours(&owners).any(|share| share.fields.covers(path));
            if ours.covers(path) || untouched {
                drift.pending.push(difference);
            } else {
                drift.drifted.push(Drifted::of(difference, &owners));
            }
        }
        // Nobody owns an order, and who changes nothing else leaves no name: it
        // is taken for ours where nobody has written since.
        for difference in reordered(&fields, live.body(), would_be.body()) {
            if touches(since_ours(&owners)).is_empty() {
                drift.pending.push(difference);
            } else {
                drift.drifted.push(Drifted::of(difference, &owners));
            }
        }
        Ok(drift)
    }

    /// Says what others have set since we last applied, told by the live object
    /// alone; none where nobody has, or where we never applied it. What we had
    /// wished for in those places is not known, and what others have removed
    /// leaves no trace.
    pub fn since_ours(live: &Object, veil: &Veil) -> Result<Option<Self>, OwnersError> {
        let owners = Owners::of(live)?;
        let ours = owners.fields_applied_by(FIELD_MANAGER);
        if ours.is_empty() {
            return Ok(None);
        }
        let others = since_ours(&owners).filter(|share| !share.owner.applies_as(FIELD_MANAGER));
        let theirs = others.fold(FieldSet::default(), |all, share| all.union(&share.fields));
        let mut drift = Self::none(live, true);
        for path in theirs.difference(&ours).leaves() {
            let Some(value) = path.find(live.body()) else { continue };
            let theirs = Some(veil.show(live.kind(), &path, value));
            let difference = Difference { path, old: theirs, new: None };
            drift.drifted.push(Drifted::of(difference, &owners));
        }
        Ok(Some(drift).filter(|drift| !drift.is_empty()))
    }

    fn none(live: &Object, applied: bool) -> Self {
        Self { id: live.id().clone(), applied, drifted: Vec::new(), pending: Vec::new() }
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

/// A time has a resolution of a second, so the same second counts. Writers
/// through `scale` leave no time, and may have come since. Writers of
/// the status alone change no field of ours.
fn since_ours(owners: &Owners) -> impl Iterator<Item = &Share> {
    let ours = owners.applied_by(FIELD_MANAGER).filter_map(|share| share.time).max();
    owners.shares().iter().filter(move |share| {
        (share.time.is_none() || share.time >= ours)
            && share.owner.subresource.as_deref() != Some("status")
    })
}
