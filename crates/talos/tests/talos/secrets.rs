//! The secrets bundle.

use std::error::Error as _;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use events::Secret;
use jiff::{Timestamp, ToSpan as _};
use talos::pki::{KeyKind, PrivateKey};
use talos::secrets::{Bundle, StoreError};

use crate::config::machine_config;
use crate::openssl::OpenSsl;
use crate::sample::{bundle, now, rng};

/// What openssl prints of the authorities that talosctl 1.14.1 made.
fn as_talosctl_makes_it(algorithm: &str, name: &str) -> String {
    format!(
        "Signature Algorithm: {algorithm}\nIssuer: {name}\nSubject: {name}\n\
         X509v3 extensions:\n\
         X509v3 Key Usage: critical\nDigital Signature, Certificate Sign\n\
         X509v3 Extended Key Usage:\n\
         TLS Web Server Authentication, TLS Web Client Authentication\n\
         X509v3 Subject Key Identifier:\n\
         X509v3 Basic Constraints: critical"
    )
}

#[test]
fn authorities_are_those_of_talosctl_field_by_field() {
    let Some(openssl) = OpenSsl::find() else { return };
    let bundle = bundle(1);
    let expected = [
        ("etcd", "ecdsa-with-SHA256", "O = etcd"),
        ("k8s", "ecdsa-with-SHA256", "O = kubernetes"),
        ("k8saggregator", "ecdsa-with-SHA256", ""),
        ("os", "ED25519", "O = talos"),
    ];
    for ((name, authority), (expected, algorithm, subject)) in
        bundle.authorities().into_iter().zip(expected)
    {
        let printed = openssl.print(authority.certificate());
        assert_eq!(name, expected);
        assert_eq!(
            printed.replace("O=", "O = "),
            as_talosctl_makes_it(algorithm, subject).replace(": \n", ":\n"),
            "{name}"
        );
        assert!(authority.certificate().is_authority(), "{name}");
        let pem = authority.key().pem().reveal().replace("ED25519 PRIVATE", "PRIVATE");
        assert_eq!(
            openssl.public_key(&pem),
            openssl.certified_key(authority.certificate()),
            "{name}"
        );
    }
}

#[test]
fn authorities_last_ten_years_and_have_their_kinds_of_keys() {
    let at: Timestamp = "2026-11-15T19:18:01Z".parse().unwrap();
    let bundle = Bundle::generate(PrivateKey::p256().unwrap(), at, &mut rng(1)).unwrap();
    for (name, authority) in bundle.authorities() {
        let facts = authority.certificate().facts();
        assert_eq!(facts.not_before, at, "{name}");
        assert_eq!(facts.not_after, "2036-11-12T19:18:01Z".parse().unwrap(), "{name}");
        assert_eq!(facts.authority_key_id, None, "{name}");
        let kind = if name == "os" { KeyKind::Ed25519 } else { KeyKind::P256 };
        assert_eq!(authority.key().kind(), kind, "{name}");
    }
}

#[test]
fn a_bundle_survives_its_file() {
    let bundle = bundle(1);
    let text = bundle.to_yaml();
    let again = Bundle::from_yaml(text.reveal()).unwrap();
    assert_eq!(again, bundle);
    assert_eq!(again.to_yaml(), text);
    assert_eq!(again.fingerprints(), bundle.fingerprints());
}

