//! YAML that holds secrets. What is wrong with it is told by place and name,
//! never by showing a line of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;

/// A document that was read.
pub(crate) struct Document(Value);

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    /// It is no YAML.
    #[error("it is not YAML: line {line}, column {column}")]
    Syntax {
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
    },
    /// Something is missing.
    #[error("`{0}` is missing")]
    Missing(String),
    /// Something is no text.
    #[error("`{0}` is not a text")]
    NotText(String),
    /// Something is no list of texts.
    #[error("`{0}` is not a list of texts")]
    NotTexts(String),
    /// Something is no base64 of a text.
    #[error("`{0}` is not the base64 of a text")]
    NotBase64(String),
}

impl Document {
    /// Reads a document.
    pub(crate) fn read(text: &str) -> Result<Self, YamlError> {
        let options = serde_saphyr::options! { with_snippet: false };
        serde_saphyr::from_str_with_options(text, options).map(Self).map_err(|it| syntax(&it))
    }

    /// Takes a document that was not read from a text.
    pub(crate) fn of(value: Value) -> Self {
        Self(value)
    }

    /// Returns the value under `keys`.
    pub(crate) fn get(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().try_fold(&self.0, |value, key| value.get(key)).filter(|it| !it.is_null())
    }

    /// Returns the text under `keys`.
    pub(crate) fn text(&self, keys: &[&str]) -> Result<&str, YamlError> {
        let value = self.get(keys).ok_or_else(|| YamlError::Missing(keys.join(".")))?;
        value.as_str().ok_or_else(|| YamlError::NotText(keys.join(".")))
    }

    /// Returns the texts under `keys`; nothing is an empty list.
    pub(crate) fn texts(&self, keys: &[&str]) -> Result<Vec<String>, YamlError> {
        let Some(value) = self.get(keys) else { return Ok(Vec::new()) };
        let texts = value.as_array().and_then(|items| {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>()
        });
        texts.ok_or_else(|| YamlError::NotTexts(keys.join(".")))
    }

    /// Returns the text whose base64 is under `keys`.
    pub(crate) fn base64(&self, keys: &[&str]) -> Result<String, YamlError> {
        let bytes = STANDARD.decode(self.text(keys)?).ok();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        text.ok_or_else(|| YamlError::NotBase64(keys.join(".")))
    }
}

/// Reads all documents of a text.
pub(crate) fn documents(text: &str) -> Result<Vec<Value>, YamlError> {
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_multiple_with_options(text, options).map_err(|error| syntax(&error))
}

fn syntax(error: &serde_saphyr::Error) -> YamlError {
    let place = error.location().map(|place| (place.line(), place.column()));
    let (line, column) = place.unwrap_or((1, 1));
    YamlError::Syntax { line, column }
}

/// Writes documents as talosctl does.
pub(crate) fn write(document: &impl Serialize) -> String {
    let options = serde_saphyr::ser_options! {
        indent_step: 4,
        compact_list_indent: false,
        prefer_block_scalars: false,
    };
    serde_saphyr::to_string_with_options(document, options)
        .expect("structs of texts, lists and maps can be written")
}

/// Returns a PEM as Talos embeds it.
pub(crate) fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_place_and_show_nothing() {
        let document = Document::read("a: {b: hunter22, c: [hunter22], d: [1]}").unwrap();
        let error = |error: YamlError| error.to_string();
        assert_eq!(error(document.text(&["a", "x"]).unwrap_err()), "`a.x` is missing");
        assert_eq!(error(document.text(&["a", "c"]).unwrap_err()), "`a.c` is not a text");
        assert_eq!(error(document.texts(&["a", "d"]).unwrap_err()), "`a.d` is not a list of texts");
        assert_eq!(
            error(document.base64(&["a", "b"]).unwrap_err()),
            "`a.b` is not the base64 of a text"
        );
        let broken = Document::read("a: hunter22\nb: [hunter22").err().unwrap();
        assert!(error(broken.clone()).starts_with("it is not YAML: line "), "{broken}");
        assert!(!format!("{broken} {broken:?}").contains("hunter22"));
    }

    #[test]
    fn texts_that_look_like_something_else_stay_texts() {
        let odd = ["123456.1234567890123456", "1e5", "true", "null", "0x1f", "", "no", "~"];
        for text in odd {
            let written = write(&serde_json::json!({"token": text}));
            assert_eq!(Document::read(&written).unwrap().text(&["token"]), Ok(text), "{written}");
        }
    }
}
