//! A YAML document as a tree that remembers where everything was written.

use serde_json::Value;

use super::problem::{Problem, Problems};
use super::source::{Span, Spanned};
use crate::rules::Rule;

/// A value of the document.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it was written.
    pub span: Span,
    /// What it is.
    pub content: Content,
}

/// What a [`Node`] holds.
#[derive(Clone, Debug)]
pub enum Content {
    /// Text, a number, a boolean, or nothing.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file, with keys that differ.
    Map(Vec<Entry>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: Spanned<String>,
    /// The value.
    pub value: Node,
}

/// A scalar: its text, and what a YAML 1.2 reader takes it for.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// The text, after quotes and escapes.
    pub text: String,
    /// What it is taken for.
    pub kind: ScalarKind,
    /// Whether it was written without quotes.
    pub plain: bool,
}

/// What a YAML 1.2 reader (core schema) takes a scalar for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number with a point or an exponent.
    Float,
    /// Everything else, and everything in quotes.
    Text,
}

impl Scalar {
    /// Returns the scalar for a text in the given style.
    pub(crate) fn new(text: String, plain: bool) -> Self {
        let kind = if plain { ScalarKind::of_plain(&text) } else { ScalarKind::Text };
        Self { text, kind, plain }
    }

    /// Whether older YAML readers, helm's among them, take it for something else.
    fn is_ambiguous(&self) -> bool {
        let text = self.text.as_str();
        let digits = text.trim_start_matches(['+', '-']);
        let leading_zero = digits.len() > 1
            && digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
        let old_boolean =
            ["yes", "no", "on", "off", "y", "n"].iter().any(|word| text.eq_ignore_ascii_case(word));
        self.plain && (leading_zero || old_boolean)
    }
}

impl ScalarKind {
    fn of_plain(text: &str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Self::Null,
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Self::Boolean,
            _ if is_integer(text) => Self::Integer,
            _ if is_float(text) => Self::Float,
            _ => Self::Text,
        }
    }

    /// The kind with its article.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Boolean => "a boolean",
            Self::Integer => "a number",
            Self::Float => "a decimal number",
            Self::Text => "text",
        }
    }
}

fn is_integer(text: &str) -> bool {
    let all = |digits: &str, radix| {
        !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))
    };
    match text.get(..2) {
        Some("0x") => all(&text[2..], 16),
        Some("0o") => all(&text[2..], 8),
        _ => all(text.strip_prefix(['+', '-']).unwrap_or(text), 10),
    }
}

fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let special =
        [".inf", ".Inf", ".INF"].contains(&unsigned) || [".nan", ".NaN", ".NAN"].contains(&text);
    // Rust's parser also takes words such as `inf`, which YAML writes `.inf`.
    let numeric = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.parse::<f64>().is_ok();
    special || numeric
}

impl Node {
    /// What the node is, with its article.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.content {
            Content::Scalar(scalar) => scalar.kind.name(),
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
        }
    }

    /// Whether there is no value (`key:` with nothing behind it).
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar(scalar) if scalar.kind == ScalarKind::Null)
    }

    /// Where a caret for the node belongs: a block of many lines is shown by its first key.
    pub(crate) fn caret(&self) -> Span {
        match &self.content {
            Content::Scalar(_) => self.span,
            Content::List(items) => items.first().map_or(self.span, Self::caret),
            Content::Map(entries) => entries.first().map_or(self.span, |entry| entry.key.span),
        }
    }

    /// The entries, if this is a mapping.
    pub(crate) fn entries(&self) -> Option<&[Entry]> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.content {
            Content::Map(entries) => {
                entries.iter().find(|entry| entry.key.value == key).map(|entry| &entry.value)
            }
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        match &self.content {
            Content::Scalar(scalar) if scalar.kind == ScalarKind::Boolean => {
                Some(scalar.text.eq_ignore_ascii_case("true"))
            }
            _ => None,
        }
    }

    /// The same value as JSON.
    ///
    /// Numbers that JSON cannot hold stay text.
    pub fn to_json(&self) -> Value {
        match &self.content {
            Content::Scalar(scalar) => scalar.to_json(),
            Content::List(items) => items.iter().map(Self::to_json).collect(),
            Content::Map(entries) => entries
                .iter()
                .map(|entry| (entry.key.value.clone(), entry.value.to_json()))
                .collect(),
        }
    }

    /// Reports scalars that helm or Talos would read differently from this reader.
    pub(crate) fn report_ambiguous(&self, problems: &Problems) {
        match &self.content {
            Content::Scalar(scalar) => {
                if scalar.is_ambiguous() {
                    problems.push(ambiguous(self.span, scalar));
                }
            }
            Content::List(items) => items.iter().for_each(|item| item.report_ambiguous(problems)),
            Content::Map(entries) => {
                for entry in entries {
                    entry.value.report_ambiguous(problems);
                }
            }
        }
    }
}

fn ambiguous(span: Span, scalar: &Scalar) -> Problem {
    let text = &scalar.text;
    Problem::error(
        Rule::AmbiguousScalar,
        span,
        format!("`{text}` means different things to different readers"),
    )
    .label(format!("write `\"{text}\"` for text, or the number or boolean that is meant"))
    .note("YAML 1.1 reads `on` as true and `0644` as octal, YAML 1.2 does not")
}

impl Scalar {
    fn to_json(&self) -> Value {
        match self.kind {
            ScalarKind::Null => Value::Null,
            ScalarKind::Boolean => Value::Bool(self.text.eq_ignore_ascii_case("true")),
            ScalarKind::Integer => {
                self.integer().map_or_else(|| self.text.clone().into(), Value::from)
            }
            ScalarKind::Float => self
                .text
                .parse::<f64>()
                .ok()
                .and_then(serde_json::Number::from_f64)
                .map_or_else(|| self.text.clone().into(), Value::Number),
            ScalarKind::Text => self.text.clone().into(),
        }
    }

    /// The whole number, if it is one that fits.
    pub(crate) fn integer(&self) -> Option<i64> {
        if self.kind != ScalarKind::Integer {
            return None;
        }
        match self.text.get(..2) {
            Some("0x") => i64::from_str_radix(&self.text[2..], 16).ok(),
            Some("0o") => i64::from_str_radix(&self.text[2..], 8).ok(),
            _ => self.text.parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let table = [
            ("", ScalarKind::Null),
            ("~", ScalarKind::Null),
            ("true", ScalarKind::Boolean),
            ("yes", ScalarKind::Text),
            ("42", ScalarKind::Integer),
            ("-1", ScalarKind::Integer),
            ("0x1F", ScalarKind::Integer),
            ("1.14", ScalarKind::Float),
            ("1e3", ScalarKind::Float),
            (".inf", ScalarKind::Float),
            ("inf", ScalarKind::Text),
            ("v1.14.1", ScalarKind::Text),
            ("10.0.0.0/16", ScalarKind::Text),
            ("1_000", ScalarKind::Text),
        ];
        for (text, kind) in table {
            assert_eq!(ScalarKind::of_plain(text), kind, "{text}");
        }
    }

    #[test]
    fn quoted_scalars_are_text() {
        assert_eq!(Scalar::new("42".into(), false).kind, ScalarKind::Text);
        assert!(!Scalar::new("on".into(), false).is_ambiguous());
        assert!(Scalar::new("on".into(), true).is_ambiguous());
        assert!(Scalar::new("0644".into(), true).is_ambiguous());
        assert!(!Scalar::new("0".into(), true).is_ambiguous());
    }
}
