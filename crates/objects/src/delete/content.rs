//! What is left in a namespace.

use futures::{FutureExt, StreamExt};
use serde_json::Value;

use crate::request::Ask;
use crate::{ApiError, Cluster, Resource};

/// So many kinds are asked for at once, and so many objects of each are named.
const AT_ONCE: usize = 16;
const NAMED: &str = "5";

const METADATA: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

impl Cluster {
    /// Returns what is left in a namespace, a few objects of every kind, with
    /// their finalizers. Kinds that do not answer are named too.
    pub(super) async fn content_of(&self, namespace: &str) -> Result<Vec<String>, ApiError> {
        let resources = self.namespaced_resources().await?;
        let lists = resources.into_iter().filter(|one| one.plural != "events").map(|resource| {
            let (cluster, namespace) = (self.clone(), namespace.to_owned());
            let list = async move { cluster.content_or_error(&resource, &namespace).await };
            list.boxed()
        });
        let found: Vec<Vec<String>> =
            futures::stream::iter(lists).buffered(AT_ONCE).collect().await;
        Ok(found.into_iter().flatten().collect())
    }

    async fn content_or_error(&self, resource: &Resource, namespace: &str) -> Vec<String> {
        match self.content_of_kind(resource, namespace).await {
            Ok(content) => content,
            Err(error) => vec![format!("{} of unknown number ({error})", resource.kind)],
        }
    }

    async fn content_of_kind(
        &self,
        resource: &Resource,
        namespace: &str,
    ) -> Result<Vec<String>, ApiError> {
        let tried = format!("list {} in namespace {namespace}", resource.kind);
        let ask = Ask::get(resource.path(Some(namespace)), &tried).with("limit", NAMED);
        let list: Value = self.send(ask.accepting(METADATA)).await?.json(&tried)?;
        let items = list["items"].as_array().map_or(&[][..], Vec::as_slice);
        let mut lines: Vec<String> = items.iter().map(|item| line(resource, item)).collect();
        if let Some(more) = list["metadata"]["remainingItemCount"].as_u64() {
            lines.push(format!("{more} more {}", resource.plural));
        }
        Ok(lines)
    }
}

fn line(resource: &Resource, item: &Value) -> String {
    let metadata = &item["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    let finalizers = metadata["finalizers"].as_array().into_iter().flatten();
    let finalizers: Vec<&str> = finalizers.filter_map(Value::as_str).collect();
    match finalizers.len() {
        0 => format!("{}/{name}", resource.kind),
        _ => format!("{}/{name}, kept by {},", resource.kind, finalizers.join(" and ")),
    }
}
