//! Keys for tests, made once in a process.

use std::sync::OnceLock;

use ::talos::pki::PrivateKey;
use rcgen::{CertificateParams, KeyPair};

/// A certificate and its RSA key, in PEM.
pub(crate) fn rsa() -> (String, String) {
    static MADE: OnceLock<(String, String)> = OnceLock::new();
    let make = || {
        let key = KeyPair::from_pem_and_sign_algo(RSA, &rcgen::PKCS_RSA_SHA256).unwrap();
        let certificate = CertificateParams::default().self_signed(&key).unwrap();
        (certificate.pem(), RSA.to_owned())
    };
    MADE.get_or_init(make).clone()
}

/// A key that nothing else uses: making one takes seconds without optimization.
const RSA: &str = include_str!("../tests/seaworthy/fixtures/rsa.pem");

/// A key that is made at once.
pub(crate) fn quick() -> PrivateKey {
    PrivateKey::p256().unwrap()
}
