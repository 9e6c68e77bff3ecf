//! A document as it was written: scalars with their text, everything with its line.

use serde_json::{Map, Number, Value};

use super::rules::{Place, Rule};

#[derive(Clone, PartialEq)]
pub(super) struct Node {
    /// The line in the patch, from 1.
    pub(super) line: u64,
    pub(super) content: Content,
}

#[derive(Clone, PartialEq)]
pub(super) enum Content {
    Scalar(Scalar),
    List(Vec<Node>),
    /// In the order of the patch.
    Map(Vec<(String, Node)>),
}

/// A scalar. Whether `1.10` is a number is only known from the field it is for.
#[derive(Clone, PartialEq)]
pub(super) struct Scalar {
    pub(super) text: String,
    pub(super) plain: bool,
}

impl Node {
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar(scalar) if scalar.is_null())
    }

    pub(super) fn entries(&self) -> Option<&[(String, Self)]> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find_map(|(name, node)| (name == key).then_some(node))
    }

    /// Returns the text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(scalar) if !scalar.is_null() => Some(&scalar.text),
            _ => None,
        }
    }

    /// Returns the value, as Talos reads it at a place.
    pub(super) fn value(&self, place: &mut Place<'_>) -> Value {
        match &self.content {
            Content::Scalar(scalar) => scalar.value(place),
            Content::List(items) => {
                items.iter().map(|item| place.within("[]", |place| item.value(place))).collect()
            }
            Content::Map(entries) => {
                let value = |(key, node): &(String, Self)| {
                    (key.clone(), place.within(key, |place| node.value(place)))
                };
                entries.iter().map(value).collect::<Map<_, _>>().into()
            }
        }
    }
}

impl Scalar {
    fn is_null(&self) -> bool {
        self.plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    fn value(&self, place: &Place<'_>) -> Value {
        if !self.plain || (place.is_text() && !self.is_null()) {
            return self.text.clone().into();
        }
        match self.text.as_str() {
            "true" | "True" | "TRUE" => return true.into(),
            "false" | "False" | "FALSE" => return false.into(),
            _ if self.is_null() => return Value::Null,
            _ => {}
        }
        // A field for text takes `1.10` and `0x1F` by the letter, and there are
        // no fields for fractions: only what is free of fields has them.
        let takes_any_number = matches!(place.rule(), Rule::Free | Rule::Mode);
        canonical(&self.text)
            .or_else(|| number(&self.text).filter(|_| takes_any_number))
            .map_or_else(|| self.text.clone().into(), Value::Number)
    }
}

/// Returns a whole number that is written in the one usual way.
fn canonical(text: &str) -> Option<Number> {
    let number: i128 = text.parse().ok().filter(|number: &i128| number.to_string() == text)?;
    Number::from_i128(number)
}

/// Returns what Go's YAML takes for a number: with a base, with underscores, or
/// octal for no more than a leading zero.
fn number(text: &str) -> Option<Number> {
    let plain = text.replace('_', "");
    let (negative, digits) = match plain.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let whole = match digits.get(..2) {
        Some("0x") => whole(&digits[2..], 16),
        Some("0o") => whole(&digits[2..], 8),
        Some("0b") => whole(&digits[2..], 2),
        Some(_) if digits.starts_with('0') => whole(digits, 8),
        _ => whole(digits, 10),
    };
    if let Some(whole) = whole {
        let whole = if negative { -whole } else { whole };
        // What does not fit into 64 bits is no whole number any more.
        return Number::from_i128(whole).or_else(|| whole.to_string().parse().ok());
    }
    // Rust's parser also takes words such as `inf`.
    let fraction = plain.contains(|byte: char| byte.is_ascii_digit());
    plain.parse().ok().filter(|_| fraction).and_then(Number::from_f64)
}

/// Reads digits; Rust's parser alone would take one more sign.
fn whole(digits: &str, base: u32) -> Option<i128> {
    let has_sign = digits.starts_with(['+', '-']);
    i128::from_str_radix(digits, base).ok().filter(|_| !has_sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_sign() {
        for (text, expected) in [("-0x1F", -31), ("+017", 15), ("1_000", 1000), ("-0b11", -3)] {
            assert_eq!(number(text), Number::from_i128(expected), "{text}");
        }
        let lowest = format!("-{}", i128::MIN);
        for text in ["--5", "+-5", "-+5", "0x-5", "0o+7", "0b-1", lowest.as_str()] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
