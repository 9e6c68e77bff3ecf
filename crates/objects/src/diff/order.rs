//! Lists whose items stand in another order.

use serde_json::Value;

use super::{Difference, Shown};
use crate::fields::{Atom, FieldPath, FieldSet, Key, Step};

/// Finds the lists of a set whose items are told apart by keys or values, and
/// stand in another order than before. Their fields are the same, and yet a
/// pod with two variables the other way round is another pod.
pub(super) fn reordered(fields: &FieldSet, old: &Value, new: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(fields, &FieldPath::default(), old, new, &mut found);
    found
}

fn walk(fields: &FieldSet, at: &FieldPath, old: &Value, new: &Value, found: &mut Vec<Difference>) {
    if let Some(names) = fields.nodes().iter().find_map(|node| Names::of(&node.step)) {
        found.extend(moved(&names, old, new).map(|(old, new)| Difference {
            path: at.clone(),
            old: Some(Shown::Order(old)),
            new: Some(Shown::Order(new)),
        }));
    }
    for node in fields.nodes() {
        if let (Some(old), Some(new)) = (node.step.follow(old), node.step.follow(new)) {
            walk(&node.below, &at.then(node.step.clone()), old, new, found);
        }
    }
}

/// What tells the items of a list apart.
enum Names {
    Keys(Vec<Box<str>>),
    Values,
}

impl Names {
    fn of(step: &Step) -> Option<Self> {
        match step {
            Step::Item(key) => {
                Some(Self::Keys(key.pairs().iter().map(|(name, _)| name.clone()).collect()))
            }
            Step::Value(_) => Some(Self::Values),
            Step::Field(_) | Step::Index(_) => None,
        }
    }

    /// Returns what an item is called. One without a key has a name of its own.
    fn call(&self, item: &Value) -> String {
        let plain = |atom: &Atom| match atom {
            Atom::Text(text) => text.to_string(),
            other => other.to_string(),
        };
        let Self::Keys(names) = self else { return plain(&Atom::from(item)) };
        let pairs =
            names.iter().filter_map(|name| Some((name.clone(), Atom::from(item.get(&**name)?))));
        let pairs: Vec<_> = pairs.collect();
        match &pairs[..] {
            [(_, only)] if names.len() == 1 => plain(only),
            _ => Key::new(pairs).map_or_else(|| item.to_string(), |key| key.to_string()),
        }
    }
}

/// Returns the items that are in both lists, from the first to the last whose
/// place among them is another one, in the old order and in the new.
fn moved(names: &Names, old: &Value, new: &Value) -> Option<(Vec<String>, Vec<String>)> {
    let call = |list: &Value| -> Option<Vec<String>> {
        Some(list.as_array()?.iter().map(|item| names.call(item)).collect())
    };
    let (mut olds, mut news) = (call(old)?, call(new)?);
    let before = olds.clone();
    olds.retain(|name| news.contains(name));
    news.retain(|name| before.contains(name));
    // Where names are not unique, nobody can tell which has moved.
    if olds.len() != news.len() || olds == news {
        return None;
    }
    let differs = |index: &usize| olds[*index] != news[*index];
    let first = (0..olds.len()).find(differs)?;
    let last = (0..olds.len()).rfind(differs)?;
    Some((olds[first..=last].to_vec(), news[first..=last].to_vec()))
}
