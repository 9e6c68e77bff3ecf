//! A certificate for several organisations, as Go writes it: all in one part of
//! the subject. The library that signs keeps only one of each kind.

use rcgen::{KeyPair, SigningKey as _};

use super::der::{BIT_STRING, OBJECT, PRINTABLE, SEQUENCE, SET, sequence, take, tlv, whole};

/// The attribute `O` of names.
const ORGANIZATION: [u8; 3] = [0x55, 0x04, 0x0a];
/// Where the subject stands among what is signed: after the version, the serial
/// number, the algorithm, the issuer and the lifetime.
const SUBJECT: usize = 5;

/// Puts the organisations in place of a certificate's subject, and signs anew.
/// Nothing where `der` is no certificate.
pub(super) fn with_organizations(
    der: &[u8],
    organizations: &[&str],
    signer: &KeyPair,
) -> Option<Result<Vec<u8>, rcgen::Error>> {
    let (certificate, _) = take(SEQUENCE, der)?;
    let (mut fields, rest) = take(SEQUENCE, certificate)?;
    let (algorithm, _) = whole(rest)?;
    let mut parts = Vec::new();
    while !fields.is_empty() {
        let (field, rest) = whole(fields)?;
        parts.push(field.to_vec());
        fields = rest;
    }
    *parts.get_mut(SUBJECT)? = subject(organizations);
    let body = sequence(&parts);
    Some(signer.sign(&body).map(|signature| {
        let signature = tlv(BIT_STRING, &[&[0], &signature[..]].concat());
        sequence(&[body, algorithm.to_vec(), signature])
    }))
}

/// The members of a set are in the order of their bytes.
fn subject(organizations: &[&str]) -> Vec<u8> {
    let attribute =
        |name: &&str| sequence(&[tlv(OBJECT, &ORGANIZATION), tlv(PRINTABLE, name.as_bytes())]);
    let mut attributes: Vec<_> = organizations.iter().map(attribute).collect();
    attributes.sort();
    sequence(&[tlv(SET, &attributes.concat())])
}
