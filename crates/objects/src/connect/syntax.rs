//! Where and why a kubeconfig cannot be read. What stands there may be a secret:
//! of a line only the key is shown, and no reason quotes a value.

use serde_saphyr::{Error, MessageFormatter as _, UserMessageFormatter};

/// A place in a kubeconfig that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxProblem {
    /// The line, from 1; none where no place is known.
    pub line: Option<u64>,
    /// The column, from 1.
    pub column: Option<u64>,
    /// What is wrong there.
    pub reason: String,
    /// The line without its value, and a caret below it.
    pub excerpt: Option<String>,
}

impl SyntaxProblem {
    pub(super) fn of(error: &Error, text: &str) -> Self {
        let location = error.location();
        let (line, column) = (location.map(|it| it.line()), location.map(|it| it.column()));
        let reason = unquoted(&UserMessageFormatter.format_message(error));
        let excerpt = line.zip(column).and_then(|(line, column)| excerpt(text, line, column));
        Self { line, column, reason, excerpt }
    }
}

impl std::fmt::Display for SyntaxProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.reason)
    }
}

/// Names of fields are ours and stay; everything else in quotes is theirs.
fn unquoted(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let about_fields = ["missing field", "unknown field", "duplicate field"];
    if about_fields.iter().any(|words| message.starts_with(words)) {
        return message.to_owned();
    }
    let mut plain = String::new();
    let mut within: Option<char> = None;
    for symbol in message.chars() {
        match (within, symbol) {
            (Some(end), symbol) if symbol == end => {
                within = None;
                plain.push('…');
                plain.push(symbol);
            }
            (Some(_), _) => {}
            (None, '"' | '`') => {
                within = Some(symbol);
                plain.push(symbol);
            }
            (None, symbol) => plain.push(symbol),
        }
    }
    plain
}

/// Returns the line up to its key, and a caret below the column.
fn excerpt(text: &str, line: u64, column: u64) -> Option<String> {
    let line = text.lines().nth(usize::try_from(line.checked_sub(1)?).ok()?)?;
    let (key, value) = line.split_once(':')?;
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/');
    if key.len() > 60 || !key.chars().all(is_key) {
        return None;
    }
    let shown = if value.trim().is_empty() { format!("{key}:") } else { format!("{key}: …") };
    let column = usize::try_from(column).ok()?.saturating_sub(1);
    let caret = column.min(shown.chars().count().saturating_sub(1));
    Some(format!("{shown}\n{}^", " ".repeat(caret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_quote_no_value() {
        let said = unquoted("invalid type: integer `12345678`, expected a string");
        assert_eq!(said, "invalid type: integer `…`, expected a string");
        assert_eq!(unquoted("missing field `name`"), "missing field `name`");
        assert_eq!(unquoted("invalid type: string \"hunter22"), "invalid type: string \"");
    }

    #[test]
    fn an_excerpt_shows_the_key_and_points_at_the_place() {
        let text = "users:\n- name: a\n    token: hunter22\n";
        assert_eq!(excerpt(text, 3, 10), Some("    token: …\n         ^".to_owned()));
        assert_eq!(excerpt(text, 3, 30), Some("    token: …\n           ^".to_owned()));
        assert_eq!(excerpt("hunter22", 1, 1), None);
    }
}
