//! Descriptions of mappings: which keys there are, and what each holds.
//!
//! One description serves three readers: the decoder refuses keys that are not
//! in it, the JSON Schema is written from it, and editors show its sentences.

use crate::scalar::Format;

/// A mapping with known keys.
#[derive(Debug)]
pub(crate) struct Shape {
    /// What it describes, for the schema's definitions: "Pool".
    pub(crate) name: &'static str,
    /// One sentence for editors.
    pub(crate) doc: &'static str,
    /// The keys, in groups so that shapes can share some.
    pub(crate) groups: &'static [&'static [Field]],
    /// How many of the keys are to be set.
    pub(crate) pick: Pick,
}

/// How many keys of a mapping are to be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// As each key says for itself.
    Any,
    /// Exactly one: the key is the choice.
    One,
}

/// One key of a mapping.
#[derive(Debug)]
pub(crate) struct Field {
    /// The key.
    pub(crate) key: &'static str,
    /// What it holds.
    pub(crate) kind: Kind,
    /// Whether it must be there.
    pub(crate) required: bool,
    /// One or two sentences for editors.
    pub(crate) doc: &'static str,
    /// Why it is refused, where nothing acts on it yet.
    pub(crate) not_yet: Option<NotYet>,
}

/// A key that a later version will act on. Until then it is refused: a key that
/// is read and ignored would let a run prove something else than was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotYet {
    /// The feature, where it is more than this key. It is reported once.
    pub(crate) feature: Option<&'static str>,
    /// What can be done today.
    pub(crate) instead: &'static str,
}

/// What a key holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// One scalar.
    Scalar(Format),
    /// A list of scalars.
    Scalars(Format),
    /// A mapping with known keys.
    Map(&'static Shape),
    /// A list of mappings.
    Maps(&'static Shape),
    /// A mapping from scalars to scalars.
    Table { keys: Format, values: Format },
    /// A mapping from scalars to mappings with known keys.
    TableOfMaps { keys: Format, values: &'static Shape },
    /// A mapping that is passed on as it is.
    Free,
    /// A mapping or a list of mappings that is passed on as it is.
    FreeOrList,
}

/// A key that must be there.
pub(crate) const fn required(key: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field { key, kind, required: true, doc, not_yet: None }
}

/// A key that may be there.
pub(crate) const fn optional(key: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field { key, kind, required: false, doc, not_yet: None }
}

impl Field {
    /// Refuses the key for now.
    pub(crate) const fn not_yet(self, instead: &'static str) -> Self {
        Self { not_yet: Some(NotYet { feature: None, instead }), ..self }
    }

    /// Refuses the key as a part of a feature that is not there yet.
    pub(crate) const fn waits_for(self, feature: &'static str, instead: &'static str) -> Self {
        Self { not_yet: Some(NotYet { feature: Some(feature), instead }), ..self }
    }
}

impl Shape {
    /// All keys that can be used.
    pub(crate) fn usable(&self) -> impl Iterator<Item = &'static Field> {
        self.fields().filter(|field| field.not_yet.is_none())
    }

    /// All keys, those that are refused for now included.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'static Field> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The description of a key.
    pub(crate) fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields().find(|field| field.key == key)
    }
}

impl Kind {
    /// What is expected, for a caret.
    pub(crate) fn expected(&self) -> String {
        match self {
            Self::Scalar(format) => format.expected(),
            Self::Scalars(_) => "expected a list".to_owned(),
            Self::Maps(_) => "expected a list of mappings".to_owned(),
            Self::FreeOrList => "expected a mapping or a list of mappings".to_owned(),
            Self::Map(_) | Self::Table { .. } | Self::TableOfMaps { .. } | Self::Free => {
                "expected a mapping".to_owned()
            }
        }
    }
}
