//! The forms in which a secret travels.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Lines of a secret text shorter than this say nothing on their own.
const MIN_LINE: usize = 16;

/// Returns every byte string that gives `secret` away: plain, JSON-escaped by
/// any of the usual encoders and up to three deep, as base64 of either at any
/// offset, URL-escaped, and line by line. Base64 that is wrapped into lines is
/// not among them.
///
/// Single lines matter because a PEM key in a YAML block is indented, which
/// tears the text as a whole apart.
pub(super) fn forms(secret: &str) -> Vec<Vec<u8>> {
    let mut forms = forms_of_text(secret);
    let lines = secret.lines().map(str::trim);
    for line in lines.filter(|line| line.len() >= MIN_LINE && !line.starts_with("-----")) {
        forms.extend(forms_of_text(line));
    }
    forms.sort();
    forms.dedup();
    forms
}

fn forms_of_text(text: &str) -> Vec<Vec<u8>> {
    let mut forms = url_escaped(text);
    forms.push(text.as_bytes().to_vec());
    forms.extend(base64_cores(text.as_bytes()));
    for escaped in json_escaped(text) {
        // JSON is often wrapped in base64, as in the data of a Kubernetes Secret.
        forms.extend(base64_cores(escaped.as_bytes()));
        forms.extend(nested(escaped).into_iter().map(String::into_bytes));
    }
    forms
}

/// Returns the text as the JSON encoders around us write it: plain, with the
/// characters that Go escapes for HTML, in ASCII only, or both.
fn json_escaped(text: &str) -> Vec<String> {
    let plain = json_string(text);
    let html = |escaped: &str| {
        escaped.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
    };
    let ascii = ascii_only(&plain);
    vec![html(&plain), html(&ascii), plain, ascii]
}

/// Returns JSON in a string of JSON, and once more: a manifest in an
/// annotation is that deep in the line of a journal.
fn nested(escaped: String) -> Vec<String> {
    let twice = json_string(&escaped);
    let thrice = json_string(&twice);
    vec![escaped, twice, thrice]
}

fn json_string(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn ascii_only(escaped: &str) -> String {
    let mut ascii = String::with_capacity(escaped.len());
    let mut units = [0; 2];
    for symbol in escaped.chars() {
        if symbol.is_ascii() {
            ascii.push(symbol);
            continue;
        }
        for unit in symbol.encode_utf16(&mut units) {
            write!(ascii, "\\u{unit:04x}").expect("a string takes any text");
        }
    }
    ascii
}

/// Returns the text as URLs and forms carry it.
fn url_escaped(text: &str) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for hex in [Hex::Upper, Hex::Lower] {
        for kept in ["-._~", "-._~!'()*", "-._~!$&'()*+,;=:@/"] {
            let escaped = percent_escaped(text, kept, hex);
            forms.push(escaped.replace("%20", "+").into_bytes());
            forms.push(escaped.into_bytes());
        }
    }
    forms
}

#[derive(Clone, Copy)]
enum Hex {
    Upper,
    Lower,
}

fn percent_escaped(text: &str, kept: &str, hex: Hex) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        let symbol = char::from(byte);
        let written = match hex {
            _ if byte.is_ascii_alphanumeric() || kept.contains(symbol) => {
                escaped.push(symbol);
                Ok(())
            }
            Hex::Upper => write!(escaped, "%{byte:02X}"),
            Hex::Lower => write!(escaped, "%{byte:02x}"),
        };
        written.expect("a string takes any text");
    }
    escaped
}

/// Returns what stays the same of the base64 of any text that contains
/// `secret`, for the three places where it can start within a group of three
/// bytes, in both alphabets.
fn base64_cores(secret: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let encoders = [STANDARD_NO_PAD, URL_SAFE_NO_PAD];
    encoders.into_iter().flat_map(move |encoder| {
        (0..3).map(move |offset| {
            let mut padded = vec![0; offset];
            padded.extend_from_slice(secret);
            let encoded = encoder.encode(&padded).into_bytes();
            // Of a character that also holds bits of a neighbour nothing is known.
            let first = (offset * 8).div_ceil(6);
            let last = padded.len() * 8 / 6;
            encoded[first..last].to_vec()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use proptest::prelude::*;

    fn contains(haystack: &[u8], needles: &[Vec<u8>]) -> bool {
        needles.iter().any(|needle| haystack.windows(needle.len()).any(|part| part == needle))
    }

    proptest! {
        #[test]
        fn base64_is_found_at_every_offset(
            before: Vec<u8>, secret in "[ -~]{8,40}", after: Vec<u8>
        ) {
            let text = [before.as_slice(), secret.as_bytes(), &after].concat();
            let forms = forms(&secret);
            prop_assert!(contains(STANDARD.encode(&text).as_bytes(), &forms));
            prop_assert!(contains(URL_SAFE.encode(&text).as_bytes(), &forms));
        }

        #[test]
        fn escaped_text_is_found(secret in "\\PC{8,40}") {
            let json = serde_json::to_string(&secret).unwrap();
            let twice = serde_json::to_string(&json).unwrap();
            let forms = forms(&secret);
            prop_assert!(contains(json.as_bytes(), &forms));
            let wrapped = STANDARD.encode(["[", &json, "]"].concat());
            prop_assert!(contains(wrapped.as_bytes(), &forms));
            prop_assert!(contains(twice.as_bytes(), &forms));
        }
    }

    #[test]
    fn lines_of_a_key_are_found_in_an_indented_block() {
        let key = "-----BEGIN KEY-----\nMC4CAQAwBQYDK2VwBCIEIGtleWtleQ==\n-----END KEY-----\n";
        let block = key.replace('\n', "\n      ");
        assert!(contains(block.as_bytes(), &forms(key)));
        assert!(!contains(b"-----BEGIN KEY-----", &forms(key)), "a label is no secret");
    }
}
