//! Where the objects of a set are.

use std::collections::HashMap;

use super::pace::{Hope, Pace};
use super::secret;
use crate::{ApiError, Cluster, Kind, Object, Trouble};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Namespace,
    Cluster,
    /// Nobody serves it, and nothing in the set defines it.
    Unknown,
}

/// Puts objects that say no namespace into `namespace`, where their kind is in
/// namespaces at all, and takes the others out of theirs. Secrets get the form
/// in which they are kept.
pub(super) async fn place(
    cluster: &Cluster,
    pace: &Pace,
    objects: Vec<Object>,
    namespace: &str,
) -> Result<Vec<Object>, ApiError> {
    let mut reaches = defined(&objects);
    for object in &objects {
        let kind = object.kind();
        if !reaches.contains_key(kind) {
            reaches.insert(kind.clone(), reach(cluster, pace, kind).await?);
        }
    }
    let put = |object: Object| match reaches.get(object.kind()) {
        Some(Reach::Namespace) => object.or_in(namespace),
        Some(Reach::Cluster) => object.in_no_namespace(),
        Some(Reach::Unknown) | None => object,
    };
    Ok(objects.into_iter().map(put).map(secret::as_kept).collect())
}

async fn reach(cluster: &Cluster, pace: &Pace, kind: &Kind) -> Result<Reach, ApiError> {
    let mut tries = pace.tries(Hope::Usual);
    loop {
        tries.turn().await;
        match cluster.resource(kind).await {
            Ok(resource) if resource.namespaced => return Ok(Reach::Namespace),
            Ok(_) => return Ok(Reach::Cluster),
            Err(error) if matches!(error.trouble(), Trouble::KindMissing { .. }) => {
                return Ok(Reach::Unknown);
            }
            Err(error) => tries.again(error).await?,
        }
    }
}

/// Kinds that the set itself defines.
fn defined(objects: &[Object]) -> HashMap<Kind, Reach> {
    let definitions = objects
        .iter()
        .filter(|object| object.kind().is("apiextensions.k8s.io", "CustomResourceDefinition"));
    let kinds = definitions.flat_map(|definition| {
        let reach = match definition.text("/spec/scope") {
            Some("Cluster") => Reach::Cluster,
            _ => Reach::Namespace,
        };
        let versions = definition.items("/spec/versions").iter();
        versions.filter_map(move |version| {
            let group = definition.text("/spec/group")?.to_owned();
            let kind = definition.text("/spec/names/kind")?.to_owned();
            let version = version["name"].as_str()?.to_owned();
            Some((Kind { group, version, kind }, reach))
        })
    });
    kinds.collect()
}
