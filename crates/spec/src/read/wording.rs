//! How the decoder words what is wrong.

use super::node::{Node, Scalar as ScalarNode, ScalarKind};
use super::problem::Problem;
use super::source::Span;
use crate::rules::Rule;
use crate::scalar::{Complaint, Format, Json, shortened};

pub(super) fn names_a_secret(key: &str) -> bool {
    let key = key.to_lowercase();
    ["token", "password", "secret", "privatekey", "passphrase"]
        .iter()
        .any(|word| key.contains(word))
}

pub(super) fn wrong_kind(node: &Node, key: Span, expected: String) -> Problem {
    if node.is_null() {
        // The span of nothing is empty; the key is what can be shown.
        let at = if node.span.is_nowhere() { node.span } else { key };
        return Problem::error(Rule::EmptyValue, at, "a value is missing").label(expected);
    }
    let found = node.kind();
    Problem::error(Rule::WrongType, node.caret(), format!("{expected}, found {found}"))
        .label(format!("this is {found}"))
}

pub(super) fn bad_value(text: &str, span: Span, format: Format, complaint: Complaint) -> Problem {
    let message = complaint
        .message
        .unwrap_or_else(|| format!("`{}` is not {}", shortened(text), format.name));
    complaint
        .notes
        .into_iter()
        .fold(Problem::error(Rule::BadValue, span, message).label(complaint.label), Problem::note)
}

/// A scalar that reads well but has another type in JSON, where editors and schemas look.
pub(super) fn wrong_json_type(
    scalar: &ScalarNode,
    span: Span,
    format: Format,
    reads: bool,
) -> Option<Problem> {
    let text = shortened(&scalar.text);
    let found = scalar.kind.name();
    let wrong = |label: String| {
        Problem::error(Rule::WrongType, span, format!("expected {}, found {found}", format.name))
            .label(label)
    };
    match (format.json, scalar.kind) {
        (Json::Text { .. } | Json::Words(_), ScalarKind::Text) => None,
        (Json::Text { .. } | Json::Words(_), _) if reads => {
            Some(wrong(format!("put it in quotes: `\"{text}\"`")))
        }
        (Json::Integer { .. } | Json::Number | Json::Boolean, ScalarKind::Text) if reads => {
            Some(wrong(format!("remove the quotes: `{text}`")))
        }
        (Json::Integer { .. }, ScalarKind::Boolean | ScalarKind::Float) => {
            Some(wrong(format!("this is {found}")))
        }
        (Json::Boolean, ScalarKind::Integer | ScalarKind::Float) => {
            Some(wrong("expected `true` or `false`".to_owned()))
        }
        _ => None,
    }
}
