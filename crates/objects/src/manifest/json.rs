//! JSON into nodes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Number, Value};

use super::Mistake;
use super::error::Spot;
use super::node::{Content, Mapping, Node};
use super::scalar::whole;

/// What a key that is there twice is called between the reader and us.
const TWICE: &str = "key twice: ";

/// Reads JSON documents one behind the other; none if the text is no JSON.
pub(super) fn documents(text: &str) -> Option<Result<Vec<Node>, Mistake>> {
    let mut documents = Vec::new();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Node>();
    let mut from = 0;
    while let Some(next) = values.next() {
        match next {
            Ok(node) => documents.push(Node { at: first_word(text, from), ..node }),
            Err(error) if error.classify() == Category::Data => return Some(Err(mistake(&error))),
            Err(_) => return None,
        }
        from = values.byte_offset();
    }
    Some(Ok(documents))
}

/// The place of the first character behind `from` that is no space.
fn first_word(text: &str, from: usize) -> Spot {
    let spaces = text[from..].len() - text[from..].trim_start().len();
    let before = &text[..from + spaces];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
    Spot { line, column }
}

fn mistake(error: &serde_json::Error) -> Mistake {
    let message = error.to_string();
    let told = message.rsplit_once(" at line ").map_or(message.as_str(), |(told, _)| told);
    let at = |back: usize| Spot {
        line: error.line(),
        column: (error.column() + 1).saturating_sub(back),
    };
    match told.strip_prefix(TWICE) {
        // The reader has read the key: its place is where it begins.
        Some(key) => Mistake::key_twice(at(Value::from(key).to_string().len()), key, None),
        None => Mistake::new(at(0), told),
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Read)
    }
}

struct Read;

impl Read {
    fn node(content: Content) -> Node {
        // Places are only known of documents and of mistakes.
        Node { at: Spot { line: 1, column: 1 }, content }
    }

    fn scalar(value: impl Into<Value>) -> Node {
        Self::node(Content::Scalar(value.into()))
    }
}

impl<'de> Visitor<'de> for Read {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Self::scalar(Value::Null))
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Node, E> {
        Ok(Self::scalar(bool))
    }

    fn visit_i64<E>(self, int: i64) -> Result<Node, E> {
        Ok(Self::scalar(int))
    }

    fn visit_u64<E>(self, int: u64) -> Result<Node, E> {
        Ok(Self::scalar(whole(int.into())))
    }

    fn visit_f64<E>(self, float: f64) -> Result<Node, E> {
        Ok(Self::scalar(Number::from_f64(float).map(whole)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Self::scalar(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Self::node(Content::List(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut map = Mapping::default();
        while let Some(key) = entries.next_key::<String>()? {
            if map.get(&key).is_some() {
                return Err(A::Error::custom(format!("{TWICE}{key}")));
            }
            map.write(key, Spot { line: 1, column: 1 }, entries.next_value()?);
        }
        Ok(Self::node(Content::Map(map)))
    }
}
