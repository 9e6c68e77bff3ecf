//! Small changes anywhere in an object.

use serde_json::{Value, json};

use super::dice::Dice;

/// Changes something small below the fields that people write.
pub(crate) fn edit(dice: &mut Dice, body: &mut Value) {
    let roots = ["spec", "data", "rules", "subjects", "webhooks", "metadata"];
    let mut places = Vec::new();
    for root in roots {
        if let Some(value) = body.get(root) {
            gather(value, &format!("/{root}"), &mut places);
        }
    }
    places.retain(|place| is_free(place));
    if places.is_empty() || dice.percent(5) {
        body["metadata"]["annotations"]["example.com/added"] = "1".into();
        return;
    }
    let is_list = |place: &&String| {
        body.pointer(place).and_then(Value::as_array).is_some_and(|items| items.len() > 1)
    };
    let lists: Vec<String> = places.iter().filter(is_list).cloned().collect();
    if !lists.is_empty() && dice.percent(35) {
        let list = dice.one_of(&lists);
        disturb(dice, body.pointer_mut(&list).unwrap());
        return;
    }
    let place = dice.one_of(&places);
    let value = body.pointer_mut(&place).unwrap();
    match dice.below(9) {
        0 | 1 => remove(body, &place),
        2 => *value = Value::Null,
        3 | 4 => *value = spelled_otherwise(value),
        5 => *value = emptied(value),
        _ => *value = changed(value),
    }
}

fn gather(value: &Value, at: &str, places: &mut Vec<String>) {
    places.push(at.to_owned());
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                gather(value, &format!("{at}/{key}"), places);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                gather(value, &format!("{at}/{index}"), places);
            }
        }
        _ => {}
    }
}

/// Of the metadata only what people write.
fn is_free(place: &str) -> bool {
    let ours = ["/metadata/labels", "/metadata/annotations", "/metadata/finalizers"];
    !place.starts_with("/metadata") || ours.iter().any(|one| place.starts_with(one))
}

fn remove(body: &mut Value, place: &str) {
    let (parent, key) = place.rsplit_once('/').unwrap();
    let key = key.replace("~1", "/").replace("~0", "~");
    match body.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.remove(&key)),
        Some(Value::Array(items)) => drop(items.remove(key.parse().unwrap())),
        _ => {}
    }
}

/// The same to some types, another value to others.
fn spelled_otherwise(value: &Value) -> Value {
    match value.as_str() {
        Some("1") => json!("1000m"),
        Some("1Gi") => json!("1024Mi"),
        Some("500m") => json!("0.5"),
        Some(text) => text.parse::<i64>().map_or_else(|_| json!(format!("{text} ")), Value::from),
        None if value.is_i64() => json!(value.to_string()),
        None => json!(value),
    }
}

/// Puts items in another order, or takes one away.
fn disturb(dice: &mut Dice, value: &mut Value) {
    let Some(items) = value.as_array_mut() else { return };
    let last = items.len() - 1;
    if dice.percent(50) {
        items.swap(dice.below(last), last);
    } else {
        items.remove(dice.below(items.len()));
    }
}

fn emptied(value: &Value) -> Value {
    match value {
        Value::Object(_) => json!({}),
        Value::Array(_) => json!([]),
        Value::String(_) => json!(""),
        Value::Number(_) => json!(0),
        other => other.clone(),
    }
}

fn changed(value: &Value) -> Value {
    match value {
        Value::Bool(bool) => json!(!bool),
        Value::Number(number) => json!(number.as_i64().unwrap_or(0) + 1),
        Value::String(text) => json!(format!("{text}x")),
        other => other.clone(),
    }
}
