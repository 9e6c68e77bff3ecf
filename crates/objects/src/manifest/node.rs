//! What a text holds, with places.

use std::collections::HashMap;

use serde_json::Value;

use super::Mistake;
use super::error::Spot;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) at: Spot,
    pub(super) content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Scalar(Value),
    List(Vec<Node>),
    Map(Mapping),
}

/// A mapping under construction or done.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapping {
    entries: HashMap<String, Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// Where the key was written; nowhere if a merge key brought it.
    written: Option<Spot>,
    value: Node,
}

// === impl Node ===

impl Node {
    pub(super) fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Value::Null))
    }

    /// How many values it stands for.
    pub(super) fn count(&self) -> usize {
        1 + match &self.content {
            Content::Scalar(_) => 0,
            Content::List(items) => items.iter().map(Self::count).sum(),
            Content::Map(map) => map.entries.values().map(|entry| entry.value.count()).sum(),
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self.content {
            Content::Scalar(value) => value,
            Content::List(items) => items.into_iter().map(Self::into_value).collect(),
            Content::Map(map) => {
                let entries = map.entries.into_iter();
                entries.map(|(key, entry)| (key, entry.value.into_value())).collect()
            }
        }
    }
}

// === impl Mapping ===

impl Mapping {
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Node> {
        self.entries.remove(key).map(|entry| entry.value)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.content {
            Content::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn set_text(&mut self, key: &str, text: &str, at: Spot) {
        let value = Node { at, content: Content::Scalar(text.into()) };
        self.entries.insert(key.to_owned(), Entry { written: None, value });
    }

    /// Refuses a key that is written already. Called when the key is read, so
    /// that its mistake comes before those of its value.
    pub(super) fn check(&self, key: &str, at: Spot) -> Result<(), Mistake> {
        match self.entries.get(key).and_then(|entry| entry.written) {
            Some(first) => Err(Mistake::key_twice(at, key, Some(first))),
            None => Ok(()),
        }
    }

    pub(super) fn write(&mut self, key: String, at: Spot, value: Node) {
        self.entries.insert(key, Entry { written: Some(at), value });
    }

    /// Merges as kubectl does: over what is written before it, and under what
    /// is written behind it.
    pub(super) fn merge(&mut self, node: Node) -> Result<(), Mistake> {
        let at = node.at;
        match node.content {
            Content::Map(other) => self.merge_entries(other),
            // Of several mappings the first wins.
            Content::List(items) => items.into_iter().rev().try_for_each(|item| {
                match item.content {
                    Content::Map(other) => self.merge_entries(other),
                    _ => return Err(Mistake::new(item.at, "only a mapping can be merged")),
                }
                Ok(())
            })?,
            Content::Scalar(_) => return Err(Mistake::new(at, "only a mapping can be merged")),
        }
        Ok(())
    }

    fn merge_entries(&mut self, other: Self) {
        for (key, Entry { value, .. }) in other.entries {
            let written = self.entries.get(&key).and_then(|entry| entry.written);
            self.entries.insert(key, Entry { written, value });
        }
    }
}
