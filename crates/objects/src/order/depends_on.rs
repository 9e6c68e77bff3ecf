//! What a manifest says itself about its order.

use super::{OrderProblem, Place, Places};
use crate::Object;

/// The annotation by which an object waits until others are ready. It holds
/// references with commas between them: `apps/namespaces/shop/Deployment/db`,
/// or `/Namespace/shop` for what is in no namespace and of the core group.
pub const DEPENDS_ON: &str = "config.kubernetes.io/depends-on";

/// Returns the places that an object names.
pub(super) fn of(object: &Object, places: &Places<'_>) -> Result<Vec<usize>, OrderProblem> {
    let annotations = object.at("/metadata/annotations");
    let text = annotations.and_then(|all| all.get(DEPENDS_ON)?.as_str()).unwrap_or_default();
    let references = text.split(',').map(str::trim).filter(|reference| !reference.is_empty());
    let find = |reference: &str| {
        let (object, reference) = (Box::new(object.id().clone()), reference.to_owned());
        match read(&reference).map(|place| places.get(&place)) {
            Some(Some(at)) => Ok(*at),
            Some(None) => Err(OrderProblem::Missing { object, reference }),
            None => Err(OrderProblem::Unreadable { object, reference }),
        }
    };
    references.map(find).collect()
}

fn read(reference: &str) -> Option<Place<'_>> {
    let parts: Vec<&str> = reference.split('/').collect();
    let (group, namespace, kind, name) = match parts[..] {
        [group, kind, name] => (group, None, kind, name),
        [group, "namespaces", namespace, kind, name] => (group, Some(namespace), kind, name),
        _ => return None,
    };
    let named = !kind.is_empty() && !name.is_empty() && namespace != Some("");
    named.then_some(Place { group, kind, namespace, name })
}
