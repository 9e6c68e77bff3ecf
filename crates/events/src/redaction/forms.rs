//! The forms in which a secret travels.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Lines of a secret text shorter than this say nothing on their own.
const MIN_LINE: usize = 16;

/// Returns every byte string that gives `secret` away: plain, JSON-escaped once
/// and twice, as base64 of either at any offset, URL-escaped, and line by line.
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
    let once = json_escaped(text);
    let mut forms = vec![percent_escaped(text, Hex::Upper), percent_escaped(text, Hex::Lower)];
    // JSON is often wrapped in base64, as in the data of a Kubernetes Secret.
    forms.extend(base64_cores(text.as_bytes()));
    forms.extend(base64_cores(once.as_bytes()));
    forms.push(json_escaped(&once).into_bytes());
    forms.push(once.into_bytes());
    forms.push(text.as_bytes().to_vec());
    forms
}

fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[derive(Clone, Copy)]
enum Hex {
    Upper,
    Lower,
}

fn percent_escaped(text: &str, hex: Hex) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        match (byte, hex) {
            (b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~', _) => {
                escaped.push(byte);
            }
            (_, Hex::Upper) => escaped.extend(format!("%{byte:02X}").bytes()),
            (_, Hex::Lower) => escaped.extend(format!("%{byte:02x}").bytes()),
        }
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
