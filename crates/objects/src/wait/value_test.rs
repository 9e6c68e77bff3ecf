//! What a value at a path has to be.

use std::fmt;
use std::str::FromStr;

use regex::Regex;
use serde_json::Value;

/// What a value has to be.
#[derive(Clone, Debug)]
pub enum ValueTest {
    /// Anything but null.
    Exists,
    /// This text, number or truth value, as it is written.
    Is(String),
    /// Anything else.
    IsNot(String),
    /// A number, or a text that is one, in this order to another one.
    Number(NumberOrder, f64),
    /// A text in which the pattern is found.
    Matches(Regex),
}

/// How two numbers stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOrder {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// Why a text is no test of a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueTestError {
    /// It begins with none of the signs.
    #[error("`{0}` is no test of a value; one begins with =, !=, >, >=, <, <= or ~")]
    NoSign(String),
    /// There is no value behind the sign.
    #[error("`{0}` is followed by nothing to compare with")]
    NoValue(String),
    /// What should be a number is none.
    #[error("`{0}` does not compare with a number")]
    NotANumber(String),
    /// The pattern cannot be read.
    #[error("`{pattern}` is not a pattern: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it, in one line.
        problem: String,
    },
}

// === impl ValueTest ===

impl ValueTest {
    /// Returns whether a value passes.
    pub fn passes(&self, value: &Value) -> bool {
        match self {
            Self::Exists => !value.is_null(),
            Self::Is(wanted) => scalar(value).is_some_and(|found| found == *wanted),
            Self::IsNot(other) => scalar(value).is_some_and(|found| found != *other),
            Self::Number(order, limit) => number(value).is_some_and(|n| order.holds(n, *limit)),
            Self::Matches(pattern) => scalar(value).is_some_and(|found| pattern.is_match(&found)),
        }
    }

    fn number(sign: &str, order: NumberOrder, rest: &str) -> Result<Self, ValueTestError> {
        let limit: Option<f64> = rest.trim().parse().ok();
        let limit = limit.filter(|limit| limit.is_finite());
        let wrong = || ValueTestError::NotANumber(format!("{sign}{rest}"));
        limit.map(|limit| Self::Number(order, limit)).ok_or_else(wrong)
    }

    fn pattern(text: &str) -> Result<Self, ValueTestError> {
        Regex::new(text).map(Self::Matches).map_err(|error| {
            let text_of_error = error.to_string();
            let problem = text_of_error.lines().last().unwrap_or_default().trim().to_owned();
            ValueTestError::Pattern { pattern: text.to_owned(), problem }
        })
    }
}

impl FromStr for ValueTest {
    type Err = ValueTestError;

    fn from_str(text: &str) -> Result<Self, ValueTestError> {
        if text.is_empty() {
            return Ok(Self::Exists);
        }
        let signs = ["==", "!=", ">=", "<=", "=", ">", "<", "~"];
        let sign = signs.iter().find(|sign| text.starts_with(**sign));
        let sign = sign.ok_or_else(|| ValueTestError::NoSign(text.to_owned()))?;
        let rest = &text[sign.len()..];
        if rest.is_empty() {
            return Err(ValueTestError::NoValue((*sign).to_owned()));
        }
        match *sign {
            ">" => Self::number(sign, NumberOrder::Above, rest),
            ">=" => Self::number(sign, NumberOrder::AtLeast, rest),
            "<" => Self::number(sign, NumberOrder::Below, rest),
            "<=" => Self::number(sign, NumberOrder::AtMost, rest),
            "~" => Self::pattern(rest),
            "!=" => Ok(Self::IsNot(unquoted(rest))),
            _ => Ok(Self::Is(unquoted(rest))),
        }
    }
}

impl fmt::Display for ValueTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists => Ok(()),
            Self::Is(value) => write!(f, "={value}"),
            Self::IsNot(value) => write!(f, "!={value}"),
            Self::Number(order, limit) => write!(f, "{order}{limit}"),
            Self::Matches(pattern) => write!(f, "~{pattern}"),
        }
    }
}

/// Patterns are the same where they are written the same.
impl PartialEq for ValueTest {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

// === impl NumberOrder ===

impl NumberOrder {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
        }
    }
}

impl fmt::Display for NumberOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        })
    }
}

/// Returns a value as people write it; none for lists and mappings.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn unquoted(text: &str) -> String {
    let quoted = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    quoted('"').or_else(|| quoted('\'')).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tests_pass_and_fail() {
        let table = [
            ("", json!("x"), true),
            ("", json!(null), false),
            ("", json!([]), true),
            ("=Bound", json!("Bound"), true),
            ("=\"Bound\"", json!("Bound"), true),
            ("=='Bound'", json!("Bound"), true),
            ("=bound", json!("Bound"), false),
            ("=3", json!(3), true),
            ("=3", json!("3"), true),
            ("=true", json!(true), true),
            ("=x", json!({ "x": 1 }), false),
            ("!=Pending", json!("Bound"), true),
            ("!=Pending", json!("Pending"), false),
            (">2", json!(3), true),
            (">2", json!(2), false),
            (">2", json!("3"), true),
            (">2", json!("many"), false),
            (">=2", json!(2), true),
            ("<2.5", json!(2), true),
            ("<=2", json!(3), false),
            ("~^v1\\.", json!("v1.36"), true),
            ("~^v1\\.", json!("v2.0"), false),
            ("~7", json!(17), true),
        ];
        for (test, value, wanted) in table {
            let parsed: ValueTest = test.parse().unwrap();
            assert_eq!(parsed.passes(&value), wanted, "{test} on {value}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_read_says_why_in_one_line() {
        let error = "~a(b".parse::<ValueTest>().unwrap_err().to_string();
        assert_eq!(error, "`a(b` is not a pattern: error: unclosed group");
    }
}
