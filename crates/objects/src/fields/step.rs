//! One step from a value to a part of it.

use std::fmt;

use serde_json::Value;

use super::Atom;

/// One step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The field of this name.
    Field(Box<str>),
    /// The item of a list with these keys.
    Item(Key),
    /// The item of a set that is this value.
    Value(Atom),
    /// The item at this position, from 0.
    Index(u32),
}

/// The keys of an item, by name: `name="app"`. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Box<[(Box<str>, Atom)]>);

// === impl Step ===

impl Step {
    /// The field of this name.
    pub fn field(name: &str) -> Self {
        Self::Field(name.into())
    }

    /// Follows the step. Items are found by their keys or values, and only
    /// where there is exactly one such item.
    pub fn follow<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        match self {
            Self::Field(name) => value.as_object()?.get(&**name),
            Self::Item(key) => only(value, |item| key.is_of(item)),
            Self::Value(atom) => only(value, |item| atom.is(item)),
            Self::Index(index) => value.as_array()?.get(usize::try_from(*index).ok()?),
        }
    }
}

fn only(value: &Value, wanted: impl Fn(&Value) -> bool) -> Option<&Value> {
    let mut found = value.as_array()?.iter().filter(|item| wanted(item));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

impl fmt::Display for Step {
    /// As it stands behind other steps: `.image`, `["nginx.conf"]`, `[name="app"]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) if is_plain(name) => write!(f, ".{name}"),
            Self::Field(name) => write!(f, "[{}]", Value::from(&**name)),
            Self::Item(key) => write!(f, "[{key}]"),
            Self::Value(atom) => write!(f, "[={atom}]"),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// Whether a name can stand without quotes.
pub(super) fn is_plain(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '-'))
}

// === impl Key ===

impl Key {
    /// Keys by name; none where there are none, or one is there twice.
    pub fn new(pairs: impl IntoIterator<Item = (Box<str>, Atom)>) -> Option<Self> {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort();
        let twice = pairs.windows(2).any(|two| two[0].0 == two[1].0);
        (!pairs.is_empty() && !twice).then(|| Self(pairs.into()))
    }

    /// Returns the names and values, sorted by name.
    pub fn pairs(&self) -> &[(Box<str>, Atom)] {
        &self.0
    }

    /// Returns whether an item has all of these keys.
    pub fn is_of(&self, item: &Value) -> bool {
        self.0.iter().all(|(name, atom)| item.get(&**name).is_some_and(|value| atom.is(value)))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, atom)) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "," })?;
            if is_plain(name) {
                write!(f, "{name}={atom}")?;
            } else {
                write!(f, "{}={atom}", Value::from(&**name))?;
            }
        }
        Ok(())
    }
}
