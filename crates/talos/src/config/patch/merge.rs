//! Merging a document of a patch into one of a machine config.

use serde_json::{Map, Value};

use super::error::Reason;
use super::node::{Content, Node, Scalar};
use super::read::Mistake;
use super::rules::{Place, Rule};

/// Merges `new` into `old`.
pub(super) fn merge(old: &mut Value, new: &Node, place: &mut Place<'_>) -> Result<(), Mistake> {
    if new.is_null() {
        return Ok(());
    }
    let rule = place.rule();
    let is_of_its_kind = match rule {
        Rule::Replaced => matches!(new.content, Content::List(_)),
        Rule::Whole => matches!(new.content, Content::Map(_)),
        _ => true,
    };
    if !is_of_its_kind && !old.is_null() {
        return Err(mismatch(old, new, place));
    }
    let is_replaced = matches!(rule, Rule::Replaced | Rule::Whole);
    if is_replaced && matches!(&new.content, Content::Map(it) if it.is_empty()) {
        // To talosctl a mapping without anything in it is none.
        return Ok(());
    }
    if old.is_null() || is_replaced {
        *old = new.value(place);
        return Ok(());
    }
    match (&mut *old, &new.content) {
        (Value::Object(fields), Content::Map(entries)) => merge_fields(fields, entries, place),
        (Value::Array(items), Content::List(more)) => merge_items(items, more, place),
        (Value::Object(_) | Value::Array(_), _) | (_, Content::Map(_) | Content::List(_)) => {
            Err(mismatch(old, new, place))
        }
        (_, Content::Scalar(scalar)) => merge_scalar(old, new, scalar, place),
    }
}

fn merge_fields(
    fields: &mut Map<String, Value>,
    entries: &[(String, Node)],
    place: &mut Place<'_>,
) -> Result<(), Mistake> {
    let replaces = place.rule() == Rule::Arguments;
    for (key, new) in entries {
        place.within(key, |place| match fields.get_mut(key) {
            Some(old) if !replaces => merge(old, new, place),
            _ => {
                fields.insert(key.clone(), new.value(place));
                Ok(())
            }
        })?;
    }
    Ok(())
}

fn merge_items(
    items: &mut Vec<Value>,
    more: &[Node],
    place: &mut Place<'_>,
) -> Result<(), Mistake> {
    let rule = place.rule();
    for new in more {
        place.within("[]", |place| {
            let value = new.value(place);
            match items.iter_mut().find(|old| is_same(rule, old, &value)) {
                Some(old) if matches!(rule, Rule::KeyedWhole(_)) => *old = value,
                Some(old) => return merge(old, new, place),
                None => items.push(value),
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Whether two elements of a list are about the same thing.
fn is_same(rule: Rule, old: &Value, new: &Value) -> bool {
    match rule {
        Rule::Keyed(key) | Rule::KeyedWhole(key) => old.get(key) == new.get(key),
        Rule::Interfaces => {
            let named = |key| new.get(key).filter(|it| it.as_str() != Some("") && !it.is_null());
            match (named("interface"), named("deviceSelector")) {
                (Some(name), _) => old.get("interface") == Some(name),
                (None, Some(selector)) => old.get("deviceSelector") == Some(selector),
                (None, None) => false,
            }
        }
        _ => false,
    }
}

fn merge_scalar(
    old: &mut Value,
    new: &Node,
    scalar: &Scalar,
    place: &mut Place<'_>,
) -> Result<(), Mistake> {
    let rule = place.rule();
    // A field that holds a text is for texts: there `0` and `True` are what they look like.
    let value = match (&*old, rule) {
        (_, Rule::Free) | (Value::Bool(_) | Value::Number(_), _) => new.value(place),
        _ => scalar.text.clone().into(),
    };
    let kinds = [&*old, &value].map(std::mem::discriminant);
    if rule == Rule::Free && kinds[0] != kinds[1] {
        return Err(mismatch(old, new, place));
    }
    let is_zero = value == 0 || scalar.text.is_empty();
    if is_zero && rule != Rule::ZeroCounts {
        return Ok(());
    }
    *old = value;
    Ok(())
}

fn mismatch(old: &Value, new: &Node, place: &mut Place<'_>) -> Mistake {
    let value = new.value(place);
    let reason = Reason::Mismatch { old: kind_of(old), new: kind_of(&value) };
    Mistake { line: new.line, place: place.path(), reason }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
