//! In which order the objects of a set are applied.
//!
//! ```text
//!  objects ─► edges ─────────────────────────────► graph ─► Order
//!             hard: namespace, definition,          │        who waits for whom,
//!                   depends-on                      │        and for how much of it
//!             soft: what a pod refers to, rights,   ▼
//!                   quotas, webhooks last        cycles: soft edges give way,
//!                                                hard ones are an error
//! ```
//!
//! A graph and no layers: an object waits for what it stands on and for nothing
//! else. A *hard* edge is one without which the apply fails or was forbidden by
//! whoever wrote the manifest. A *soft* edge only saves a controller from
//! trying twice, so it may be left out.
//!
//! Of the annotations that other tools read, only
//! `config.kubernetes.io/depends-on` is honoured. Argo's waves and kapp's
//! change rules order whole groups around health checks and hooks of those
//! tools; half of that would be worse than none.
//!
//! Pure: nothing here talks to an API.

mod depends_on;
mod edges;
mod graph;
mod pod_references;
mod rank;
mod references;

pub use depends_on::DEPENDS_ON;

use std::collections::{BTreeMap, HashMap};

use crate::{Object, ObjectId};
use edges::Edge;
use rank::Rank;

pub(crate) use rank::is_kubernetes_own;

/// The objects of a set, and which of them wait for which.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    objects: Vec<Object>,
    waits: Vec<Vec<Prerequisite>>,
    needs: Vec<Option<Need>>,
    sequence: Vec<usize>,
}

/// What an object waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prerequisite {
    /// Which object, by its place in [`Order::objects`].
    pub object: usize,
    /// How much of it.
    pub need: Need,
    /// Whether it can go without.
    pub strength: Strength,
}

/// How strongly an object waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It can go without: where the other fails, or waits in turn, it goes on.
    Soft,
    /// It cannot go without.
    Hard,
}

/// How far a prerequisite must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The API has taken it.
    Applied,
    /// It is what it should be: a definition is established, a workload is up.
    Ready,
}

/// Everything for which a set has no order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", list(.0))]
pub struct Disorder(pub Vec<OrderProblem>);

/// Why a set has no order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderProblem {
    /// The same object is there twice, in whichever version.
    #[error("{0} is there twice; leave one out")]
    Twice(ObjectId),
    /// An annotation names something in a form that nobody reads.
    #[error(
        "{object} depends on `{reference}`, which is neither `GROUP/KIND/NAME` nor \
         `GROUP/namespaces/NAMESPACE/KIND/NAME`"
    )]
    Unreadable {
        /// Whose annotation.
        object: Box<ObjectId>,
        /// What stands there.
        reference: String,
    },
    /// An annotation names what is not in the set.
    #[error("{object} depends on `{reference}`, which is not in this set")]
    Missing {
        /// Whose annotation.
        object: Box<ObjectId>,
        /// What stands there.
        reference: String,
    },
    /// Objects wait for each other.
    #[error("these wait for each other: {}", chain(.0))]
    Cycle(Vec<ObjectId>),
}

// === impl Order ===

impl Order {
    /// Finds the order of a set.
    pub fn of(objects: Vec<Object>) -> Result<Self, Disorder> {
        let places = places(&objects)?;
        let edges = edges::of(&objects, &places).map_err(Disorder)?;
        let kept = graph::without_cycles(objects.len(), edges).map_err(|cycle| {
            let ids = cycle.into_iter().map(|at| objects[at].id().clone());
            Disorder(vec![OrderProblem::Cycle(ids.collect())])
        })?;
        let ranks: Vec<Rank> = objects.iter().map(|object| Rank::of(object.kind())).collect();
        let sequence = graph::sequence(objects.len(), &kept, |at| (ranks[at], at));
        let waits = prerequisites(objects.len(), &kept);
        let mut needs = vec![None; objects.len()];
        for wait in waits.iter().flatten() {
            needs[wait.object] = needs[wait.object].max(Some(wait.need));
        }
        Ok(Self { objects, waits, needs, sequence })
    }

    /// Returns the objects in the order of the manifest.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Returns the places of all objects, each behind what it waits for.
    pub fn sequence(&self) -> &[usize] {
        &self.sequence
    }

    /// Returns what the object at a place waits for.
    pub fn waits_for(&self, place: usize) -> &[Prerequisite] {
        &self.waits[place]
    }

    /// Returns how far an object must be for the sake of others.
    pub fn needed(&self, place: usize) -> Option<Need> {
        self.needs[place]
    }
}

/// Groups objects for their end: what stands on others goes before them.
pub(crate) fn backwards(objects: Vec<Object>) -> Vec<Vec<Object>> {
    let mut ranks: BTreeMap<Rank, Vec<Object>> = BTreeMap::new();
    for object in objects {
        ranks.entry(Rank::of(object.kind())).or_default().push(object);
    }
    ranks.into_values().rev().collect()
}

/// Where each object stands, by what makes it that object.
type Places<'a> = HashMap<Place<'a>, usize>;

/// Versions are views of one object: they do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place<'a> {
    group: &'a str,
    kind: &'a str,
    namespace: Option<&'a str>,
    name: &'a str,
}

impl<'a> Place<'a> {
    fn of(id: &'a ObjectId) -> Self {
        let (group, kind) = (id.kind.group.as_str(), id.kind.kind.as_str());
        Self { group, kind, namespace: id.namespace.as_deref(), name: &id.name }
    }
}

fn places(objects: &[Object]) -> Result<Places<'_>, Disorder> {
    let mut places = HashMap::with_capacity(objects.len());
    let mut twice = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        if places.insert(Place::of(object.id()), at).is_some() {
            twice.push(OrderProblem::Twice(object.id().clone()));
        }
    }
    if twice.is_empty() { Ok(places) } else { Err(Disorder(twice)) }
}

fn prerequisites(count: usize, edges: &[Edge]) -> Vec<Vec<Prerequisite>> {
    let mut waits = vec![Vec::new(); count];
    for edge in edges {
        let Edge { before, after, need, strength } = *edge;
        waits[after].push(Prerequisite { object: before, need, strength });
    }
    for wait in &mut waits {
        // Of several reasons to wait for the same object the strongest stays.
        wait.sort_unstable();
        wait.dedup_by(|next, kept| {
            let same = next.object == kept.object;
            if same {
                kept.need = kept.need.max(next.need);
                kept.strength = kept.strength.max(next.strength);
            }
            same
        });
    }
    waits
}

fn list(problems: &[OrderProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn chain(cycle: &[ObjectId]) -> String {
    let names = cycle.iter().chain(cycle.first()).map(ToString::to_string);
    names.collect::<Vec<_>>().join(" → ")
}

#[cfg(test)]
mod tests;
