//! How far a look at the objects of a kind reaches, so that it needs few requests.
//!
//! ```text
//!  a kind in many namespaces ─► one list everywhere, of our members by their label
//!                                │ what is not among them
//!                                ▼
//!                               one list everywhere, if the cluster is not too large
//!                                │ what that may not or need not show
//!                                ▼
//!  few objects of a namespace ─► one look each        many ─► a list of the namespace,
//!                                                             if it does not hold far more
//! ```
//!
//! A request costs about as much as some dozens of objects that nobody asked
//! about. So 2,000 objects in 500 namespaces are five requests and not 500, and
//! 20 objects in 20 namespaces do not read a cluster of 100,000.
//!
//! The label of a set brings nothing but its members, whatever else is there.
//! It cannot stand alone: an object that somebody else has made has no label
//! of ours, and must not be taken for absent.

use std::collections::{BTreeSet, HashMap};

use super::adopt::PART_OF;
use crate::{ApiError, Kind, ObjectId, Order, Scope, Trouble};

/// Up to so many objects of a kind in a namespace are looked at one by one; a
/// list would bring all the others there along.
const FEW: usize = 8;

/// So many requests are sent before anything wider is thought of: a page of 500
/// objects that nobody asked about is no better.
const NARROW_IS_FINE: usize = 16;

/// So many objects that nobody asked about are as dear as a request.
const STRANGERS_PER_REQUEST: usize = 50;

/// Objects of one kind, in one namespace or in none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Near {
    pub(super) kind: Kind,
    pub(super) namespace: Option<String>,
    pub(super) places: Vec<usize>,
}

/// Objects of one kind in so many namespaces that one list may be less.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Far {
    pub(super) kind: Kind,
    pub(super) places: Vec<usize>,
    /// How many requests it would take otherwise.
    requests: usize,
}

/// A list of a kind in all namespaces.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sweep {
    pub(super) scope: Scope,
    /// How many objects may come after the first page.
    pub(super) at_most: usize,
    /// Whether what it does not show is not there.
    pub(super) shows_all: bool,
}

/// How a sweep ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Swept {
    /// At its end.
    Whole,
    /// Early: there is too much to read.
    TooMany,
}

/// Objects of one kind that are still to be found, by namespace and name.
#[derive(Debug)]
pub(super) struct Wanted<'a>(HashMap<&'a str, HashMap<&'a str, usize>>);

// === impl Near ===

impl Near {
    /// Groups places by kind and namespace.
    pub(super) fn groups(order: &Order, places: impl IntoIterator<Item = usize>) -> Vec<Self> {
        let mut groups: HashMap<(&Kind, Option<&str>), Vec<usize>> = HashMap::new();
        for place in places {
            let id = order.objects()[place].id();
            groups.entry((&id.kind, id.namespace.as_deref())).or_default().push(place);
        }
        let group = |((kind, namespace), places): ((&Kind, Option<&str>), _)| Self {
            kind: kind.clone(),
            namespace: namespace.map(str::to_owned),
            places,
        };
        let mut groups: Vec<Self> = groups.into_iter().map(group).collect();
        groups.sort_by_key(|group| group.places[0]);
        groups
    }

    /// Returns what to list; none where the objects are few.
    pub(super) fn scope(&self) -> Option<Scope> {
        let all = Scope::all(self.kind.clone());
        (self.places.len() > FEW).then(|| match &self.namespace {
            Some(namespace) => all.within(namespace),
            None => all,
        })
    }

    /// Returns how many objects may come after the first page before looking at
    /// each would be less.
    pub(super) fn at_most(&self) -> usize {
        self.places.len() * STRANGERS_PER_REQUEST
    }

    fn requests(&self) -> usize {
        if self.places.len() > FEW { 1 } else { self.places.len() }
    }
}

// === impl Far ===

impl Far {
    /// Returns the kinds for which one list may be less than what it replaces.
    pub(super) fn groups(order: &Order, places: impl IntoIterator<Item = usize>) -> Vec<Self> {
        let mut kinds: Vec<Self> = Vec::new();
        for near in Near::groups(order, places) {
            let requests = near.requests();
            match kinds.iter_mut().find(|far| far.kind == near.kind) {
                Some(far) => {
                    far.requests += requests;
                    far.places.extend(near.places);
                }
                None => kinds.push(Self { kind: near.kind, places: near.places, requests }),
            }
        }
        kinds.retain(|far| far.requests > NARROW_IS_FINE);
        kinds
    }

