//! Removing what keeps an object, against whoever put it there.

use events::{Call, CallClass, Permit};
use http::Method;
use serde_json::{Value, json};

use super::{Doomed, Finalizer};
use crate::cluster::object_of;
use crate::request::Ask;
use crate::{ApiError, Cluster, Object, Trouble};

/// One request that removes all finalizers of an object as it was seen, and of
/// no other state or life of it. Whoever put them there does not clear up then.
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    doomed: Doomed,
    resource_version: String,
    finalizers: Vec<String>,
    /// The namespace without its own finalizers, which have a door of their own.
    finalize: Option<Value>,
}

/// Whether what holds others may be forced, a namespace or a definition: what
/// is left in it, or of it, stays in the database, out of everybody's reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceHolders {
    /// They may not.
    Refuse,
    /// They may, and whoever says so knows what it means.
    LoseTheirContent,
}

/// Why an object is not forced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotForced {
    /// It holds others, and that was not allowed.
    #[error("{0} is not forced: what is left of its objects would stay in the database for ever")]
    Holder(String),
    /// Nobody has deleted it.
    #[error("{0} is not marked for deletion; delete it first")]
    NotMarked(String),
    /// Nothing keeps it.
    #[error("{0} has no finalizers")]
    NoFinalizers(String),
    /// It does not come from the API.
    #[error("{0} has no uid or no resourceVersion")]
    Unseen(String),
}

impl Force {
    /// Says what to remove from an object as it was just seen. A namespace
    /// with finalizers of both kinds takes two.
    pub fn plan(seen: &Object, holders: ForceHolders) -> Result<Self, NotForced> {
        let name = seen.id().to_string();
        let is_namespace = seen.kind().is("", "Namespace");
        if (is_namespace || has_instances(seen)) && holders == ForceHolders::Refuse {
            return Err(NotForced::Holder(name));
        }
        if seen.text("/metadata/deletionTimestamp").is_none() {
            return Err(NotForced::NotMarked(name));
        }
        let version = seen.version().ok_or_else(|| NotForced::Unseen(name.clone()))?;
        let metadata: Vec<String> = seen.finalizers().into_iter().map(str::to_owned).collect();
        let finalize = (is_namespace && metadata.is_empty()).then(|| without_finalizers(seen));
        let all = Finalizer::all_of(seen).into_iter().map(|one| one.name);
        let finalizers = if finalize.is_some() { all.collect() } else { metadata };
        if finalizers.is_empty() {
            return Err(NotForced::NoFinalizers(name));
        }
        let doomed = Doomed { id: seen.id().clone(), uid: version.uid };
        Ok(Self { doomed, resource_version: version.resource_version, finalizers, finalize })
    }

    /// Returns the finalizers that it removes.
    pub fn finalizers(&self) -> &[String] {
        &self.finalizers
    }

    /// Returns the call that it makes, for its intent.
    pub fn call(&self) -> Call {
        let name = self.doomed.id.to_string();
        let what = format!("{} {}", self.doomed.uid, self.resource_version);
        Call::new(CallClass::Idempotent, "force", name, what.as_bytes())
    }

    fn patch(&self) -> Value {
        json!([
            { "op": "test", "path": "/metadata/uid", "value": self.doomed.uid },
            { "op": "test", "path": "/metadata/resourceVersion", "value": self.resource_version },
            { "op": "remove", "path": "/metadata/finalizers" },
        ])
    }
}

/// Kubernetes keeps a definition until the last object of its kind is gone.
fn has_instances(seen: &Object) -> bool {
    seen.kind().is("apiextensions.k8s.io", "CustomResourceDefinition")
        && seen.finalizers().contains(&Finalizer::OF_INSTANCES)
}

fn without_finalizers(namespace: &Object) -> Value {
    let mut body = namespace.body().clone();
    body["spec"]["finalizers"] = json!([]);
    body
}

impl Cluster {
    /// Removes finalizers. Uses up the permit whatever comes of it. Where the
    /// object has changed since it was seen, it is left alone, and the error
    /// is of the class `Conflict`.
    pub async fn force(&self, _permit: Permit, force: &Force) -> Result<Object, ApiError> {
        let id = &force.doomed.id;
        let tried = format!("remove the finalizers of {id}");
        let path = self.resource(&id.kind).await?.path_of(self, id);
        let ask = match &force.finalize {
            None => Ask::new(Method::PATCH, path, &tried)
                .sending("application/json-patch+json", force.patch().to_string()),
            Some(body) => Ask::new(Method::PUT, format!("{path}/finalize"), &tried)
                .sending("application/json", body.to_string()),
        };
        match self.send(ask).await {
            Ok(answer) => object_of(&tried, &id.kind, answer.json(&tried)?),
            Err(error) => Err(changed(&tried, error.about(id))),
        }
    }
}

/// A test that fails is an invalid patch to the API.
fn changed(tried: &str, error: ApiError) -> ApiError {
    match error.trouble() {
        Trouble::Invalid(_) | Trouble::Refused { code: 422, .. } => {
            let message = "it has changed since it was looked at".to_owned();
            ApiError::new(tried, Trouble::Changed(message))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(kind: &str, marked: bool, finalizers: &Value) -> Object {
        let mut body = json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": "a",
            "uid": "u", "resourceVersion": "7", "finalizers": finalizers } });
        if marked {
            body["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        }
        if kind == "Namespace" {
            body["spec"]["finalizers"] = json!(["kubernetes"]);
        }
        Object::new(body).unwrap()
    }

    #[test]
    fn only_what_is_marked_and_kept_is_forced() {
        let plan = |object: &Object| Force::plan(object, ForceHolders::Refuse);
        let held = plan(&seen("ConfigMap", true, &json!(["x.io/a"]))).unwrap();
        assert_eq!(held.finalizers(), ["x.io/a"]);
        assert_eq!(held.patch()[1]["value"], "7");
        let error = plan(&seen("ConfigMap", false, &json!(["x.io/a"]))).unwrap_err();
        assert_eq!(error, NotForced::NotMarked("configmap/a".to_owned()));
        let error = plan(&seen("ConfigMap", true, &json!([]))).unwrap_err();
        assert_eq!(error, NotForced::NoFinalizers("configmap/a".to_owned()));
    }

    #[test]
    fn a_namespace_is_only_forced_when_told_twice() {
        let namespace = seen("Namespace", true, &json!(null));
        let refused = Force::plan(&namespace, ForceHolders::Refuse).unwrap_err();
        assert_eq!(refused, NotForced::Holder("namespace/a".to_owned()));
        let forced = Force::plan(&namespace, ForceHolders::LoseTheirContent).unwrap();
        assert_eq!(forced.finalizers(), ["kubernetes"]);
        assert_eq!(forced.finalize.unwrap()["spec"]["finalizers"], json!([]));
        let both = seen("Namespace", true, &json!(["x.io/a"]));
        let forced = Force::plan(&both, ForceHolders::LoseTheirContent).unwrap();
        assert_eq!((forced.finalizers().len(), forced.finalize), (1, None));
    }
}
