//! Whether an apply would change anything, told without asking the API.
//!
//! A desired object, the live one and our own share of its `managedFields` are
//! walked together, with the set of fields as the schema: it says which lists
//! have keys, which are sets, and what is one value. The answer is
//! [`Comparison::Same`] only where
//!
//! - both objects are the same one, in the same version, and not being deleted;
//! - what we own and what we desire are the same fields, both ways;
//! - every value is the same JSON, and our items are in our order.
//!
//! Everything else is [`Doubt`], which is sent. "Different" is never said: `1`
//! and `1000m` are one quantity, and only the API knows which texts are
//! quantities. A doubt that turned out to be none is [remembered](Settled).
//!
//! **Not seen from here:** what a mutating webhook would do this time, new
//! defaults of a changed definition, and that the API may write an object anew
//! that reads the same (a fresh `PersistentVolumeClaim` gets another resource
//! version by its first apply, and nothing else; an object without owners gets
//! an entry for them). None of these is a change that anybody asked for.

mod doubt;
mod settled;
mod walk;

pub use doubt::{Doubt, Why};
pub use settled::{Footprint, Settled};

use crate::fields::{FieldPath, FieldSet, Owners, Share};
use crate::{FIELD_MANAGER, Object};

/// Whether an apply would change anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// It would change nothing.
    Same,
    /// It may change something.
    Doubt(Doubt),
}

/// Compares what is desired with what is there. `uid` is the one that the
/// object had when we last saw it, where we did.
pub fn compare(desired: &Object, live: &Object, uid: Option<&str>) -> Comparison {
    match same(desired, live, uid) {
        Ok(()) => Comparison::Same,
        Err(doubt) => Comparison::Doubt(doubt),
    }
}

fn same(desired: &Object, live: &Object, uid: Option<&str>) -> Result<(), Doubt> {
    let doubt = |why: Why| why.at(FieldPath::default());
    identity(desired, live, uid).map_err(doubt)?;
    let owners = Owners::of(live).map_err(|error| {
        Why::Unreadable(error.to_string()).at(FieldPath::of_fields(["metadata", "managedFields"]))
    })?;
    match only_share(&owners).map_err(doubt)? {
        Some(share) if share.api_version != desired.kind().api_version() => {
            Err(doubt(Why::OtherVersion(share.api_version.clone())))
        }
        Some(share) => walk::walk(desired.body(), live.body(), &share.fields, &owners),
        None if wants_nothing(desired, live, &owners) => Ok(()),
        None => Err(doubt(Why::NeverApplied)),
    }
}

/// A bare Namespace has no field that anybody could own, and the API keeps no
/// entry for an owner of nothing. It would only note who came first.
fn wants_nothing(desired: &Object, live: &Object, owners: &Owners) -> bool {
    walk::walk(desired.body(), live.body(), &FieldSet::default(), owners).is_ok()
}

fn identity(desired: &Object, live: &Object, uid: Option<&str>) -> Result<(), Why> {
    let (wanted, found) = (desired.id(), live.id());
    if wanted.kind != found.kind {
        return Err(Why::OtherVersion(found.kind.api_version()));
    }
    // A namespace on an object of the whole cluster is not sent.
    let elsewhere = found.namespace.is_some() && wanted.namespace != found.namespace;
    if wanted.name != found.name || elsewhere {
        return Err(Why::AnotherObject);
    }
    match live.uid() {
        None => return Err(Why::AnotherObject),
        Some(found) if uid.is_some_and(|uid| uid != found) => return Err(Why::AnotherObject),
        Some(_) => {}
    }
    if live.at("/metadata/deletionTimestamp").is_some() {
        return Err(Why::BeingDeleted);
    }
    Ok(())
}

fn only_share(owners: &Owners) -> Result<Option<&Share>, Why> {
    let mut shares = owners.applied_by(FIELD_MANAGER);
    match (shares.next(), shares.next()) {
        (share, None) => Ok(share),
        (_, Some(other)) => Err(Why::OtherVersion(other.api_version.clone())),
    }
}

#[cfg(test)]
mod tests;
