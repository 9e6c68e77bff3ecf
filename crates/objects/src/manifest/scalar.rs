//! Scalars as kubectl's reader takes them: YAML 1.1 without base 60.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Number, Value};

/// A scalar as it stands in the text.
pub(super) struct Written<'a> {
    pub(super) text: &'a str,
    /// Without quotes, and no block.
    pub(super) plain: bool,
    /// The whole tag, where there is one.
    pub(super) tag: Option<&'a str>,
}

const CORE: &str = "tag:yaml.org,2002:";

/// Returns the value, or what is wrong.
pub(super) fn value(written: &Written<'_>) -> Result<Value, String> {
    let text = written.text;
    match written.tag.map(|tag| tag.strip_prefix(CORE).unwrap_or("")) {
        None if written.plain => plain(text),
        Some("binary") => binary(text),
        Some(tag @ ("int" | "float" | "bool" | "null")) => tagged(tag, text),
        // `!!str`, tags of others, and everything in quotes.
        _ => Ok(text.into()),
    }
}

fn tagged(tag: &str, text: &str) -> Result<Value, String> {
    let value = plain(text)?;
    let fits = match tag {
        "int" => value.is_i64() || value.is_u64(),
        "float" => value.is_number(),
        "bool" => value.is_boolean(),
        _ => value.is_null(),
    };
    if fits { Ok(value) } else { Err(format!("`{text}` is no `!!{tag}`")) }
}

fn binary(text: &str) -> Result<Value, String> {
    let joined: String = text.split_whitespace().collect();
    let bytes = STANDARD.decode(joined).map_err(|_| "`!!binary` is not base64".to_owned())?;
    let text = String::from_utf8(bytes).map_err(|_| "`!!binary` holds no text".to_owned())?;
    Ok(text.into())
}

fn plain(text: &str) -> Result<Value, String> {
    Ok(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            true.into()
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            false.into()
        }
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF"
        | "-.inf" | "-.Inf" | "-.INF" => return Err(format!("JSON has no number `{text}`")),
        _ => number(text).map_or_else(|| text.into(), Value::Number),
    })
}

fn number(text: &str) -> Option<Number> {
    match text.as_bytes().first()? {
        b'0'..=b'9' | b'+' | b'-' => {
            let digits = text.replace('_', "");
            int(&digits).or_else(|| float(&digits))
        }
        b'.' => float(text),
        _ => None,
    }
}

/// `0x`, `0o`, `0b` and a leading zero say the base.
fn int(text: &str) -> Option<Number> {
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (&text[..1], digits),
        None => ("", text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !digits.bytes().all(|digit| digit.is_ascii_alphanumeric()) {
        return None;
    }
    let signed = format!("{sign}{digits}");
    let int = i64::from_str_radix(&signed, radix).ok().map(Number::from);
    let large = || u64::from_str_radix(digits, radix).ok().filter(|_| sign.is_empty());
    int.or_else(|| large().map(Number::from).map(whole))
}

fn float(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let is_digits = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    if !is_digits(before)
        || !is_digits(after)
        || before.len() + after.len() == 0
        || exponent.is_some_and(|digits| digits.is_empty() || !is_digits(digits))
    {
        return None;
    }
    // One that is too large is a text.
    Number::from_f64(text.parse().ok()?).map(whole)
}

/// `1e3` and `3.0` are whole numbers to kubectl, whose JSON has only one kind;
/// and what no `int64` holds is a float.
pub(super) fn whole(number: Number) -> Number {
    match number.as_f64() {
        // Written out without an exponent, as Go does below 1e21: few digits, then zeros.
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e21 => {
            let int = float.to_string().parse::<i64>();
            int.map_or(number, Number::from)
        }
        Some(float) if !number.is_i64() => Number::from_f64(float).unwrap_or(number),
        _ => number,
    }
}

/// The text of a key: JSON has no other keys. There is none for null.
pub(super) fn key(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
