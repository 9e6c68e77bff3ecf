//! Values that nobody should see.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Serialize;
use serde_json::Value;
use sha2::Sha256;

use crate::Kind;
use crate::fields::{FieldPath, Step};

/// Where `kubectl apply` keeps a whole copy of the object.
const COPY: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Hides the values of Secrets behind marks: equal values have equal marks, so
/// that a change can be seen, and nothing else can.
///
/// A mark is a keyed hash (HMAC-SHA-256, cut to 48 bits). With a plain hash,
/// everybody who sees a diff in a log could try passwords until one fits. Marks
/// under the same key can be compared, so it is kept as a secret is, or made
/// anew each time. The length of a value is not shown either.
pub struct Veil {
    key: [u8; 32],
}

/// A value as it may be seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shown {
    /// The value.
    Value(Value),
    /// The mark of a hidden value, such as `3f9a1c2b4d5e`.
    Hidden(String),
    /// Items of a list by name, in the order in which they stand.
    Order(Vec<String>),
}

impl Veil {
    /// A veil with a key that was made by chance.
    pub const fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// Returns a value of an object of this kind as it may be seen.
    pub fn show(&self, kind: &Kind, path: &FieldPath, value: &Value) -> Shown {
        if !kind.is("", "Secret") || !is_secret(path) {
            return Shown::Value(value.clone());
        }
        Shown::Hidden(self.mark(&content(path, value)))
    }

    fn mark(&self, bytes: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes any key");
        mac.update(bytes);
        let bytes = mac.finalize().into_bytes();
        bytes.iter().take(6).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
    }
}

fn is_secret(path: &FieldPath) -> bool {
    let field = |index: usize| match path.steps().get(index) {
        Some(Step::Field(name)) => Some(&**name),
        _ => None,
    };
    match field(0) {
        Some("data" | "stringData") | None => true,
        Some("metadata") => {
            field(1) == Some("annotations") && matches!(field(2), Some(COPY) | None)
        }
        Some(_) => false,
    }
}

/// `data` has in base64 what `stringData` has as text: equal secrets get equal
/// marks in both.
fn content(path: &FieldPath, value: &Value) -> Vec<u8> {
    let in_data = path.steps().first() == Some(&Step::field("data"));
    match value {
        Value::String(text) if in_data => {
            STANDARD.decode(text).unwrap_or_else(|_| text.clone().into_bytes())
        }
        Value::String(text) => text.clone().into_bytes(),
        other => other.to_string().into_bytes(),
    }
}

impl fmt::Debug for Veil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Veil")
    }
}
