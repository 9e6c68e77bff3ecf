//! Which object comes before which, and how strongly.

use std::collections::HashMap;

use super::pod_references::{self, MakesPods as _};
use super::references::{self, Reference};
use super::{Need, OrderProblem, Place, Places, Strength, depends_on};
use crate::Object;

/// One object before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) strength: Strength,
    pub(super) need: Need,
}

impl Edge {
    fn hard(before: usize, after: usize, need: Need) -> Self {
        Self { before, after, strength: Strength::Hard, need }
    }

    fn soft(before: usize, after: usize) -> Self {
        Self { before, after, strength: Strength::Soft, need: Need::Applied }
    }
}

/// Finds all edges, or all annotations that cannot be followed.
pub(super) fn of(objects: &[Object], places: &Places<'_>) -> Result<Vec<Edge>, Vec<OrderProblem>> {
    let mut problems = Vec::new();
    let mut edges = Vec::new();
    let definitions = definitions(objects);
    let rights = rights(objects);
    let constraints = constraints(objects);
    for (at, object) in objects.iter().enumerate() {
        edges.extend(namespace(object, at, places));
        edges.extend(definition(object, at, &definitions));
        match depends_on::of(object, places) {
            Ok(named) => edges.extend(named.into_iter().map(|on| Edge::hard(on, at, Need::Ready))),
            Err(problem) => problems.push(problem),
        }
        let references = references::of(object);
        let referred = references.iter().filter_map(|reference| find(reference, places));
        edges.extend(referred.map(|before| Edge::soft(before, at)));
        if object.makes_pods() {
            edges.extend(pods(object, &rights, &constraints).map(|before| Edge::soft(before, at)));
        }
    }
    edges.extend(interceptors_last(objects));
    edges.retain(|edge| edge.before != edge.after || edge.strength == Strength::Hard);
    if problems.is_empty() { Ok(edges) } else { Err(problems) }
}

fn find(reference: &Reference<'_>, places: &Places<'_>) -> Option<usize> {
    places.get(&reference.0).copied()
}

fn namespace(object: &Object, at: usize, places: &Places<'_>) -> Option<Edge> {
    let name = object.id().namespace.as_deref()?;
    let place = Place { group: "", kind: "Namespace", namespace: None, name };
    Some(Edge::hard(*places.get(&place)?, at, Need::Applied))
}

/// Which object makes the API serve a kind: by group, and kind or version.
type Definitions<'a> = HashMap<(&'a str, &'a str), usize>;

fn definitions(objects: &[Object]) -> Definitions<'_> {
    let mut definitions = HashMap::new();
    for (at, object) in objects.iter().enumerate() {
        let what = if object.kind().is("apiextensions.k8s.io", "CustomResourceDefinition") {
            object.text("/spec/names/kind")
        } else if object.kind().is("apiregistration.k8s.io", "APIService") {
            object.text("/spec/version")
        } else {
            None
        };
        if let (Some(what), Some(group)) = (what, object.text("/spec/group")) {
            definitions.insert((group, what), at);
        }
    }
    definitions
}

fn definition(object: &Object, at: usize, definitions: &Definitions<'_>) -> Option<Edge> {
    let kind = object.kind();
    let by_kind = definitions.get(&(kind.group.as_str(), kind.kind.as_str()));
    let by = by_kind.or_else(|| definitions.get(&(kind.group.as_str(), kind.version.as_str())))?;
    Some(Edge::hard(*by, at, Need::Ready))
}

/// The bindings of each service account, by namespace and name.
type Rights<'a> = HashMap<(&'a str, &'a str), Vec<usize>>;

fn rights(objects: &[Object]) -> Rights<'_> {
    let mut rights = Rights::new();
    for (at, object) in objects.iter().enumerate() {
        for account in references::accounts(object) {
            rights.entry(account).or_default().push(at);
        }
    }
    rights
}

/// What holds for all pods of a namespace, by its name.
type Constraints<'a> = HashMap<&'a str, Vec<usize>>;

fn constraints(objects: &[Object]) -> Constraints<'_> {
    let mut constraints = Constraints::new();
    for (at, object) in objects.iter().enumerate() {
        let kind = object.kind();
        let holds = kind.is("", "ResourceQuota")
            || kind.is("", "LimitRange")
            || kind.is("networking.k8s.io", "NetworkPolicy");
        if let (true, Some(namespace)) = (holds, object.id().namespace.as_deref()) {
            constraints.entry(namespace).or_default().push(at);
        }
    }
    constraints
}

fn pods<'a>(
    object: &'a Object,
    rights: &'a Rights<'_>,
    constraints: &'a Constraints<'_>,
) -> impl Iterator<Item = usize> + 'a {
    let namespace = object.id().namespace.as_deref().unwrap_or_default();
    let account = (namespace, pod_references::account(object));
    let bound = rights.get(&account).into_iter().flatten();
    bound.chain(constraints.get(namespace).into_iter().flatten()).copied()
}

/// What stands in the way of requests comes after all that it could stop.
fn interceptors_last(objects: &[Object]) -> Vec<Edge> {
    let intercepts = |object: &Object| object.kind().group == "admissionregistration.k8s.io";
    let (last, first): (Vec<usize>, Vec<usize>) =
        (0..objects.len()).partition(|at| intercepts(&objects[*at]));
    let pairs = last.iter().flat_map(|after| first.iter().map(|before| (*before, *after)));
    pairs.map(|(before, after)| Edge::soft(before, after)).collect()
}
