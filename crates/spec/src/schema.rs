//! The JSON Schema of the cluster file, for editors.
//!
//! It is written from the descriptions that the decoder reads by, so it cannot
//! offer a key that is refused or miss one that is taken. Keys that are not
//! supported yet are left out rather than marked: editors complete marked keys too.

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
        shape.usable().map(|field| (field.key.to_owned(), property(field, definitions))).collect();
    let required: Vec<&str> =
        shape.usable().filter(|field| field.required).map(|field| field.key).collect();
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
        Kind::FreeOrList => json!({ "type": ["object", "array"], "items": { "type": "object" } }),
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

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;
    use crate::cluster::{AddonName, PatchTarget, PortRange};
    use crate::plan::Stage;
    use crate::scalar::*;

    /// What the decoder takes, an editor must not underline.
    fn agrees<T: Scalar>(text: &str) {
        let schema = scalar(T::FORMAT);
        let value = match T::FORMAT.json {
            Json::Integer { .. } | Json::Number | Json::Boolean => {
                serde_json::from_str(text).unwrap_or(Value::Null)
            }
            Json::Text { .. } | Json::Words(_) => json!(text),
        };
        if T::read(text).is_ok() {
            assert!(
                jsonschema::is_valid(&schema, &value),
                "{text:?} is {} for the decoder only",
                T::FORMAT.name
            );
        }
    }

    fn all_agree(text: &str) {
        agrees::<ClusterName>(text);
        agrees::<PoolName>(text);
        agrees::<ResourceName>(text);
        agrees::<DnsName>(text);
        agrees::<RegistryHost>(text);
        agrees::<Version>(text);
        agrees::<Duration>(text);
        agrees::<Cidr>(text);
        agrees::<Ipv4Addr>(text);
        agrees::<SourceRange>(text);
        agrees::<Mac>(text);
        agrees::<Bytes>(text);
        agrees::<Euro>(text);
        agrees::<Within<1, 4094>>(text);
        agrees::<LabelKey>(text);
        agrees::<LabelValue>(text);
        agrees::<Taint>(text);
        agrees::<ServerType>(text);
        agrees::<Location>(text);
        agrees::<Extension>(text);
        agrees::<FilePath>(text);
        agrees::<Text>(text);
        agrees::<GitUrl>(text);
        agrees::<HttpsUrl>(text);
        agrees::<ServiceUrl>(text);
        agrees::<HttpUrl>(text);
        agrees::<PortRange>(text);
        agrees::<PatchTarget>(text);
        agrees::<AddonName>(text);
        agrees::<Stage>(text);
        agrees::<bool>(text);
    }

    #[test]
    fn good_values_are_good_for_editors_too() {
        for text in [
            "demo",
            "api.example.com",
            "v1.14.0-rc.1+build.5",
            "1h30m",
            "10.0.0.0/16",
            "10.0.0.1",
            "my-ip",
            "fd00::/8",
            "BC:24:11:2e:c5:01",
            "8Gi",
            "60",
            "59.90",
            "example.com/team",
            "",
            "dedicated=gpu:NoSchedule",
            "gpu:NoExecute",
            "cax11",
            "fsn1",
            "siderolabs/qemu-guest-agent",
            "a b/c.yaml",
            "ssh://git@example.com:22/fleet",
            "https://example.com/a#b",
            "http://mirror.example.com",
            "30000-32767",
            "all-workers",
            "cilium",
            "cni",
            "true",
        ] {
            all_agree(text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_decoder_never_takes_what_the_schema_refuses(
            text in "(ssh://|https?://)?[a-zA-Z0-9]{0,4}[-a-z0-9.:/_=+ @]{0,8}[a-z0-9]{0,3}(Gi|m|:NoSchedule|/24)?"
        ) {
            all_agree(&text);
        }
    }
}
