//! PEM: a label and bytes. The usual readers refuse the labels of Talos.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Characters in a line, as Go and OpenSSL write them.
const LINE: usize = 64;

/// One PEM block. The bytes may be a key: it has no `Debug`.
pub(super) struct Block {
    pub(super) label: String,
    pub(super) der: Vec<u8>,
}

/// Why a text is no PEM block. The text itself is not shown: it may be a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PemError {
    /// There is no `-----BEGIN …-----` line.
    #[error("it does not begin with a `-----BEGIN …-----` line")]
    NoBegin,
    /// There is no `-----END …-----` line of the same label.
    #[error("it has no `-----END …-----` line of the same label")]
    NoEnd,
    /// Between the lines is no base64.
    #[error("between its first and last line is something else than base64")]
    NotBase64,
    /// Something follows the block.
    #[error("something follows its `-----END …-----` line")]
    Trailing,
}

impl Block {
    /// Reads exactly one block.
    pub(super) fn decode(text: &str) -> Result<Self, PemError> {
        let begin = text.trim_start().strip_prefix("-----BEGIN ").ok_or(PemError::NoBegin)?;
        let (label, rest) = begin.split_once("-----").ok_or(PemError::NoBegin)?;
        let end = format!("-----END {label}-----");
        let (body, after) = rest.split_once(&end).ok_or(PemError::NoEnd)?;
        if !after.trim().is_empty() {
            return Err(PemError::Trailing);
        }
        let joined: String = body.split_whitespace().collect();
        let der = STANDARD.decode(joined).map_err(|_| PemError::NotBase64)?;
        Ok(Self { label: label.to_owned(), der })
    }
}

/// Writes a block as Go does.
pub(super) fn encode(label: &str, der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in body.as_bytes().chunks(LINE) {
        text.extend(line.iter().copied().map(char::from));
        text.push('\n');
    }
    text + "-----END " + label + "-----\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(der: Vec<u8>, label in "[A-Z0-9]{1,10}( [A-Z]{1,8})?") {
            let block = Block::decode(&encode(&label, &der)).unwrap();
            prop_assert_eq!((block.label, block.der), (label, der));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,80}") {
            let _ = Block::decode(&text);
            let _ = Block::decode(&format!("-----BEGIN A-----{text}"));
        }
    }

    #[test]
    fn each_flaw_has_its_name() {
        let flaw = |text: &str| Block::decode(text).err();
        assert_eq!(flaw("MC4CAQ=="), Some(PemError::NoBegin));
        assert_eq!(flaw("-----BEGIN A-----\nAAAA\n"), Some(PemError::NoEnd));
        assert_eq!(flaw("-----BEGIN A-----\nAAAA\n-----END B-----\n"), Some(PemError::NoEnd));
        assert_eq!(flaw("-----BEGIN A-----\n?\n-----END A-----\n"), Some(PemError::NotBase64));
        assert_eq!(flaw("-----BEGIN A-----\nAAAA\n-----END A-----\nx"), Some(PemError::Trailing));
        assert_eq!(flaw("\n-----BEGIN A-----\r\nAAAA\r\n-----END A-----\r\n\n"), None);
    }
}
