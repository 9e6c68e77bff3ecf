//! Manifests, read as kubectl reads them.
//!
//! kubectl reads YAML 1.1: `0644` is 420, `on` is true and the key `y` is
//! `"true"`, also inside a `ConfigMap`. A reader that takes them for something
//! else applies another object than the one that kubectl users have tested. A
//! test compares this one with the real kubectl. What is meant to differ:
//!
//! - A key that is set twice is refused, where kubectl drops one.
//! - What follows `...` without `---` is read, where kubectl drops it; a
//!   document on the line of its `---` is read, where kubectl refuses it.
//! - Only a kind that ends in `List` is taken apart, where kubectl takes any
//!   object with `items` for a list.
//!
//! ```text
//!  paths ─► sources ─► bytes ─► json | yaml ─► node (with places) ─► Placed
//! ```

mod error;
mod json;
mod node;
mod objects;
mod scalar;
mod sources;
mod yaml;

#[cfg(test)]
mod tests;

pub use error::{ManifestError, ManifestErrors, Place};
pub use objects::Placed;
pub use sources::{Depth, Source, SourceError, read_all, sources};

use std::borrow::Cow;

use crate::Object;
use error::Spot;
use node::Node;

/// Reads all objects of a manifest. `file` is what errors call it.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<Object>, ManifestErrors> {
    Ok(read_placed(file, bytes)?.into_iter().map(|placed| placed.object).collect())
}

/// Reads all objects of a manifest, with where each of them stands. What is
/// wrong with one document does not hide what is wrong with the others.
pub fn read_placed(file: &str, bytes: &[u8]) -> Result<Vec<Placed>, ManifestErrors> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let (file, valid_up_to) = (file.to_owned(), error.valid_up_to());
        ManifestErrors::from(ManifestError::NotUtf8 { file, valid_up_to })
    })?;
    let (documents, mistakes) = documents(&unmarked(text));
    let mut errors: Vec<ManifestError> =
        mistakes.into_iter().map(|mistake| mistake.within(file)).collect();
    let placed = objects::gather(file, documents, &mut errors);
    errors.sort_by_key(|error| error.place().cloned());
    ManifestErrors::of(errors).map_or(Ok(placed), Err)
}

/// Drops byte order marks, also those of files that were joined to one.
fn unmarked(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if text.contains("\n\u{FEFF}") {
        Cow::Owned(text.replace("\n\u{FEFF}", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// What starts as JSON is read as JSON, if it is; `{a: b}` starts alike.
fn documents(text: &str) -> (Vec<Node>, Vec<Mistake>) {
    if text.trim_start().starts_with('{')
        && let Some(documents) = json::documents(text)
    {
        return match documents {
            Ok(documents) => (documents, Vec::new()),
            Err(mistake) => (Vec::new(), vec![mistake]),
        };
    }
    yaml::documents(text)
}

/// What is wrong with a text, and where.
#[derive(Debug)]
struct Mistake {
    at: Spot,
    problem: String,
}

impl Mistake {
    fn new(at: Spot, problem: impl Into<String>) -> Self {
        Self { at, problem: problem.into() }
    }

    fn within(self, file: &str) -> ManifestError {
        ManifestError::Syntax { place: self.at.within(file), problem: self.problem }
    }

    fn key_twice(at: Spot, key: &str, first: Option<Spot>) -> Self {
        let first = first.map_or(String::new(), |first| format!(", first on line {}", first.line));
        Self::new(at, format!("the key `{key}` is set twice{first}"))
    }
}
