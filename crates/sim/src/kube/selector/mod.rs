//! Which objects a list or a watch is about.

mod field;
mod label;

use serde_json::Value;

use super::refusal::Refusal;
pub(crate) use field::FieldSelector;
pub use label::LabelSelector;

/// A label selector and a field selector, both of which must match.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Selector {
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
}

impl Selector {
    /// Reads both, as a query carries them.
    pub(crate) fn parse(labels: &str, fields: &str, custom: bool) -> Result<Self, Refusal> {
        let labels = LabelSelector::parse(labels)?;
        Ok(Self { labels, fields: FieldSelector::parse(fields, custom)? })
    }

    /// Says whether everything matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Says whether an object is meant.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.labels.matches(&object["metadata"]["labels"]) && self.fields.matches(object)
    }
}
