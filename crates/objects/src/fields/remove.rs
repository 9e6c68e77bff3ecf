//! Taking a field out of a value.

use serde_json::Value;

use super::{FieldPath, Step};

impl FieldPath {
    /// Takes the field out of a value that has it. An item that only its place
    /// tells from others stays.
    pub(crate) fn remove_from(&self, value: &mut Value) {
        let [inner @ .., last] = self.steps() else { return };
        let mut parent = Some(value);
        for step in inner {
            parent = parent.and_then(|value| descend(step, value));
        }
        match (parent, last) {
            (Some(Value::Object(map)), Step::Field(name)) => drop(map.remove(&**name)),
            (Some(Value::Array(items)), Step::Item(key)) => items.retain(|item| !key.is_of(item)),
            (Some(Value::Array(items)), Step::Value(atom)) => items.retain(|item| !atom.is(item)),
            _ => {}
        }
    }
}

fn descend<'a>(step: &Step, value: &'a mut Value) -> Option<&'a mut Value> {
    match step {
        Step::Field(name) => value.as_object_mut()?.get_mut(&**name),
        Step::Item(key) => value.as_array_mut()?.iter_mut().find(|item| key.is_of(item)),
        Step::Value(_) | Step::Index(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_and_items_are_taken_out_and_nothing_else() {
        let mut value = json!({ "data": { "a.b": "1", "c": "2" },
            "parts": [{ "name": "x", "size": 1 }, { "name": "y", "size": 2 }], "set": ["p", "q"] });
        for path in [r#"data["a.b"]"#, r#"parts[name="x"].size"#, r#"parts[name="y"]"#, "none.x"] {
            path.parse::<FieldPath>().unwrap().remove_from(&mut value);
        }
        let left = json!({ "data": { "c": "2" }, "parts": [{ "name": "x" }], "set": ["p", "q"] });
        assert_eq!(value, left);
    }
}
