//! Secrets are sent as they are kept.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::Object;

/// Writes the `stringData` of a Secret into its `data`, as the API does.
///
/// Sent as it is, the API would note that we own `stringData`, which no object
/// has: what is no longer wished for would stay, and nobody's changes of `data`
/// would be a conflict.
pub(super) fn as_kept(object: Object) -> Object {
    let Some(encoded) = encoded(&object) else { return object };
    let mut body = object.body().clone();
    if let Some(fields) = body.as_object_mut() {
        fields.remove("stringData");
        if let Value::Object(data) = fields.entry("data").or_insert_with(|| Map::new().into()) {
            data.extend(encoded);
        }
    }
    object.with_body(body)
}

/// Returns the texts of a Secret in base64; none where something is no text,
/// which the API shall refuse itself.
fn encoded(object: &Object) -> Option<Vec<(String, Value)>> {
    if !object.kind().is("", "Secret") || object.at("/data").is_some_and(|it| !it.is_object()) {
        return None;
    }
    let texts = object.at("/stringData")?.as_object()?;
    let encode = |(key, text): (&String, &Value)| {
        Some((key.clone(), STANDARD.encode(text.as_str()?).into()))
    };
    texts.iter().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(fields: &Value) -> Value {
        let mut body = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" } });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let body = as_kept(Object::new(body).unwrap()).into_body();
        json!({ "data": body["data"], "stringData": body["stringData"] })
    }

    #[test]
    fn texts_win_over_data_and_what_is_no_text_is_left_to_the_api() {
        let both = json!({ "data": { "a": "eA==", "b": "eA==" }, "stringData": { "a": "y" } });
        let data = json!({ "a": "eQ==", "b": "eA==" });
        assert_eq!(sent(&both), json!({ "data": data, "stringData": null }));
        let only = json!({ "stringData": { "a": "" } });
        assert_eq!(sent(&only), json!({ "data": { "a": "" }, "stringData": null }));
        for wrong in [json!({ "stringData": { "a": 1 } }), json!({ "stringData": "a" })] {
            assert_eq!(sent(&wrong)["stringData"], wrong["stringData"]);
        }
    }
}
