//! Sets as `FieldsV1`, the form in which objects carry them.

use serde_json::{Map, Value};

use super::set::Node;
use super::{Atom, FieldSet, Key, Step};

/// Why a value is no `FieldsV1`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFields {
    /// A mapping was expected.
    #[error("the fields under `{0}` are not a mapping")]
    NotAMapping(String),
    /// A key has another form.
    #[error("`{0}` is not the name of a field, a key, a value or an index")]
    Step(String),
}

impl FieldSet {
    /// Reads `{"f:spec":{"f:replicas":{}}}`.
    pub fn from_fields_v1(fields: &Value) -> Result<Self, NotFields> {
        let fields = fields.as_object().ok_or_else(|| NotFields::NotAMapping(".".to_owned()))?;
        let steps = fields.iter().filter(|(key, _)| *key != ".");
        let nodes: Result<Vec<Node>, NotFields> =
            steps.map(|(key, below)| node(key, below)).collect();
        let set = Self::of_nodes(nodes?);
        // `1` and `1.0` are two keys of a JSON mapping, and one item.
        match set.nodes.windows(2).find(|two| two[0].step == two[1].step) {
            Some(two) => Err(NotFields::Step(wire(&two[0].step))),
            None => Ok(set),
        }
    }

    /// Writes it in the form that objects carry.
    pub fn to_fields_v1(&self) -> Value {
        let entry = |node: &Node| {
            let mut below = node.below.to_fields_v1();
            if let Some(map) = below.as_object_mut().filter(|map| node.member && !map.is_empty()) {
                map.insert(".".to_owned(), Value::Object(Map::new()));
            }
            (wire(&node.step), below)
        };
        Value::Object(self.nodes().iter().map(entry).collect())
    }
}

fn node(key: &str, below: &Value) -> Result<Node, NotFields> {
    let map = below.as_object().ok_or_else(|| NotFields::NotAMapping(key.to_owned()))?;
    let member = map.is_empty() || map.contains_key(".");
    let step = step(key).ok_or_else(|| NotFields::Step(key.to_owned()))?;
    Ok(Node { step, member, below: FieldSet::from_fields_v1(below)? })
}

fn step(key: &str) -> Option<Step> {
    let (kind, rest) = key.split_once(':')?;
    match kind {
        "f" => Some(Step::field(rest)),
        "i" => rest.parse().ok().map(Step::Index),
        "v" => serde_json::from_str(rest).ok().map(|value: Value| Step::Value(Atom::from(&value))),
        "k" => {
            let keys: Map<String, Value> = serde_json::from_str(rest).ok()?;
            let pairs = keys.iter().map(|(name, value)| (name.as_str().into(), Atom::from(value)));
            Key::new(pairs).map(Step::Item)
        }
        _ => None,
    }
}

fn wire(step: &Step) -> String {
    match step {
        Step::Field(name) => format!("f:{name}"),
        Step::Index(index) => format!("i:{index}"),
        Step::Value(atom) => format!("v:{atom}"),
        Step::Item(key) => {
            let pairs = key.pairs().iter();
            let map: Map<String, Value> =
                pairs.map(|(name, atom)| (name.to_string(), atom.value())).collect();
            format!("k:{}", Value::Object(map))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_form_of_the_api_is_read_and_written() {
        let fields = json!({ "f:metadata": { "f:labels": { ".": {}, "f:a.b/c": {} },
                "f:finalizers": { "v:\"x\"": {} } },
            "f:spec": { "f:containers": { "k:{\"name\":\"app\"}": { ".": {}, "f:image": {} } },
                "f:ports": { "k:{\"port\":80,\"protocol\":\"TCP\"}": { ".": {}, "f:port": {} } },
                "f:args": { "i:0": {} } } });
        let set = FieldSet::from_fields_v1(&fields).unwrap();
        assert_eq!(set.to_fields_v1(), fields);
        let paths: Vec<String> = set.paths().iter().map(ToString::to_string).collect();
        let expected = [
            r#"metadata.finalizers[="x"]"#,
            "metadata.labels",
            r#"metadata.labels["a.b/c"]"#,
            "spec.args[0]",
            r#"spec.containers[name="app"]"#,
            r#"spec.containers[name="app"].image"#,
            r#"spec.ports[port=80,protocol="TCP"]"#,
            r#"spec.ports[port=80,protocol="TCP"].port"#,
        ];
        assert_eq!(paths, expected);
        assert_eq!(set.len(), expected.len());
        assert_eq!(set.leaves().len(), 5);
    }

    #[test]
    fn what_is_no_set_of_fields_is_refused() {
        let cases = [
            (json!([]), "the fields under `.` are not a mapping"),
            (json!({ "f:a": 1 }), "the fields under `f:a` are not a mapping"),
            (json!({ "x:a": {} }), "`x:a` is not the name of a field, a key, a value or an index"),
            (
                json!({ "k:{}": {} }),
                "`k:{}` is not the name of a field, a key, a value or an index",
            ),
            (
                json!({ "i:-1": {} }),
                "`i:-1` is not the name of a field, a key, a value or an index",
            ),
            (
                json!({ "f:a": { "v:1": {}, "v:1.0": {} } }),
                "`v:1` is not the name of a field, a key, a value or an index",
            ),
        ];
        for (fields, message) in cases {
            assert_eq!(FieldSet::from_fields_v1(&fields).unwrap_err().to_string(), message);
        }
    }
}
