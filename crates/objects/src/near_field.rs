//! The field that was meant, for one that a kind has not.
//!
//! The API's schemas are asked for only when it has refused a field. Those of a
//! group have a megabyte or two, so only what was found in them is kept.

use std::collections::HashMap;

use serde_json::Value;
use tokio::sync::Mutex;

use crate::discovery::root;
use crate::fields::{FieldPath, Step};
use crate::request::Ask;
use crate::wait::nearest;
use crate::{ApiError, Cluster, Kind};

/// What was found, by kind and shape of the path. Many objects may have the same
/// slip at once; one asks, and what could not be asked is not asked again.
pub(crate) type NearFields = Mutex<HashMap<(Kind, String), Option<String>>>;

impl Cluster {
    /// Adds the nearest name to every field that the API does not know.
    pub(crate) async fn with_near_fields(&self, mut error: ApiError, kind: &Kind) -> ApiError {
        let unknown = error.unknown_fields().filter_map(|problem| problem.path.clone());
        let unknown: Vec<FieldPath> = unknown.collect();
        if unknown.is_empty() {
            return error;
        }
        let key = |path: &FieldPath| (kind.clone(), shape(path));
        let mut found = self.near_fields().lock().await;
        if !unknown.iter().all(|path| found.contains_key(&key(path))) {
            let document = self.schemas(kind).await.unwrap_or_default();
            found.extend(unknown.iter().map(|path| (key(path), near(&document, kind, path))));
        }
        for problem in error.unknown_fields() {
            let near = problem.path.as_ref().and_then(|path| found.get(&key(path))?.as_ref());
            if let Some(near) = near {
                problem.message = format!("{}, did you mean `{near}`?", problem.message);
            }
        }
        error
    }

    async fn schemas(&self, kind: &Kind) -> Result<Value, ApiError> {
        let path = format!("/openapi/v3{}", root(kind));
        let tried = format!("get the schemas of {} from {}", kind.api_version(), self.server());
        self.send(Ask::get(path, &tried)).await?.json(&tried)
    }
}

/// Returns a path without what differs from object to object.
fn shape(path: &FieldPath) -> String {
    let step = |step: &Step| match step {
        Step::Field(name) => format!(".{name}"),
        Step::Item(_) | Step::Value(_) | Step::Index(_) => "[]".to_owned(),
    };
    path.steps().iter().map(step).collect()
}

fn near(document: &Value, kind: &Kind, path: &FieldPath) -> Option<String> {
    let schemas = &document["components"]["schemas"];
    let root = schemas.as_object()?.values().find(|schema| is_of(schema, kind))?;
    let (Step::Field(name), above) = path.steps().split_last()? else { return None };
    let parent = above.iter().try_fold(root, |schema, step| below(schemas, schema, step))?;
    let names = parent["properties"].as_object()?.keys().map(String::as_str);
    nearest(name, names).map(str::to_owned)
}

fn is_of(schema: &Value, kind: &Kind) -> bool {
    let kinds = schema["x-kubernetes-group-version-kind"].as_array();
    kinds.into_iter().flatten().any(|one| {
        one["group"] == kind.group && one["version"] == kind.version && one["kind"] == kind.kind
    })
}

fn below<'a>(schemas: &'a Value, schema: &'a Value, step: &Step) -> Option<&'a Value> {
    let next = match step {
        Step::Field(name) => {
            schema["properties"].get(&**name).or_else(|| schema.get("additionalProperties"))
        }
        Step::Item(_) | Step::Value(_) | Step::Index(_) => schema.get("items"),
    };
    resolved(schemas, next?)
}

/// Follows a reference, which stands alone or, beside a default, in `allOf`.
fn resolved<'a>(schemas: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let reference = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref"));
    let Some(reference) = reference.and_then(Value::as_str) else { return Some(schema) };
    schemas.get(reference.strip_prefix("#/components/schemas/")?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_found_below_references_lists_and_maps() {
        let of = json!([{ "group": "example.com", "version": "v1", "kind": "Buoy" }]);
        let document = json!({ "components": { "schemas": {
            "Other": { "properties": { "lihgts": {} } },
            "Buoy": { "x-kubernetes-group-version-kind": of, "properties": {
                "spec": { "allOf": [{ "$ref": "#/components/schemas/Spec" }], "default": {} } } },
            "Spec": { "properties": {
                "lights": { "items": { "$ref": "#/components/schemas/Light" } },
                "chains": { "additionalProperties": { "properties": { "length": {} } } } } },
            "Light": { "properties": { "colour": {}, "range": {} } },
        } } });
        let kind = Kind::new("example.com/v1", "Buoy").unwrap();
        let table = [
            ("spce", Some("spec")),
            ("spec.lihgts", Some("lights")),
            ("spec.lights[3].color", Some("colour")),
            (r#"spec.lights[name="a"].rang"#, Some("range")),
            ("spec.chains.bow.lenght", Some("length")),
            ("spec.lights[0].xyzzyplugh", None),
            ("nowhere.color", None),
        ];
        for (told, wanted) in table {
            let path = FieldPath::told(told, None).unwrap();
            assert_eq!(near(&document, &kind, &path).as_deref(), wanted, "{told}");
        }
        assert_eq!(near(&Value::Null, &kind, &FieldPath::of_fields(["spce"])), None);
    }
}
