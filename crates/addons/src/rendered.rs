//! What is delivered for an addon.

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use events::{Digest, Secret};
use serde_json::{Map, Value, json};

/// The annotation on every object that stands in for one of a real chart.
pub const STAND_IN: &str = "seaworthy.dev/stand-in";

/// The objects of an addon, ready to be delivered.
#[derive(Clone, Debug)]
pub struct Rendered {
    objects: Vec<Value>,
    secrets: Vec<SecretObject>,
    digest: Digest,
    origin: Origin,
}

/// Where objects come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From this crate: the names and shapes of the chart's objects, and little else.
    StandIn,
    /// From the addon's own chart.
    Chart,
}

/// A Secret for the cluster. Its values are in no digest and in no debug output.
#[derive(Clone, Debug)]
pub struct SecretObject {
    head: Value,
    values: Vec<(String, Secret)>,
}

// === impl Rendered ===

impl Rendered {
    /// Objects of a real chart.
    pub fn of_chart(objects: Vec<Value>) -> Self {
        Self::new(objects, Origin::Chart)
    }

    /// Objects of our own that stand in for a chart's, each marked as such.
    pub(crate) fn stand_in(mut objects: Vec<Value>) -> Self {
        for object in &mut objects {
            object["metadata"]["annotations"][STAND_IN] = json!("true");
        }
        Self::new(objects, Origin::StandIn)
    }

    fn new(objects: Vec<Value>, origin: Origin) -> Self {
        let digest = digest(&objects);
        Self { objects, secrets: Vec::new(), digest, origin }
    }

    /// Adds a Secret, which does not change the digest.
    #[must_use]
    pub fn with_secret(mut self, secret: SecretObject) -> Self {
        self.secrets.push(secret);
        self
    }

    /// Returns the objects, without the Secrets.
    pub fn objects(&self) -> &[Value] {
        &self.objects
    }

    /// Returns the Secrets.
    pub fn secrets(&self) -> &[SecretObject] {
        &self.secrets
    }

    /// Returns the digest of the objects; Secrets are not in it.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns where the objects come from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns whether the objects only stand in for a chart's.
    pub fn is_stand_in(&self) -> bool {
        self.origin == Origin::StandIn
    }
}

// === impl SecretObject ===

impl SecretObject {
    /// A Secret with the head of an object and values of text.
    pub fn new<'a>(head: Value, values: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let secret = |(key, value): (&str, &str)| (key.to_owned(), Secret::new(value));
        Self { head, values: values.into_iter().map(secret).collect() }
    }

    /// Returns the object without its values.
    pub fn head(&self) -> &Value {
        &self.head
    }

    /// Returns the values, so that they can be kept out of all output.
    pub fn values(&self) -> impl Iterator<Item = &Secret> {
        self.values.iter().map(|(_, value)| value)
    }

    /// Returns the whole object. Whoever calls this answers for where it goes.
    pub fn reveal(&self) -> Value {
        let encoded = self
            .values
            .iter()
            .map(|(key, value)| (key.clone(), Value::from(BASE64_STANDARD.encode(value.reveal()))));
        let mut whole = self.head.clone();
        whole["data"] = Value::Object(encoded.collect::<Map<_, _>>());
        whole
    }
}

/// Returns a digest that does not depend on the order of keys, which features
/// of the JSON library can change.
fn digest(objects: &[Value]) -> Digest {
    let mut text = String::new();
    for object in objects {
        write_canonical(object, &mut text);
        text.push('\n');
    }
    Digest::of(text.as_bytes())
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in entries {
                let _ = write!(out, "{}:", Value::from(key.as_str()));
                write_canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        scalar => {
            let _ = write!(out, "{scalar}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered() -> Rendered {
        Rendered::stand_in(vec![json!({ "kind": "ConfigMap", "metadata": { "name": "a" } })])
    }

    #[test]
    fn a_stand_in_says_so() {
        let rendered = rendered();
        assert!(rendered.is_stand_in());
        assert_eq!(rendered.objects()[0]["metadata"]["annotations"][STAND_IN], "true");
        assert!(!Rendered::of_chart(rendered.objects().to_vec()).is_stand_in());
    }

    #[test]
    fn secrets_change_no_digest_and_show_nowhere() {
        let plain = rendered();
        let head = json!({ "kind": "Secret", "metadata": { "name": "s" } });
        let with = plain.clone().with_secret(SecretObject::new(head, [("token", "hunter22")]));
        assert_eq!(plain.digest(), with.digest());
        let shown = format!("{with:?}");
        assert!(!shown.contains("hunter22") && !shown.contains("aHVudGVyMjI="), "{shown}");
        assert_eq!(with.secrets()[0].reveal()["data"]["token"], "aHVudGVyMjI=");
    }

    #[test]
    fn the_digest_follows_content_and_not_the_order_of_keys() {
        let read = |text: &str| Rendered::of_chart(vec![serde_json::from_str(text).unwrap()]);
        let one = read(r#"{"a":1,"b":[1,2]}"#);
        assert_eq!(one.digest(), read(r#"{"b":[1,2],"a":1}"#).digest());
        for other in [r#"{"a":1,"b":[2,1]}"#, r#"{"a":1,"b":[12]}"#, r#"{"a":"1","b":[1,2]}"#] {
            assert_ne!(one.digest(), read(other).digest(), "{other}");
        }
    }
}
