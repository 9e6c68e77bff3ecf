//! A JSON value that tells the items of a list apart.

use std::fmt;

use serde_json::{Number, Value};

/// A JSON value that can be compared and sorted. Numbers are compared as
/// numbers: `80` and `80.0` are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(Box<str>),
    /// Anything else, as compact JSON.
    Other(Box<str>),
}

/// Above this not every whole number is a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Atom {
    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// Returns whether it is this value.
    pub fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text(text), Value::String(other)) => **text == **other,
            (Self::Text(_), _) | (_, Value::String(_)) => false,
            _ => *self == Self::from(value),
        }
    }

    /// Returns the value.
    pub fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => (*bool).into(),
            Self::Int(int) => (*int).into(),
            Self::Text(text) => Value::from(&**text),
            Self::Other(json) => {
                serde_json::from_str(json).expect("it was made from a value, as JSON")
            }
        }
    }
}

impl From<&Value> for Atom {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(bool) => Self::Bool(*bool),
            Value::String(text) => Self::text(text),
            Value::Number(number) => {
                whole(number).map_or_else(|| Self::Other(number.to_string().into()), Self::Int)
            }
            Value::Array(_) | Value::Object(_) => Self::Other(value.to_string().into()),
        }
    }
}

impl fmt::Display for Atom {
    /// As JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(bool) => write!(f, "{bool}"),
            Self::Int(int) => write!(f, "{int}"),
            Self::Text(text) => write!(f, "{}", Value::from(&**text)),
            Self::Other(json) => f.write_str(json),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the number is whole and within the range")]
fn whole(number: &Number) -> Option<i64> {
    let float = || number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < EXACT);
    number.as_i64().or_else(|| float().map(|float| float as i64))
}
