//! The little DER that is needed to move keys between PKCS#8 and the older
//! forms that Talos writes, and to write names that the library cannot.

const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
const OCTETS: u8 = 0x04;
pub(super) const OBJECT: u8 = 0x06;
pub(super) const PRINTABLE: u8 = 0x13;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
const PARAMETERS: u8 = 0xa0;
const PUBLIC_KEY: u8 = 0xa1;

/// What precedes the 32 bytes of an Ed25519 key in PKCS#8 of the first
/// version, the only one that Go writes.
const ED25519_PREFIX: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
const EC_PUBLIC_KEY: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const PRIME256V1: [u8; 8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];

/// Wraps the seed of an Ed25519 key in PKCS#8.
pub(super) fn ed25519_pkcs8(seed: [u8; 32]) -> Vec<u8> {
    [ED25519_PREFIX.as_slice(), &seed].concat()
}

/// Wraps a P-256 key in SEC1 form in PKCS#8.
pub(super) fn p256_pkcs8(sec1: &[u8]) -> Vec<u8> {
    let algorithm = [tlv(OBJECT, &EC_PUBLIC_KEY), tlv(OBJECT, &PRIME256V1)].concat();
    sequence(&[tlv(INTEGER, &[0]), tlv(SEQUENCE, &algorithm), tlv(OCTETS, sec1)])
}

/// Takes the SEC1 form, with the curve's name in it as Go writes it, out of
/// the PKCS#8 of a P-256 key.
pub(super) fn p256_sec1(pkcs8: &[u8], public_point: &[u8]) -> Option<Vec<u8>> {
    let (_version, rest) = take(INTEGER, take(SEQUENCE, pkcs8)?.0)?;
    let (_algorithm, rest) = take(SEQUENCE, rest)?;
    let (inner, _) = take(OCTETS, rest)?;
    let (_version, rest) = take(INTEGER, take(SEQUENCE, inner)?.0)?;
    let (scalar, _) = take(OCTETS, rest)?;
    let point = [&[0], public_point].concat();
    Some(sequence(&[
        tlv(INTEGER, &[1]),
        tlv(OCTETS, scalar),
        tlv(PARAMETERS, &tlv(OBJECT, &PRIME256V1)),
        tlv(PUBLIC_KEY, &tlv(BIT_STRING, &point)),
    ]))
}

/// Returns what is in the value that `input` begins with, and what follows it.
pub(super) fn take(tag: u8, input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, length) = head(input)?;
    let (content, rest) = input.split_at_checked(head)?.1.split_at_checked(length)?;
    (*input.first()? == tag).then_some((content, rest))
}

/// Returns the value that `input` begins with, whatever it is, and what follows it.
pub(super) fn whole(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, length) = head(input)?;
    input.split_at_checked(head.checked_add(length)?)
}

/// Returns how long a value's tag and length are, and how long its content.
fn head(input: &[u8]) -> Option<(usize, usize)> {
    match *input {
        [_, length @ 0..=0x7f, ..] => Some((2, usize::from(length))),
        [_, 0x81, length, ..] => Some((3, usize::from(length))),
        [_, 0x82, high, low, ..] => Some((4, usize::from(u16::from_be_bytes([high, low])))),
        // Nothing of ours is that long.
        _ => None,
    }
}

pub(super) fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tlv(SEQUENCE, &parts.concat())
}

pub(super) fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("no key and no certificate is that long");
    let [high, low] = length.to_be_bytes();
    let head = match length {
        0..=0x7f => vec![tag, low],
        0x80..=0xff => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    [&head, content].concat()
}
