//! The tables of custom resources: the columns that their definitions name.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::text::age;
use crate::kube::object::{items, name};

/// Returns the columns; name and age where the definition names none.
pub(super) fn columns(own: &[Value]) -> Vec<Value> {
    let name = json!({ "name": "Name", "type": "string", "format": "name", "description": "", "priority": 0 });
    let mut columns = vec![name];
    for column in own {
        columns.push(json!({
            "name": column["name"], "type": column["type"],
            "format": column["format"].as_str().unwrap_or_default(),
            "description": column["description"].as_str().unwrap_or_default(),
            "priority": column["priority"].as_i64().unwrap_or_default(),
        }));
    }
    if own.is_empty() {
        columns.push(json!({ "name": "Age", "type": "date", "format": "", "description": "", "priority": 0 }));
    }
    columns
}

/// Returns the cells of an object.
pub(super) fn cells(own: &[Value], object: &Value, now: Timestamp) -> Vec<Value> {
    let mut cells = vec![json!(name(object))];
    for column in own {
        let found = at(object, column["jsonPath"].as_str().unwrap_or_default());
        cells.push(match (column["type"].as_str(), found) {
            (_, None) => Value::Null,
            (Some("date"), Some(time)) => json!(age(time, now)),
            (Some("string"), Some(value)) if !value.is_string() => json!(value.to_string()),
            (_, Some(value)) => value.clone(),
        });
    }
    if own.is_empty() {
        cells.push(json!(age(&object["metadata"]["creationTimestamp"], now)));
    }
    cells
}

/// Follows the paths that definitions use: fields, quoted fields, indices, and
/// conditions by type.
fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let (mut here, mut rest) = (object, path.trim_start_matches('.'));
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (index, after) = inner.split_once(']')?;
            here = item(here, index)?;
            rest = after.trim_start_matches('.');
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            // A backslash keeps a dot in the name of a field.
            let (field, after) = match rest[..end].strip_suffix('\\') {
                Some(_) => escaped(rest),
                None => (rest[..end].to_owned(), &rest[end..]),
            };
            here = here.get(&field)?;
            rest = after.trim_start_matches('.');
        }
    }
    Some(here)
}

fn escaped(rest: &str) -> (String, &str) {
    let mut end = 0;
    for (at, c) in rest.char_indices() {
        let kept = at > 0 && rest.as_bytes()[at - 1] == b'\\';
        if (c == '.' || c == '[') && !kept {
            return (rest[..at].replace('\\', ""), &rest[at..]);
        }
        end = at + c.len_utf8();
    }
    (rest[..end].replace('\\', ""), "")
}

fn item<'a>(list: &'a Value, index: &str) -> Option<&'a Value> {
    if let Some(name) = index.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')) {
        return list.get(name);
    }
    if let Ok(number) = index.parse::<usize>() {
        return list.get(number);
    }
    let condition = index.strip_prefix("?(@.")?.strip_suffix(')')?;
    let (field, wanted) = condition.split_once("==")?;
    let wanted = wanted.trim().trim_matches(['"', '\'']);
    items(list).iter().find(|one| one[field.trim()] == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_definitions_are_followed() {
        let object = json!({
            "spec": { "size": 3, "parts": ["a", "b"] },
            "metadata": { "labels": { "a.b/c": "x" } },
            "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
        });
        assert_eq!(at(&object, ".spec.size").unwrap(), 3);
        assert_eq!(at(&object, ".spec.parts[1]").unwrap(), "b");
        assert_eq!(at(&object, ".status.conditions[?(@.type==\"Ready\")].status").unwrap(), "True");
        assert_eq!(at(&object, ".metadata.labels['a.b/c']").unwrap(), "x");
        assert_eq!(at(&object, ".metadata.labels.a\\.b/c").unwrap(), "x");
        assert!(at(&object, ".spec.nothing").is_none());
    }
}
