//! What is left in a namespace.

use std::fmt;

use futures::{FutureExt, StreamExt};
use serde_json::Value;

use crate::request::Ask;
use crate::{ApiError, Cluster, Resource};

/// So many kinds are asked for at once, and so many objects of each are named.
const AT_ONCE: usize = 16;
const NAMED: &str = "5";

const METADATA: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// Something that is left in a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// What it is, such as `configmap/a`; where it is no single object, so many of a kind.
    pub what: String,
    /// What keeps it.
    pub finalizers: Vec<String>,
}

impl Leftover {
    pub(super) fn some(what: String) -> Self {
        Self { what, finalizers: Vec::new() }
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.finalizers[..] {
            [] => write!(f, "{} is left in it", self.what),
            kept => write!(f, "{}, kept by {}, is left in it", self.what, kept.join(" and ")),
        }
    }
}

impl Cluster {
    /// Returns what is left in a namespace, a few objects of every kind, those
    /// that finalizers keep first. Kinds that do not answer are named too.
    pub(super) async fn content_of(&self, namespace: &str) -> Result<Vec<Leftover>, ApiError> {
        let resources = self.namespaced_resources().await?;
        let lists = resources.into_iter().filter(|one| one.plural != "events").map(|resource| {
            let (cluster, namespace) = (self.clone(), namespace.to_owned());
            let list = async move { cluster.content_or_error(&resource, &namespace).await };
            list.boxed()
        });
        let found: Vec<Vec<Leftover>> =
            futures::stream::iter(lists).buffered(AT_ONCE).collect().await;
        let mut found: Vec<Leftover> = found.into_iter().flatten().collect();
        found.sort_by_key(|one| one.finalizers.is_empty());
        Ok(found)
    }

    async fn content_or_error(&self, resource: &Resource, namespace: &str) -> Vec<Leftover> {
        match self.content_of_kind(resource, namespace).await {
            Ok(content) => content,
            Err(error) => {
                vec![Leftover::some(format!("{} of unknown number ({error})", resource.kind))]
            }
        }
    }

    async fn content_of_kind(
        &self,
        resource: &Resource,
        namespace: &str,
    ) -> Result<Vec<Leftover>, ApiError> {
        let tried = format!("list {} in namespace {namespace}", resource.kind);
        let ask = Ask::get(resource.path(Some(namespace)), &tried).with("limit", NAMED);
        let list: Value = self.send(ask.accepting(METADATA)).await?.json(&tried)?;
        let items = list["items"].as_array().map_or(&[][..], Vec::as_slice);
        let mut left: Vec<Leftover> = items.iter().map(|item| leftover(resource, item)).collect();
        if let Some(more) = list["metadata"]["remainingItemCount"].as_u64() {
            left.push(Leftover::some(format!("{more} more {}", resource.plural)));
        }
        Ok(left)
    }
}

fn leftover(resource: &Resource, item: &Value) -> Leftover {
    let metadata = &item["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    let finalizers = metadata["finalizers"].as_array().into_iter().flatten();
    let finalizers = finalizers.filter_map(Value::as_str).map(str::to_owned).collect();
    Leftover { what: format!("{}/{name}", resource.kind), finalizers }
}
