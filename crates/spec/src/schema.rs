//! The JSON Schema of the cluster file, for editors.
//!
//! It is written from the descriptions that the decoder reads by, so it cannot
//! offer a key that is refused or miss one that is taken.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::cluster::ROOT;
use crate::read::{Field, Kind, Pick, Shape};
use crate::scalar::{Format, Json};

/// Returns the schema (draft 2020-12).
pub fn json_schema() -> Value {
    let mut definitions = BTreeMap::new();
    let root = mapping(&ROOT, &mut definitions);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://seaworthy.dev/schema/v1/cluster.json",
        "title": "seaworthy cluster file",
    });
    if let (Value::Object(schema), Value::Object(root)) = (&mut schema, root) {
        schema.extend(root);
        schema.insert("$defs".to_owned(), definitions.into_iter().collect());
    }
    schema
}

type Definitions = BTreeMap<String, Value>;

fn mapping(shape: &'static Shape, definitions: &mut Definitions) -> Value {
    let properties: Map<String, Value> =
        shape.fields().map(|field| (field.key.to_owned(), property(field, definitions))).collect();
    let required: Vec<&str> =
        shape.fields().filter(|field| field.required).map(|field| field.key).collect();
    let mut schema = json!({
        "type": "object",
        "description": shape.doc,
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if shape.pick == Pick::One {
        schema["minProperties"] = json!(1);
        schema["maxProperties"] = json!(1);
    }
    schema
}

fn property(field: &'static Field, definitions: &mut Definitions) -> Value {
    let mut schema = match field.kind {
        Kind::Scalar(format) => scalar(format),
        Kind::Scalars(format) => json!({ "type": "array", "items": scalar(format) }),
        Kind::Map(shape) => reference(shape, definitions),
        Kind::Maps(shape) => json!({ "type": "array", "items": reference(shape, definitions) }),
        Kind::Table { keys, values } => {
            json!({ "type": "object", "propertyNames": name(keys), "additionalProperties": scalar(values) })
        }
        Kind::TableOfMaps { keys, values } => json!({
            "type": "object",
            "propertyNames": name(keys),
            "additionalProperties": reference(values, definitions),
        }),
        Kind::Free => json!({ "type": "object" }),
    };
    schema["description"] = json!(field.doc);
    schema
}

fn reference(shape: &'static Shape, definitions: &mut Definitions) -> Value {
    if !definitions.contains_key(shape.name) {
        // Entered first, so that a shape that holds itself would end too.
        definitions.insert(shape.name.to_owned(), Value::Null);
        let schema = mapping(shape, definitions);
        definitions.insert(shape.name.to_owned(), schema);
    }
    json!({ "$ref": format!("#/$defs/{}", shape.name) })
}

fn scalar(format: Format) -> Value {
    match format.json {
        Json::Text { pattern } => json!({ "type": "string", "pattern": pattern }),
        Json::Words(words) => json!({ "type": "string", "enum": words }),
        Json::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Json::Number => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Json::Boolean => json!({ "type": "boolean" }),
    }
}

/// A key is always text; its type need not be said.
fn name(format: Format) -> Value {
    let mut schema = scalar(format);
    if let Value::Object(schema) = &mut schema {
        schema.remove("type");
    }
    schema
}