    /// Returns what to list. `inventory` is the id of the set whose members are
    /// enough to see.
    pub(super) fn sweep(&self, inventory: Option<&str>) -> Sweep {
        let scope = Scope::all(self.kind.clone());
        if let Some(id) = inventory {
            // Whatever is read there is ours.
            let scope = scope.labelled(format!("{PART_OF}={id}"));
            return Sweep { scope, at_most: usize::MAX, shows_all: false };
        }
        let at_most = self.requests * STRANGERS_PER_REQUEST;
        Sweep { scope, at_most, shows_all: true }
    }
}

// === impl Wanted ===

impl<'a> Wanted<'a> {
    pub(super) fn new(order: &'a Order, places: &[usize]) -> Self {
        let mut wanted: HashMap<&str, HashMap<&str, usize>> = HashMap::new();
        for place in places {
            let id = order.objects()[*place].id();
            wanted.entry(namespace(id)).or_default().insert(&id.name, *place);
        }
        Self(wanted)
    }

    /// Returns the place of an object.
    pub(super) fn place(&self, id: &ObjectId) -> Option<usize> {
        self.0.get(namespace(id))?.get(id.name.as_str()).copied()
    }

    /// Returns the place of an object that has been found.
    pub(super) fn take(&mut self, id: &ObjectId) -> Option<usize> {
        self.0.get_mut(namespace(id))?.remove(id.name.as_str())
    }

    /// Returns how many are to be found.
    pub(super) fn count(&self) -> usize {
        self.0.values().map(HashMap::len).sum()
    }

    /// Returns the places of what was not found.
    pub(super) fn left(self) -> Vec<usize> {
        self.0.into_values().flat_map(HashMap::into_values).collect()
    }
}

/// Kinds of the whole cluster are in no namespace.
fn namespace(id: &ObjectId) -> &str {
    id.namespace.as_deref().unwrap_or_default()
}

/// Whoever may not list may still be allowed to look closer.
pub(super) fn may_not_list(error: &ApiError) -> bool {
    matches!(error.trouble(), Trouble::Forbidden(_) | Trouble::Refused { code: 405, .. })
}

/// Returns whether the members of a set in these namespaces are listed with one
/// list for all of them.
pub(super) fn members_are_far(namespaces: &BTreeSet<String>) -> bool {
    namespaces.len() > NARROW_IS_FINE
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Object;

    /// So many maps in each of so many namespaces.
    fn order(namespaces: usize, each: usize) -> Order {
        let map = |index: usize| {
            let (namespace, name) = (index / each, index % each);
            let metadata =
                json!({ "namespace": format!("n{namespace}"), "name": format!("c{name}") });
            let body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata });
            Object::new(body).unwrap()
        };
        Order::of((0..namespaces * each).map(map).collect()).unwrap()
    }

    #[test]
    fn a_list_of_everything_is_for_what_would_take_many_requests() {
        let requests = |namespaces, each| {
            let far = Far::groups(&order(namespaces, each), 0..namespaces * each);
            far.first().map(|far| far.requests)
        };
        assert_eq!(requests(500, 4), Some(2_000));
        assert_eq!(requests(40, 50), Some(40));
        assert_eq!(requests(17, 1), Some(17));
        assert_eq!(requests(16, 1), None);
        assert_eq!(requests(1, 2_000), None);
        assert_eq!(requests(16, 2_000), None);
    }

    #[test]
    fn a_list_of_a_namespace_reads_no_more_than_the_looks_are_worth() {
        let near = |each| Near::groups(&order(1, each), 0..each).remove(0);
        assert_eq!(near(8).scope(), None);
        assert!(near(9).scope().is_some());
        assert_eq!(near(9).at_most(), 450);
        assert_eq!(near(2_000).at_most(), 100_000);
    }

    #[test]
    fn a_sweep_reads_no_more_than_the_requests_are_worth() {
        let far = Far::groups(&order(20, 1), 0..20).remove(0);
        let all = far.sweep(None);
        assert_eq!((all.at_most, all.shows_all), (1_000, true));
        let members = far.sweep(Some("applyset-x-v1"));
        assert_eq!((members.at_most, members.shows_all), (usize::MAX, false));
        let told = members.scope.to_string();
        assert_eq!(told, "configmap with applyset.kubernetes.io/part-of=applyset-x-v1");
    }
}
