//! Private keys.

use std::sync::mpsc;
use std::thread;

use events::Secret;
use rand::rngs::StdRng;
use rand::{CryptoRng, SeedableRng as _};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, PKCS_RSA_SHA256, SignatureAlgorithm};
use rsa::RsaPrivateKey;
use rsa::pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _};
use rsa::pkcs8::EncodePrivateKey as _;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::pem::{Block, PemError, encode};
use super::{SpkiHash, der};

/// The size of a service account key: what Talos makes since 1.7.
const RSA_BITS: usize = 4096;

/// What a key is made of, and so which label Talos writes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Ed25519, in PKCS#8 under a label of Talos's own.
    Ed25519,
    /// ECDSA on P-256, in SEC1.
    P256,
    /// RSA, in PKCS#1.
    Rsa,
}

/// A private key. It keeps the text that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateKey {
    kind: KeyKind,
    pem: Secret,
}

/// Why a text is no private key, or none could be made.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It is no PEM.
    #[error("it is not a key in PEM")]
    Pem(#[from] PemError),
    /// Talos writes no such key.
    #[error("keys labelled `{0}` are not known, only those that Talos writes")]
    Label(String),
    /// The label promises another key than there is.
    #[error("it is labelled `{0}` and is none")]
    Content(&'static str),
    /// No key could be made.
    #[error("no key could be made")]
    Make(#[source] rcgen::Error),
    /// No RSA key could be made.
    #[error("no RSA key could be made")]
    MakeRsa(#[source] rsa::Error),
}

/// Randomness as the RSA library wants it.
struct Rand06<'a, R>(&'a mut R);

// === impl KeyKind ===

impl KeyKind {
    /// Returns the label that Talos writes around such a key.
    pub fn label(self) -> &'static str {
        match self {
            Self::Ed25519 => "ED25519 PRIVATE KEY",
            Self::P256 => "EC PRIVATE KEY",
            Self::Rsa => "RSA PRIVATE KEY",
        }
    }

    fn of_label(label: &str) -> Option<Self> {
        [Self::Ed25519, Self::P256, Self::Rsa].into_iter().find(|kind| kind.label() == label)
    }

    fn algorithm(self) -> &'static SignatureAlgorithm {
        match self {
            Self::Ed25519 => &PKCS_ED25519,
            Self::P256 => &PKCS_ECDSA_P256_SHA256,
            Self::Rsa => &PKCS_RSA_SHA256,
        }
    }
}

// === impl PrivateKey ===

impl PrivateKey {
    /// Makes an Ed25519 key.
    pub fn ed25519(rng: &mut impl CryptoRng) -> Self {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        Self::written(KeyKind::Ed25519, &der::ed25519_pkcs8(seed))
    }

    /// Makes a P-256 key. Its randomness is the operating system's: `ring`
    /// takes no other.
    pub fn p256() -> Result<Self, KeyError> {
        let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(KeyError::Make)?;
        let sec1 = der::p256_sec1(pair.serialized_der(), pair.public_key_raw())
            .ok_or(KeyError::Content(KeyKind::P256.label()))?;
        Ok(Self::written(KeyKind::P256, &sec1))
    }

    /// Makes an RSA key of 4096 bits. This takes seconds of computing: call it
    /// where nobody waits for the thread.
    pub fn rsa4096(rng: &mut impl CryptoRng) -> Result<Self, KeyError> {
        let key = first_rsa(rng).map_err(KeyError::MakeRsa)?;
        let pkcs1 = key.to_pkcs1_der().map_err(|_| KeyError::Content(KeyKind::Rsa.label()))?;
        Ok(Self::written(KeyKind::Rsa, pkcs1.as_bytes()))
    }

    /// Reads a key as Talos writes it.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let block = Block::decode(pem)?;
        let kind = KeyKind::of_label(&block.label).ok_or(KeyError::Label(block.label))?;
        let key = Self { kind, pem: Secret::new(pem) };
        key.pair()?;
        Ok(key)
    }

    /// Returns what it is made of.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the key as Talos writes it.
    pub fn pem(&self) -> &Secret {
        &self.pem
    }

    /// Returns the fingerprint of the public key that belongs to it.
    pub fn spki(&self) -> Result<SpkiHash, KeyError> {
        let pair = self.pair()?;
        Ok(SpkiHash::of(&rcgen::PublicKeyData::subject_public_key_info(&pair)))
    }

    /// Returns the public key alone: of an Ed25519 key its 32 bytes.
    pub fn public(&self) -> Result<Vec<u8>, KeyError> {
        Ok(self.pair()?.public_key_raw().to_vec())
    }

    /// Returns the key in the form that TLS libraries take.
    pub(crate) fn for_tls(&self) -> Result<PrivateKeyDer<'static>, KeyError> {
        self.pkcs8().map(PrivateKeyDer::Pkcs8)
    }

    /// Returns the key in the form that signs certificates.
    pub(crate) fn pair(&self) -> Result<KeyPair, KeyError> {
        KeyPair::from_pkcs8_der_and_sign_algo(&self.pkcs8()?, self.kind.algorithm())
            .map_err(|_| KeyError::Content(self.kind.label()))
    }

    fn pkcs8(&self) -> Result<PrivatePkcs8KeyDer<'static>, KeyError> {
        let written = Block::decode(self.pem.reveal())?.der;
        Ok(match self.kind {
            KeyKind::Ed25519 => written.into(),
            // Longer ones are keys on other curves.
            KeyKind::P256 if written.len() > 200 => {
                return Err(KeyError::Content(self.kind.label()));
            }
            KeyKind::P256 => der::p256_pkcs8(&written).into(),
            KeyKind::Rsa => rsa_pkcs8(&written).ok_or(KeyError::Content(self.kind.label()))?.into(),
        })
    }

    fn written(kind: KeyKind, der: &[u8]) -> Self {
        Self { kind, pem: Secret::new(encode(kind.label(), der)) }
    }
}

