//! Objects that are known, and the way down among them.

use super::Surroundings;
use super::happening::told_as;
use super::leads::{Choice, Lead, leads, slices_of};
use super::says::is_well;
use crate::{Object, ObjectId, Scope, Status};

/// So many links are enough for whatever is not a circle.
const DEEPEST: usize = 12;

/// Objects that were fetched or are under watch.
#[derive(Debug, Default)]
pub(crate) struct Pool<'a> {
    objects: Vec<&'a Object>,
    absent: Vec<&'a ObjectId>,
    events: Vec<&'a Object>,
    listed: Vec<&'a Scope>,
}

/// What a lead led to.
#[derive(Clone, Debug)]
pub(crate) enum Found<'a> {
    There(&'a Object),
    Missing(ObjectId),
}

impl<'a> Found<'a> {
    pub(crate) fn object(&self) -> Option<&'a Object> {
        match self {
            Self::There(object) => Some(object),
            Self::Missing(_) => None,
        }
    }
}

impl<'a> Pool<'a> {
    pub(crate) fn new(
        objects: impl IntoIterator<Item = &'a Object>,
        absent: impl IntoIterator<Item = &'a ObjectId>,
        events: impl IntoIterator<Item = &'a Object>,
    ) -> Self {
        Self {
            objects: objects.into_iter().collect(),
            absent: absent.into_iter().collect(),
            events: events.into_iter().collect(),
            listed: Vec::new(),
        }
    }

    /// Holds what was fetched.
    pub(super) fn of(around: &'a Surroundings) -> Self {
        let pool = Self::new(&around.objects, &around.absent, &around.events);
        Self { listed: around.listed.iter().collect(), ..pool }
    }

    /// Returns whether somebody has looked for the slices of a Service.
    pub(super) fn has_looked_for_slices(&self, service: &ObjectId) -> bool {
        self.listed.contains(&&slices_of(service))
    }

    /// Returns the events about an object.
    pub(crate) fn events_about(&self, object: &Object) -> impl Iterator<Item = &'a Object> {
        let (uids, kind) = (told_as(object), object.kind().kind.clone());
        self.events.iter().copied().filter(move |event| {
            let uid = event.text("/involvedObject/uid");
            // A name is no uid: another kind may have it too.
            let of_kind = event.text("/involvedObject/kind").is_none_or(|told| told == kind);
            of_kind && uids.iter().any(|told| uid == Some(told))
        })
    }

    /// Returns the object and those below it, down to the one that is closest
    /// to the cause.
    pub(crate) fn path(&self, root: &'a Object) -> Vec<Found<'a>> {
        let mut path = vec![Found::There(root)];
        while path.len() < DEEPEST {
            let Some(last) = path.last().and_then(Found::object) else { break };
            let Some(below) = self.below(last) else { break };
            let again = |found: &Found<'_>| {
                below
                    .object()
                    .is_some_and(|new| found.object().is_some_and(|old| old.id() == new.id()))
            };
            if path.iter().any(again) {
                break;
            }
            path.push(below);
        }
        path
    }

    fn below(&self, object: &'a Object) -> Option<Found<'a>> {
        leads(object).iter().find_map(|lead| self.follow(object, lead))
    }

    fn follow(&self, from: &Object, lead: &Lead) -> Option<Found<'a>> {
        match lead {
            Lead::Owned(kind, choice) => {
                let uid = from.uid().unwrap_or_default();
                let owned = self.objects.iter().copied().filter(|one| one.is_owned_by(uid));
                let owned = owned.filter(|one| one.kind().is(&kind.group, &kind.kind));
                self.choose(owned, *choice).map(Found::There)
            }
            Lead::Slices(service) => {
                let slices = self.slices(service);
                slices.into_iter().find(|slice| !is_well(slice, self)).map(Found::There)
            }
            Lead::Unwell(ids) => ids.iter().find_map(|id| match self.find(id) {
                Some(Found::There(one)) if is_well(one, self) => None,
                found => found,
            }),
            Lead::Context(id) => self.find(id),
        }
    }

    /// Versions do not count: a reference may be to another one.
    pub(super) fn find(&self, id: &ObjectId) -> Option<Found<'a>> {
        let same = |other: &ObjectId| {
            other.kind.is(&id.kind.group, &id.kind.kind)
                && other.name == id.name
                && other.namespace == id.namespace
        };
        if let Some(object) = self.objects.iter().find(|one| same(one.id())) {
            return Some(Found::There(object));
        }
        self.absent.iter().any(|absent| same(absent)).then(|| Found::Missing(id.clone()))
    }

    pub(super) fn slices(&self, service: &ObjectId) -> Vec<&'a Object> {
        let of_service = |one: &&&Object| {
            one.kind().is("discovery.k8s.io", "EndpointSlice")
                && one.id().namespace == service.namespace
                && one.text("/metadata/labels/kubernetes.io~1service-name")
                    == Some(service.name.as_str())
        };
        self.objects.iter().filter(of_service).copied().collect()
    }

    fn choose(&self, all: impl Iterator<Item = &'a Object>, choice: Choice) -> Option<&'a Object> {
        match choice {
            // Older replica sets only hold what is left of older rollouts.
            Choice::NewestRevision => all.max_by_key(|object| revision(object)),
            Choice::Youngest => {
                let born =
                    |object: &Object| object.text("/metadata/creationTimestamp").map(str::to_owned);
                all.max_by_key(|object| born(object)).filter(|one| !is_well(one, self))
            }
            Choice::Worst => {
                all.min_by_key(|object| badness(object)).filter(|one| !is_well(one, self))
            }
        }
    }
}

fn revision(object: &Object) -> Option<u64> {
    let annotations = object.at("/metadata/annotations")?;
    annotations["deployment.kubernetes.io/revision"].as_str()?.parse().ok()
}

/// What is ready says nothing about why others are not.
fn badness(object: &Object) -> u8 {
    match Status::of(object) {
        Status::Failed { .. } => 0,
        Status::InProgress { .. } => 1,
        Status::Unknown { .. } => 2,
        Status::Terminating { .. } => 3,
        Status::Ready => 4,
    }
}
