//! What is sealed opens with other people's cryptography, and only where it may.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use addons::seal::{Certificate, KeyError, Lifetime, Scope, SealedSecret, SealingKey, Strength};
use events::Secret;
use jiff::Timestamp;
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use rsa::pkcs8::DecodePrivateKey as _;
use rsa::sha2::Sha256;
use rsa::{Oaep, RsaPrivateKey};

static KEY: LazyLock<SealingKey> = LazyLock::new(|| key(1));

fn key(seed: u64) -> SealingKey {
    let from = Timestamp::from_second(1_790_000_000).unwrap();
    let mut rng = StdRng::seed_from_u64(seed);
    SealingKey::make(Strength::Bits2048, Lifetime::ten_years(from), &mut rng).unwrap()
}

/// Opens with the private key, as a controller would.
fn open(sealed: &[u8], label: &str) -> Option<Vec<u8>> {
    let (length, rest) = sealed.split_at_checked(2)?;
    let length = usize::from(u16::from_be_bytes(length.try_into().ok()?));
    let (wrapped, ciphertext) = rest.split_at_checked(length)?;
    let private = RsaPrivateKey::from_pkcs8_pem(KEY.private().reveal()).unwrap();
    let session = private.decrypt(Oaep::new_with_label::<Sha256, _>(label), wrapped).ok()?;
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &session).ok()?);
    let mut buffer = ciphertext.to_vec();
    let nonce = Nonce::assume_unique_for_key([0; 12]);
    Some(key.open_in_place(nonce, Aad::empty(), &mut buffer).ok()?.to_vec())
}

fn openssl(args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new("openssl");
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    output.status.success().then_some(output.stdout)
}

fn hex(bytes: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|four| char::from_digit(four.into(), 16));
    bytes.iter().flat_map(digits).flatten().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_sealed_opens_in_its_scope_and_nowhere_else(
        value in proptest::collection::vec(any::<u8>(), 0..3000),
        namespace in "[a-z]{1,12}", name in "[a-z]{1,12}", seed: u64,
    ) {
        let mut rng = StdRng::seed_from_u64(seed);
        let certificate = KEY.certificate();
        let scopes = [
            Scope::Strict { namespace: namespace.clone(), name: name.clone() },
            Scope::Namespace { namespace: namespace.clone() },
            Scope::Cluster,
        ];
        let labels = [format!("{namespace}/{name}"), namespace, String::new()];
        for (scope, label) in scopes.iter().zip(&labels) {
            let sealed = certificate.seal(&value, scope, &mut rng).unwrap();
            prop_assert_eq!(sealed.len(), 2 + 256 + value.len() + 16);
            for other in &labels {
                let expected = (other == label).then(|| value.clone());
                prop_assert_eq!(open(&sealed, other), expected);
            }
            let again = certificate.seal(&value, scope, &mut rng).unwrap();
            prop_assert_ne!(sealed, again);
        }
    }

    #[test]
    fn what_was_changed_does_not_open(at in 0usize..300, bit in 0u8..8, seed: u64) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut sealed = KEY.certificate().seal(b"value of some length, so that it has a middle",
            &Scope::Cluster, &mut rng).unwrap();
        sealed[at] ^= 1 << bit;
        prop_assert_eq!(open(&sealed, ""), None);
    }
}