/// How many searches for an RSA key are made at the same time.
const RSA_SEARCHES: usize = 2;

/// Makes an RSA key. How long the search for its primes takes is a matter of
/// luck, so that the sooner of two takes about two thirds of the time. The
/// later one ends by itself, and nobody listens.
fn first_rsa(rng: &mut impl CryptoRng) -> rsa::Result<RsaPrivateKey> {
    let (found, first) = mpsc::channel();
    for _ in 0..RSA_SEARCHES {
        let (mut rng, found) = (StdRng::from_rng(rng), found.clone());
        thread::spawn(move || {
            let _ = found.send(RsaPrivateKey::new(&mut Rand06(&mut rng), RSA_BITS));
        });
    }
    first.recv().expect("every search sends what it found")
}

fn rsa_pkcs8(pkcs1: &[u8]) -> Option<Vec<u8>> {
    let key = RsaPrivateKey::from_pkcs1_der(pkcs1).ok()?;
    Some(key.to_pkcs8_der().ok()?.as_bytes().to_vec())
}

// === impl Rand06 ===

impl<R: CryptoRng> rsa::rand_core::RngCore for Rand06<'_, R> {
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rsa::rand_core::Error> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl<R: CryptoRng> rsa::rand_core::CryptoRng for Rand06<'_, R> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_its_text() {
        let mut rng = StdRng::seed_from_u64(1);
        let small = RsaPrivateKey::new(&mut Rand06(&mut rng), 2048).unwrap();
        let small = PrivateKey::written(KeyKind::Rsa, small.to_pkcs1_der().unwrap().as_bytes());
        for key in [PrivateKey::ed25519(&mut rng), PrivateKey::p256().unwrap(), small] {
            let again = PrivateKey::from_pem(key.pem().reveal()).unwrap();
            assert_eq!(again, key);
            assert_eq!(again.spki().unwrap(), key.spki().unwrap());
            let begin = format!("-----BEGIN {}-----\n", key.kind().label());
            assert!(key.pem().reveal().starts_with(&begin));
        }
    }

    #[test]
    fn the_same_randomness_gives_the_same_key() {
        let made = |seed| PrivateKey::ed25519(&mut StdRng::seed_from_u64(seed));
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
    }

    #[test]
    fn keys_have_the_size_that_go_writes() {
        let size = |key: &PrivateKey| Block::decode(key.pem().reveal()).unwrap().der.len();
        assert_eq!(size(&PrivateKey::ed25519(&mut StdRng::seed_from_u64(1))), 48);
        assert_eq!(size(&PrivateKey::p256().unwrap()), 121);
    }

    #[test]
    fn what_is_no_key_is_refused_without_showing_it() {
        let key = PrivateKey::ed25519(&mut StdRng::seed_from_u64(1));
        let relabelled = |label: &str| key.pem().reveal().replace(key.kind().label(), label);
        let error = |pem: &str| PrivateKey::from_pem(pem).unwrap_err().to_string();
        assert_eq!(error("hunter22"), "it is not a key in PEM");
        assert_eq!(
            error(&relabelled("PGP PRIVATE KEY")),
            "keys labelled `PGP PRIVATE KEY` are not known, only those that Talos writes"
        );
        for label in ["EC PRIVATE KEY", "RSA PRIVATE KEY"] {
            assert_eq!(error(&relabelled(label)), format!("it is labelled `{label}` and is none"));
        }
        let long = encode("EC PRIVATE KEY", &[0x30; 4000]);
        assert_eq!(error(&long), "it is labelled `EC PRIVATE KEY` and is none");
    }

    #[test]
    fn debug_shows_the_kind_only() {
        let key = PrivateKey::ed25519(&mut StdRng::seed_from_u64(1));
        assert_eq!(format!("{key:?}"), "PrivateKey { kind: Ed25519, pem: «secret» }");
    }
}
