//! The part of an object that a set names.

use serde_json::{Map, Value};

use super::set::Node;
use super::{FieldSet, Step};

impl FieldSet {
    /// Returns the part of a value that is in the set, items in the order that
    /// they have there. What is not there is left out.
    pub fn pick(&self, value: &Value) -> Value {
        match value {
            Value::Object(map) => Value::Object(self.pick_fields(map)),
            Value::Array(items) => {
                let picked = items.iter().enumerate();
                picked.filter_map(|(index, item)| self.pick_item(index, item)).collect()
            }
            scalar => scalar.clone(),
        }
    }

    fn pick_fields(&self, map: &Map<String, Value>) -> Map<String, Value> {
        let field = |node: &Node| match &node.step {
            Step::Field(name) => map.get(&**name).map(|value| (name.to_string(), node.pick(value))),
            _ => None,
        };
        self.nodes().iter().filter_map(field).collect()
    }

    fn pick_item(&self, index: usize, item: &Value) -> Option<Value> {
        let node = self.nodes().iter().find(|node| match &node.step {
            Step::Field(_) => false,
            Step::Item(key) => key.is_of(item),
            Step::Value(atom) => atom.is(item),
            Step::Index(wanted) => usize::try_from(*wanted) == Ok(index),
        })?;
        Some(node.pick(item))
    }
}

impl Node {
    fn pick(&self, value: &Value) -> Value {
        if self.is_leaf() { value.clone() } else { self.below.pick(value) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_keeps_the_order_of_the_items() {
        let fields = json!({ "f:spec": { "f:selector": {}, "f:items": {
            "k:{\"name\":\"a\"}": { ".": {}, "f:name": {}, "f:x": {} },
            "k:{\"name\":\"b\"}": { ".": {}, "f:name": {} } }, "f:set": { "v:\"s\"": {} } } });
        let value = json!({ "spec": { "selector": { "whole": 1 }, "other": 2, "set": ["r", "s"],
            "items": [{ "name": "b", "y": 1 }, { "name": "c" }, { "name": "a", "x": 3 }] } });
        let set = FieldSet::from_fields_v1(&fields).unwrap();
        let part = json!({ "spec": { "selector": { "whole": 1 }, "set": ["s"],
            "items": [{ "name": "b" }, { "name": "a", "x": 3 }] } });
        assert_eq!(set.pick(&value), part);
    }
}
