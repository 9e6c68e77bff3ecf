//! The controller's keys, as it finds them when it starts.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256};
use rsa::RsaPrivateKey;
use rsa::pkcs1::DecodeRsaPrivateKey as _;
use rsa::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, LineEnding};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use x509_parser::pem::Pem;

use super::randomness::Randomness;
use crate::kube::api::State;
use crate::kube::{Key, Kube, LabelSelector, Write};

pub(super) const SECRETS: Key = Key::core("secrets");
const LABEL: &str = "sealedsecrets.bitnami.com/sealed-secrets-key";

/// The real controller's keys have twice as many bits, and take as many seconds.
const BITS: usize = 2048;

/// A key that opens what was sealed for its certificate.
pub(super) struct SealingKey {
    pub(super) certificate: String,
    pub(super) private: RsaPrivateKey,
    since: i64,
}

/// Returns the keys of a namespace, the newest first; makes one where there is none.
pub(super) fn at_start(kube: &Kube, namespace: &str) -> Vec<SealingKey> {
    let mut keys = read(kube, namespace);
    if keys.is_empty()
        && let Some(secret) = generate(kube)
        && let Ok(place) = kube.place(&SECRETS, namespace, "")
    {
        // Without a Secret there is no key, and nothing can be opened.
        let _ = kube.create(&place, secret, &Write::by("controller"));
        keys = read(kube, namespace);
    }
    keys
}

/// Returns a key that nobody has put there.
pub(super) fn foreign(kube: &Kube) -> Vec<SealingKey> {
    generate(kube).as_ref().and_then(SealingKey::read).into_iter().collect()
}

fn read(kube: &Kube, namespace: &str) -> Vec<SealingKey> {
    let active = LabelSelector::of_map(&json!({ LABEL: "active" }));
    let secrets = kube.matching(&SECRETS, namespace, &active);
    let mut keys: Vec<SealingKey> =
        secrets.iter().filter_map(|one| SealingKey::read(one)).collect();
    keys.sort_by_key(|key| std::cmp::Reverse(key.since));
    keys
}

impl SealingKey {
    /// Reads a key; what is no RSA key with its certificate is passed over.
    fn read(secret: &Value) -> Option<Self> {
        let text = |field: &str| {
            let bytes = BASE64_STANDARD.decode(secret["data"][field].as_str()?).ok()?;
            String::from_utf8(bytes).ok()
        };
        let (certificate, private) = (text("tls.crt")?, text("tls.key")?);
        let private = RsaPrivateKey::from_pkcs8_pem(&private)
            .ok()
            .or_else(|| RsaPrivateKey::from_pkcs1_pem(&private).ok())?;
        let (pem, _) = Pem::read(std::io::Cursor::new(certificate.as_bytes())).ok()?;
        let since = pem.parse_x509().ok()?.validity().not_before.timestamp();
        Some(Self { certificate, private, since })
    }
}

/// Makes a key from the cluster's own randomness.
fn generate(kube: &Kube) -> Option<Value> {
    let seed = Sha256::digest(kube.change(State::uid));
    let mut chance = Randomness(StdRng::from_seed(seed.into()));
    let key = RsaPrivateKey::new(&mut chance, BITS).ok()?;
    let private = key.to_pkcs8_pem(LineEnding::LF).ok()?;
    let der = key.to_pkcs8_der().ok()?;
    let signer = KeyPair::from_pkcs8_der_and_sign_algo(&der.as_bytes().into(), &PKCS_RSA_SHA256);
    let certificate = CertificateParams::default().self_signed(&signer.ok()?).ok()?.pem();
    Some(json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": { "generateName": "sealed-secrets-key", "labels": { LABEL: "active" } },
        "data": { "tls.crt": BASE64_STANDARD.encode(certificate),
            "tls.key": BASE64_STANDARD.encode(private.as_str()) },
    }))
}
