//! Which scopes to look at, so that few watches see many objects.

use std::collections::BTreeMap;

use crate::{Kind, ObjectId, Scope};

/// From so many namespaces on, one watch over all of them is cheaper for the
/// API than one for each.
const NAMESPACES: usize = 8;

/// A scope, and which of the objects are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) scope: Scope,
    pub(crate) ids: Vec<ObjectId>,
}

/// Spreads objects over as few scopes as possible. Those that say no namespace
/// are looked for in the default one; for a kind of the whole cluster that
/// makes no difference.
pub(crate) fn spread(ids: &[ObjectId], default: &str) -> Vec<Place> {
    let mut kinds: BTreeMap<&Kind, BTreeMap<&str, Vec<ObjectId>>> = BTreeMap::new();
    for id in ids {
        let namespace = id.namespace.as_deref().unwrap_or(default);
        kinds.entry(&id.kind).or_default().entry(namespace).or_default().push(id.clone());
    }
    kinds.into_iter().flat_map(|(kind, namespaces)| of_kind(kind, namespaces)).collect()
}

fn of_kind(kind: &Kind, namespaces: BTreeMap<&str, Vec<ObjectId>>) -> Vec<Place> {
    let all = Scope::all(kind.clone());
    if namespaces.len() > NAMESPACES {
        let ids = namespaces.into_values().flatten().collect();
        return vec![Place { scope: all, ids }];
    }
    let places = namespaces.into_iter().map(|(namespace, ids)| {
        let scope = all.clone().within(namespace);
        match &ids[..] {
            [only] => Place { scope: scope.named(&only.name), ids },
            _ => Place { scope, ids },
        }
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(ids: &[ObjectId]) -> Vec<(String, usize)> {
        let places = spread(ids, "default");
        places.iter().map(|place| (place.scope.to_string(), place.ids.len())).collect()
    }

    #[test]
    fn few_watches_see_many_objects() {
        let kind = Kind::new("v1", "ConfigMap").unwrap();
        let map = |namespace: Option<&str>, name: &str| kind.named(namespace, name);
        let node = Kind::new("v1", "Node").unwrap().named(None, "n");
        assert_eq!(
            shown(&[map(Some("a"), "x"), map(Some("b"), "y"), map(Some("b"), "z"), node]),
            [
                ("configmap in namespace a with metadata.name=x".to_owned(), 1),
                ("configmap in namespace b".to_owned(), 2),
                ("node in namespace default with metadata.name=n".to_owned(), 1),
            ]
        );
        assert_eq!(
            shown(&[map(None, "x"), map(Some("default"), "y")]),
            [("configmap in namespace default".to_owned(), 2)]
        );
        let many: Vec<ObjectId> =
            (0..9).map(|index| map(Some(format!("n{index}").as_str()), "x")).collect();
        assert_eq!(shown(&many), [("configmap".to_owned(), 9)]);
    }
}