/// A cluster from before Talos 1.3 has the older kind of encryption, and both
/// after it has gone over to the newer. What etcd holds is lost without them.
#[test]
fn both_kinds_of_encryption_survive_the_file_and_the_config() {
    let newest = bundle(1);
    let older = Secret::new(STANDARD.encode([7; 32]));
    let both = Bundle { aescbc: Some(older.clone()), ..newest.clone() };
    let oldest = Bundle { secretbox: None, ..both.clone() };
    for bundle in [newest, both, oldest] {
        let text = bundle.to_yaml();
        assert_eq!(Bundle::from_yaml(text.reveal()).unwrap(), bundle);
        let config = machine_config(&bundle);
        assert_eq!(Bundle::from_machine_config(config.yaml().reveal()).unwrap(), bundle);
        let shown = config.yaml().reveal().contains(older.reveal());
        assert_eq!(shown, bundle.aescbc.is_some());
        let known = bundle.secrets().iter().any(|(_, secret)| *secret == older);
        assert_eq!(known, bundle.aescbc.is_some(), "the redactor has to know it");
    }
    let mut neither = bundle(1);
    neither.secretbox = None;
    let error = Bundle::from_yaml(neither.to_yaml().reveal()).unwrap_err();
    let source = error.source().unwrap().to_string();
    assert_eq!(source, "`secrets.secretboxencryptionsecret` is missing");
    let error = Bundle::from_machine_config(machine_config(&neither).yaml().reveal()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`secrets.secretboxencryptionsecret` is not in it, looked for at \
         `cluster.secretboxEncryptionSecret` and `KubeEtcdEncryptionConfig config`"
    );
}

