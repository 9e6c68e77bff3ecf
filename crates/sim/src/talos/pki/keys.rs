//! The forms in which Talos writes private keys.

use base64::{Engine, prelude::BASE64_STANDARD};
use rcgen::KeyPair;

use super::PkiError;

const P256_PKCS8_HEADER_LENGTH: u8 = 24;

/// What precedes a P-256 key in its PKCS #8 envelope, in DER: version 0 and the
/// algorithm `id-ecPublicKey` on the curve `prime256v1`.
const P256_PKCS8_HEADER: [u8; P256_PKCS8_HEADER_LENGTH as usize] = [
    0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
    0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
];

/// Where the 32 bytes of a P-256 key begin in its PKCS #8 envelope.
const P256_SECRET: usize = 36;

/// What stands before and between the halves of a P-256 key in SEC 1. The
/// curve is named: Go does not read a key without that.
const P256_SEC1: [&[u8]; 2] = [
    &[0x30, 0x77, 2, 1, 1, 4, 0x20],
    &[0xa0, 0x0a, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7, 0xa1, 0x44, 3, 0x42, 0],
];

/// How long a line of PEM is.
const LINE: usize = 64;

/// What stands before the 32 bytes of an Ed25519 key in PKCS #8.
const ED25519_PKCS8_HEADER: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// Writes an Ed25519 key without its public half, which Go does not read, and
/// under Talos's label.
pub(super) fn ed25519_pem(key: &KeyPair) -> String {
    let der = key.serialize_der();
    let secret = &der[ED25519_PKCS8_HEADER.len()..][..32];
    pem("ED25519 PRIVATE KEY", &[&ED25519_PKCS8_HEADER, secret].concat())
}

/// Writes a P-256 key as SEC 1, as Kubernetes's own are written.
pub(super) fn p256_pem(key: &KeyPair) -> String {
    let der = key.serialize_der();
    let secret = &der[P256_SECRET..][..32];
    let [before, between] = P256_SEC1;
    pem("EC PRIVATE KEY", &[before, secret, between, key.public_key_raw()].concat())
}

fn pem(label: &str, der: &[u8]) -> String {
    let body = BASE64_STANDARD.encode(der);
    let lines: Vec<_> =
        (0..body.len()).step_by(LINE).map(|at| &body[at..body.len().min(at + LINE)]).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// Reads a key under any of the labels that Talos writes.
///
/// `ED25519 PRIVATE KEY` is PKCS #8 under a name of Talos's own, and
/// `EC PRIVATE KEY` is SEC 1, which the cryptography library does not read
/// without the PKCS #8 envelope.
pub(super) fn key_pair(pem: &str) -> Result<KeyPair, PkiError> {
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let der = BASE64_STANDARD.decode(body).map_err(|_| PkiError::ReadKey)?;
    let pkcs8 = if pem.contains("BEGIN EC PRIVATE KEY") { envelope(&der)? } else { der };
    Ok(KeyPair::try_from(pkcs8)?)
}

/// Puts a P-256 key into its PKCS #8 envelope.
fn envelope(sec1: &[u8]) -> Result<Vec<u8>, PkiError> {
    let inner = u8::try_from(sec1.len()).ok().filter(|length| *length < 0x80);
    let inner = inner.ok_or(PkiError::ReadKey)?;
    let outer = inner + 2 + P256_PKCS8_HEADER_LENGTH;
    let mut der = vec![0x30, 0x81, outer];
    der.extend(P256_PKCS8_HEADER);
    der.extend([0x04, inner]);
    der.extend(sec1);
    Ok(der)
}

#[cfg(test)]
mod tests {
    use rcgen::{PKCS_ECDSA_P256_SHA256, PKCS_ED25519};

    use super::*;

    #[test]
    fn a_key_that_was_written_is_the_one_that_is_read() {
        for (algorithm, write, label) in [
            (&PKCS_ECDSA_P256_SHA256, p256_pem as fn(&KeyPair) -> String, "EC PRIVATE KEY"),
            (&PKCS_ED25519, ed25519_pem, "ED25519 PRIVATE KEY"),
        ] {
            let key = KeyPair::generate_for(algorithm).unwrap();
            let written = write(&key);
            assert!(written.starts_with(&format!("-----BEGIN {label}-----\n")), "{label}");
            assert!(written.lines().all(|line| line.len() <= LINE));
            assert_eq!(key_pair(&written).unwrap().public_key_raw(), key.public_key_raw());
        }
    }
}
