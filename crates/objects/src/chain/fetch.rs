//! Fetches what an explanation needs, and no more.

use serde_json::Value;

use super::{Chain, Link, Surroundings, explain, path};
use crate::{ApiError, Cluster, Kind, Object, ObjectId, Scope};

impl Cluster {
    /// Explains why an object is not ready; an empty chain where it is.
    pub async fn why(&self, id: &ObjectId) -> Result<Chain, ApiError> {
        if let Some(root) = self.get(id).await? {
            return self.why_of(&root).await;
        }
        let link = Link { who: id.to_string(), says: "it is not there".to_owned() };
        Ok(Chain { links: vec![link] })
    }

    /// Explains why an object that was just fetched is not ready.
    pub async fn why_of(&self, root: &Object) -> Result<Chain, ApiError> {
        let mut around = Surroundings::default();
        if let (Some(selector), Some(namespace)) = (selector(root), &root.id().namespace) {
            let scope = |api_version, kind| {
                let kind = Kind::new(api_version, kind).expect("a constant apiVersion is one");
                Scope::all(kind).within(namespace).labelled(&selector)
            };
            if root.kind().is("apps", "Deployment") {
                around.replica_sets = self.list(&scope("apps/v1", "ReplicaSet")).await?.objects;
            }
            around.pods = self.list(&scope("v1", "Pod")).await?.objects;
        }
        let mut events = Vec::new();
        for object in path(root, &around) {
            events.extend(self.events_about(object).await?);
        }
        around.events = events;
        Ok(explain(root, &around))
    }

    async fn events_about(&self, object: &Object) -> Result<Vec<Object>, ApiError> {
        let Some(uid) = object.uid() else { return Ok(Vec::new()) };
        let kind = Kind::new("v1", "Event").expect("a constant apiVersion is one");
        // Events about what is in no namespace are in the default one.
        let namespace = object.id().namespace.as_deref().unwrap_or("default");
        let scope = Scope::all(kind).within(namespace);
        Ok(self.list(&scope.with_fields(format!("involvedObject.uid={uid}"))).await?.objects)
    }
}

/// Returns the selector of a workload, in the form of a query.
fn selector(root: &Object) -> Option<String> {
    let labels = root.at("/spec/selector/matchLabels").and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)));
    let expressions = root.items("/spec/selector/matchExpressions").iter().filter_map(expression);
    let parts: Vec<String> = labels.chain(expressions).collect();
    (!parts.is_empty()).then(|| parts.join(","))
}

fn expression(one: &Value) -> Option<String> {
    let key = one["key"].as_str()?;
    let values = one["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let values = values.collect::<Vec<_>>().join(",");
    match one["operator"].as_str()? {
        "In" => Some(format!("{key} in ({values})")),
        "NotIn" => Some(format!("{key} notin ({values})")),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::manifest;

    #[test]
    fn selectors_become_queries() {
        let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector:\n\
            \x20   matchLabels: {app: web}\n    matchExpressions:\n\
            \x20   - {key: tier, operator: In, values: [a, b]}\n\
            \x20   - {key: x, operator: NotIn, values: [c]}\n\
            \x20   - {key: ready, operator: Exists}\n    - {key: z, operator: DoesNotExist}\n";
        let web = manifest::read("a", text.as_bytes()).unwrap().remove(0);
        let query = super::selector(&web).unwrap();
        assert_eq!(query, "app=web,tier in (a,b),x notin (c),ready,!z");
    }
}
