//! The way from an object to one of its fields.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Step;

/// The way from an object to one of its fields. Its text reads back:
/// `spec.template.spec.containers[name="app"].image`, `data["nginx.conf"]`,
/// `metadata.finalizers[="example.com/stay"]`, `args[0]`; the object itself is `.`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(Vec<Step>);

/// Why a text is no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a field path: expected {expected} at column {column}")]
pub struct NotAPath {
    /// The text.
    pub text: String,
    /// Where it stops being one, from 1.
    pub column: usize,
    /// What should stand there.
    pub expected: &'static str,
}

impl FieldPath {
    /// A way through fields, by their names.
    pub fn of_fields<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        names.into_iter().map(Step::field).collect()
    }

    /// Returns the steps.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Returns whether it is the object itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the way one step further.
    #[must_use]
    pub fn then(&self, step: Step) -> Self {
        self.0.iter().cloned().chain([step]).collect()
    }

    /// Returns the way to what holds the field; none for the object itself.
    pub fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, steps)| Self(steps.to_vec()))
    }

    /// Returns whether the other way begins with this one.
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Returns what stands there in a value.
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |value, step| step.follow(value))
    }
}

impl FromIterator<Step> for FieldPath {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.0.split_first() else { return f.write_str(".") };
        f.write_str(first.to_string().trim_start_matches('.'))?;
        rest.iter().try_for_each(|step| step.fmt(f))
    }
}

/// As its text.
impl Serialize for FieldPath {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FieldPath {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}