#[test]
fn the_file_has_the_keys_of_talosctl_in_its_order() {
    let text = bundle(1).to_yaml();
    let keys: Vec<_> = text
        .reveal()
        .lines()
        .map(|line| line.split_once(':').unwrap().0.trim_end().to_owned())
        .collect();
    let expected = [
        "cluster",
        "    id",
        "    secret",
        "secrets",
        "    bootstraptoken",
        "    secretboxencryptionsecret",
        "trustdinfo",
        "    token",
        "certs",
        "    etcd",
        "        crt",
        "        key",
        "    k8s",
        "        crt",
        "        key",
        "    k8saggregator",
        "        crt",
        "        key",
        "    k8sserviceaccount",
        "        key",
        "    os",
        "        crt",
        "        key",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn a_real_service_account_key_is_rsa_of_4096_bits() {
    let key = PrivateKey::rsa4096(&mut rng(1)).unwrap();
    assert_eq!(key.kind(), KeyKind::Rsa);
    assert!(key.pem().reveal().starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
    let bundle = Bundle::generate(key, now(), &mut rng(1)).unwrap();
    assert_eq!(Bundle::from_yaml(bundle.to_yaml().reveal()).unwrap(), bundle);
    if let Some(openssl) = OpenSsl::find() {
        let public = openssl.public_key(bundle.service_account.pem().reveal());
        // 4096 bits of modulus, and 38 bytes around them.
        let der = public.lines().filter(|line| !line.starts_with('-')).collect::<String>();
        assert_eq!(STANDARD.decode(der).unwrap().len(), 550);
    }
}

#[test]
fn cluster_ids_of_both_alphabets_are_read() {
    let mut bundle = bundle(1);
    for id in [STANDARD.encode([0xff; 32]), STANDARD.encode([0xff; 32]).replace('/', "_")] {
        bundle.cluster_id.clone_from(&id);
        let again = Bundle::from_yaml(bundle.to_yaml().reveal()).unwrap();
        assert_eq!(again.cluster_id, id);
    }
}

#[test]
fn each_flaw_is_named_by_its_place() {
    let bundle = bundle(1);
    let yaml = bundle.to_yaml();
    let etcd = STANDARD.encode(bundle.etcd.key().pem().reveal());
    let kubernetes = STANDARD.encode(bundle.kubernetes.key().pem().reveal());
    let os = STANDARD.encode(bundle.os.certificate().pem());
    let client = talos::credentials::Identity::talos(
        &bundle,
        talos::credentials::Role::Admin,
        now(),
        &mut rng(2),
    )
    .unwrap();
    let leaf = STANDARD.encode(client.certificate().pem());
    let leaf_key = STANDARD.encode(client.key().pem().reveal());
    let os_key = STANDARD.encode(bundle.os.key().pem().reveal());
    let token = bundle.trustd_token.secret().reveal();
    let cases = [
        (
            token.to_owned(),
            "short.token".to_owned(),
            "`trustdinfo.token` is no good",
            "it is not a token: six and sixteen of a to z and 0 to 9, with a dot between",
        ),
        (
            bundle.secretbox.as_ref().unwrap().reveal().to_owned(),
            "AAAA".to_owned(),
            "`secrets.secretboxencryptionsecret` is not 32 bytes in base64",
            "",
        ),
        (
            etcd.clone(),
            "c2VjcmV0".to_owned(),
            "`certs.etcd.key` is no good",
            "it is not a key in PEM",
        ),
        (
            etcd,
            kubernetes,
            "`certs.etcd` is no good",
            "its certificate and its key do not belong together",
        ),
        (
            os.clone(),
            "c2VjcmV0".to_owned(),
            "`certs.os.crt` is no good",
            "it is not a certificate in PEM",
        ),
        (
            "trustdinfo:".to_owned(),
            "trustd:".to_owned(),
            "it is not a secrets bundle as talosctl writes it",
            "`trustdinfo.token` is missing",
        ),
    ];
    for (old, new, message, source) in cases {
        let error = Bundle::from_yaml(&yaml.reveal().replacen(&old, &new, 1)).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.source().map(ToString::to_string).unwrap_or_default(), source);
    }
    let no_authority = yaml.reveal().replace(&os, &leaf).replace(&os_key, &leaf_key);
    let error = Bundle::from_yaml(&no_authority).unwrap_err();
    assert_eq!(error.source().unwrap().to_string(), "its certificate is not that of an authority");
}

#[test]
fn a_broken_file_is_told_by_its_line_and_not_shown() {
    let bundle = bundle(1);
    let broken = bundle.to_yaml().reveal().replacen("trustdinfo:", "trustdinfo: [", 1);
    let error = Bundle::from_yaml(&broken).unwrap_err();
    let told = format!("{error} {error:?} {}", error.source().unwrap());
    assert!(told.contains("line "), "{told}");
    for (name, secret) in bundle.secrets() {
        assert!(!told.contains(secret.reveal()), "{name}");
    }
}

#[test]
fn no_format_shows_a_secret_and_the_redactor_gets_them_all() {
    let bundle = bundle(1);
    let shown = format!("{bundle:?} {:?}", bundle.evidence());
    let secrets = bundle.secrets();
    assert_eq!(secrets.len(), 9);
    let mut redactor = events::Redactor::new([7; 32]);
    for (name, secret) in &secrets {
        assert!(!shown.contains(secret.reveal()), "{name}");
        redactor.add(name, secret).unwrap();
    }
    assert!(!redactor.finds(shown.as_bytes()));
    let yaml = bundle.to_yaml();
    let hidden = redactor.hide_bytes(yaml.reveal().as_bytes());
    assert!(!redactor.finds(&hidden));
    let hidden = String::from_utf8(hidden).unwrap();
    // What is left tells nothing: numbers of lines, names, certificates, the id.
    for line in hidden.lines().filter(|line| line.trim_start().starts_with("key:")) {
        assert!(line.contains("«secret:"), "{line}");
    }
    let counted = redactor.removed().0.values().sum::<u64>();
    assert_eq!(hidden.matches("«secret:").count() as u64, counted);
}

#[test]
fn a_bundle_on_disk_is_private_and_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secrets.yaml");
    let [first, second] = [1, 2].map(bundle);
    first.save_new(&path).unwrap();
    first.save_new(&path).unwrap();
    let error = second.save_new(&path).unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    assert_eq!(Bundle::load(&path).unwrap(), first);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    fs::write(&path, "cluster: {}").unwrap();
    let error = Bundle::load(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is no good as a secrets bundle", path.display()));
    let gone = Bundle::load(&folder.path().join("gone")).unwrap_err();
    assert!(matches!(gone, StoreError::Read { .. }), "{gone}");
}

#[test]
fn randomness_decides_what_is_not_made_by_ring() {
    let (one, same, other) = (bundle(1), bundle(1), bundle(2));
    assert_eq!(one.trustd_token, same.trustd_token);
    assert_eq!(one.os.key(), same.os.key());
    assert_ne!(one.trustd_token, other.trustd_token);
    assert_ne!(one.bootstrap_token, one.trustd_token);
    assert_ne!(Some(&one.cluster_secret), one.secretbox.as_ref());
    assert!(one.os.certificate().facts().not_after > now() + (24 * 3640).hours());
}
