//! From a sealed object to the Secret that it describes.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use rsa::Oaep;
use rsa::sha2::Sha256;
use serde_json::{Value, json};

use super::keys::SealingKey;
use crate::kube::object::{name, namespace, pairs, uid};

/// Opens all values of an object; says what is wrong as the controller does,
/// with the values that it concerns.
pub(super) fn secret(sealed: &Value, keys: &[SealingKey]) -> Result<Value, String> {
    let (spec, label) = (&sealed["spec"], label(sealed));
    let template = &spec["template"];
    if template["data"].is_object() {
        return Err("templates of values are not simulated".to_owned());
    }
    let (mut data, mut closed) = (json!({}), Vec::new());
    for (key, value) in pairs(&spec["encryptedData"]) {
        match BASE64_STANDARD.decode(value).ok().and_then(|bytes| open(&bytes, &label, keys)) {
            Some(plain) => data[key] = json!(BASE64_STANDARD.encode(plain)),
            None => closed.push(key),
        }
    }
    if !closed.is_empty() {
        return Err(format!("no key could decrypt secret ({})", closed.join(", ")));
    }
    let mut metadata = json!({
        "name": name(sealed), "namespace": namespace(sealed),
        "ownerReferences": [{ "apiVersion": "bitnami.com/v1alpha1", "kind": "SealedSecret",
            "name": name(sealed), "uid": uid(sealed), "controller": true }],
    });
    for field in ["labels", "annotations"] {
        if template["metadata"][field].is_object() {
            metadata[field] = template["metadata"][field].clone();
        }
    }
    let kind = template["type"].as_str().unwrap_or("Opaque");
    Ok(
        json!({ "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind, "data": data }),
    )
}

/// The label binds a value to where it may be opened.
fn label(sealed: &Value) -> String {
    let marked = |scope: &str| {
        let mark = format!("sealedsecrets.bitnami.com/{scope}");
        sealed["metadata"]["annotations"][mark] == "true"
    };
    if marked("cluster-wide") {
        String::new()
    } else if marked("namespace-wide") {
        namespace(sealed).to_owned()
    } else {
        format!("{}/{}", namespace(sealed), name(sealed))
    }
}

/// Opens a value with whatever key does: two bytes of length, the session key
/// wrapped under the label, the value under the session key.
fn open(sealed: &[u8], label: &str, keys: &[SealingKey]) -> Option<Vec<u8>> {
    let (length, rest) = sealed.split_first_chunk::<2>()?;
    let (wrapped, value) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    let unwrap = |key: &SealingKey| {
        key.private.decrypt(Oaep::new_with_label::<Sha256, _>(label), wrapped).ok()
    };
    let session = keys.iter().find_map(unwrap)?;
    let session = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &session).ok()?);
    let (nonce, mut value) = (Nonce::assume_unique_for_key([0; 12]), value.to_vec());
    Some(session.open_in_place(nonce, Aad::empty(), &mut value).ok()?.to_vec())
}