/// RSA by openssl, and the value by openssl's counter mode, which is what GCM
/// encrypts with: from the block after the one that its tag uses.
#[test]
fn openssl_opens_it_too() {
    if Command::new("openssl").arg("version").output().is_err() {
        let _: Option<()> = rig::need::skip("openssl is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tls.key");
    fs::write(&file, KEY.private().reveal()).unwrap();
    let scope = Scope::Strict { namespace: "shop".into(), name: "db".into() };
    let mut rng = StdRng::seed_from_u64(5);
    let sealed = KEY.certificate().seal(b"the tide table", &scope, &mut rng).unwrap();
    assert_eq!(sealed[..2], [1, 0]);
    assert_eq!(unwrapped(&file, &sealed[2..258], "shop/other"), None);
    let session = unwrapped(&file, &sealed[2..258], "shop/db").unwrap();
    assert_eq!(session.len(), 32);
    let counter = "00000000000000000000000000000002";
    let args = ["enc", "-aes-256-ctr", "-d", "-K", &hex(&session), "-iv", counter];
    let opened = openssl(&args, &sealed[258..sealed.len() - 16]).unwrap();
    assert_eq!(opened, b"the tide table");
}

fn unwrapped(key: &Path, wrapped: &[u8], label: &str) -> Option<Vec<u8>> {
    let label = format!("rsa_oaep_label:{}", hex(label.as_bytes()));
    let options = ["rsa_padding_mode:oaep", "rsa_oaep_md:sha256", "rsa_mgf1_md:sha256", &label];
    let mut args = vec!["pkeyutl", "-decrypt", "-inkey", key.to_str().unwrap()];
    args.extend(options.iter().flat_map(|option| ["-pkeyopt", option]));
    openssl(&args, wrapped)
}

#[test]
fn a_made_key_is_what_the_controller_takes() {
    let secret = KEY.secret("kube-system");
    let head = secret.head();
    assert_eq!(head["type"], "kubernetes.io/tls");
    assert_eq!(
        head["metadata"]["labels"]["sealedsecrets.bitnami.com/sealed-secrets-key"],
        "active"
    );
    let whole = secret.reveal();
    assert!(whole["data"]["tls.crt"].is_string() && whole["data"]["tls.key"].is_string());
    assert!(!format!("{:?} {secret:?}", *KEY).contains("PRIVATE KEY"));
    let ends = KEY.certificate().ends();
    assert_eq!(ends.as_second(), 1_790_000_000 + 3650 * 24 * 3600);
    assert_eq!(key(1).certificate().pem(), KEY.certificate().pem(), "same chance, same key");
}

#[test]
fn keys_and_certificates_that_do_not_fit_are_refused() {
    let (one, other) = (&*KEY, key(2));
    let pem = one.certificate().pem();
    assert!(SealingKey::from_pem(pem, one.private()).is_ok());
    let refused = |certificate: &str, private: &Secret| {
        SealingKey::from_pem(certificate, private).unwrap_err().to_string()
    };
    assert_eq!(refused(pem, other.private()), "the certificate belongs to another key");
    assert_eq!(
        refused(pem, &Secret::new("hunter22")),
        "it is not an RSA key in PEM, neither PKCS#8 nor PKCS#1"
    );
    let nonsense = SealingKey::from_pem("nonsense", one.private()).unwrap_err();
    assert!(matches!(nonsense, KeyError::Certificate(_)), "{nonsense}");
    let swapped = Certificate::from_pem(one.private().reveal()).unwrap_err();
    assert_eq!(swapped.to_string(), "it is a PEM block `PRIVATE KEY`, not a certificate");
}

#[test]
fn a_certificate_without_rsa_is_refused() {
    let signer = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::default();
    let pem = params.self_signed(&signer).unwrap().pem();
    assert_eq!(Certificate::from_pem(&pem).unwrap_err().to_string(), "its key is not RSA");
}

#[test]
fn a_sealed_secret_carries_what_opens_to_its_values() {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    let mut rng = StdRng::seed_from_u64(9);
    let object = SealedSecret::new("shop", "db")
        .label("seaworthy.dev/run", "x")
        .value("password", b"hunter22", KEY.certificate(), &mut rng)
        .unwrap()
        .object();
    let sealed = object["spec"]["encryptedData"]["password"].as_str().unwrap();
    let sealed = BASE64_STANDARD.decode(sealed).unwrap();
    assert_eq!(open(&sealed, "shop/db").unwrap(), b"hunter22");
    assert_eq!(object["spec"]["template"]["metadata"]["labels"]["seaworthy.dev/run"], "x");
}
