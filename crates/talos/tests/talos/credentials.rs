//! Talosconfig, kubeconfig, and the certificates in them.

use std::error::Error as _;

use serde_json::Value;
use talos::credentials::{Context, Identity, Kubeconfig, Role, Talosconfig};
use talos::pki::{Certificate, KeyKind, Lifetime, PrivateKey};

use crate::openssl::OpenSsl;
use crate::sample::{bundle, now, rng};

fn admin(seed: u64) -> Identity {
    Identity::talos(&bundle(seed), Role::Admin, now(), &mut rng(9)).unwrap()
}

#[test]
fn an_administrators_certificate_is_that_of_talosctl_field_by_field() {
    let Some(openssl) = OpenSsl::find() else { return };
    let bundle = bundle(1);
    let admin = Identity::talos(&bundle, Role::Admin, now(), &mut rng(2)).unwrap();
    assert_eq!(
        openssl.print(admin.certificate()).replace("O=", "O = "),
        "Signature Algorithm: ED25519\nIssuer: O = talos\nSubject: O = os:admin\n\
         X509v3 extensions:\nX509v3 Authority Key Identifier:\n\
         X509v3 Key Usage: critical\nDigital Signature\n\
         X509v3 Extended Key Usage:\nTLS Web Client Authentication"
    );
    assert!(openssl.trusts(bundle.os.certificate(), admin.certificate()));
    assert!(!openssl.trusts(bundle.kubernetes.certificate(), admin.certificate()));
    let kubernetes = Identity::kubernetes_admin(&bundle, now(), &mut rng(2)).unwrap();
    assert!(openssl.trusts(bundle.kubernetes.certificate(), kubernetes.certificate()));
}

#[test]
fn certificates_name_roles_and_last_a_year() {
    let bundle = bundle(1);
    let at = "2026-11-15T19:18:29Z".parse().unwrap();
    for role in Role::ALL {
        assert_eq!(Role::parse(role.as_str()), Some(role));
        let identity = Identity::talos(&bundle, role, at, &mut rng(2)).unwrap();
        let facts = identity.certificate().facts();
        assert_eq!(facts.organizations, [role.to_string()]);
        assert_eq!(facts.common_name, None);
        assert_eq!(facts.not_after, "2027-11-15T19:18:29Z".parse().unwrap());
        assert_eq!(facts.authority_key_id, bundle.os.certificate().facts().key_id);
        assert!(identity.certificate().is_signed_by(bundle.os.certificate()));
        assert!(!identity.certificate().is_signed_by(bundle.etcd.certificate()));
        assert_eq!(identity.key().kind(), KeyKind::Ed25519);
    }
}

#[test]
fn a_certificate_can_name_several_roles() {
    let bundle = bundle(1);
    let roles = [Role::Reader, Role::EtcdBackup, Role::MetaWriter];
    let lifetime = Lifetime::year(now());
    let identity = Identity::talos_for(&bundle, &roles, lifetime, &mut rng(2)).unwrap();
    let certificate = identity.certificate();
    let mut told = certificate.facts().organizations.clone();
    told.sort();
    assert_eq!(told, ["os:etcd:backup", "os:meta:writer", "os:reader"]);
    assert!(certificate.is_signed_by(bundle.os.certificate()));
    let again =
        Identity::of(bundle.os.certificate().clone(), certificate.clone(), identity.key().clone());
    assert_eq!(again.unwrap(), identity);
    let Some(openssl) = OpenSsl::find() else { return };
    assert!(openssl.trusts(bundle.os.certificate(), certificate));
    let printed = openssl.print(certificate).replace("O=", "O = ").replace(" + ", "+");
    let subject = "Subject: O = os:reader+O = os:etcd:backup+O = os:meta:writer";
    let names = |line: &str| {
        line.strip_prefix("Subject: ").map(|names| {
            let mut names: Vec<_> = names.split('+').map(str::to_owned).collect();
            names.sort();
            names
        })
    };
    assert_eq!(printed.lines().find_map(names), names(subject), "{printed}");
}

#[test]
fn a_talosconfig_survives_its_text() {
    let context = Context {
        endpoints: vec!["10.0.64.11".to_owned(), "10.0.64.12".to_owned()],
        nodes: vec![],
        identity: admin(1),
    };
    let mut config = Talosconfig::new("demo", context.clone());
    let other = Context { nodes: vec!["10.0.64.11".to_owned()], ..context };
    config.contexts.insert("demo.example.com".to_owned(), other);
    let text = config.to_yaml();
    let again = Talosconfig::from_yaml(text.reveal()).unwrap();
    assert_eq!(again, config);
    assert_eq!(again.current().unwrap().endpoints.len(), 2);
    assert!(text.reveal().starts_with("context: demo\ncontexts:\n    demo:\n        endpoints:\n"));
    assert!(!format!("{config:?}").contains(admin(1).secret().reveal()));
}

#[test]
fn flaws_of_a_talosconfig_are_named() {
    let flaw = |text: &str| {
        let error = Talosconfig::from_yaml(text).unwrap_err();
        (error.to_string(), error.source().unwrap().to_string())
    };
    let not_one = "it is not a talosconfig".to_owned();
    assert_eq!(flaw("{}"), (not_one.clone(), "`contexts` is missing".to_owned()));
    assert_eq!(
        flaw("context: a\ncontexts: {a: {endpoints: []}}"),
        (not_one, "`contexts.a.key` is missing".to_owned())
    );
    let context = Context { endpoints: vec![], nodes: vec![], identity: admin(1) };
    let good = Talosconfig::new("demo", context).to_yaml();
    let keys = [admin(1), Identity::talos(&bundle(1), Role::Admin, now(), &mut rng(3)).unwrap()];
    let [ours, other] = keys.map(|identity| encoded(identity.key().pem().reveal()));
    assert_eq!(
        flaw(&good.reveal().replace(&ours, &other)),
        (
            "the context `demo` is no good".to_owned(),
            "the client's certificate and key do not belong together".to_owned()
        )
    );
}

/// One file for many clusters: what is wrong with another one is not our trouble.
#[test]
fn only_the_current_context_has_to_be_whole() {
    let context = Context { endpoints: vec![], nodes: vec![], identity: admin(1) };
    let good = Talosconfig::new("demo", context);
    let others = "    omni:\n        endpoints: [https://example.omni.example]\n        \
                  auth: {siderov1: {identity: me@example.com}}\n    torn:\n        ca: bm9uZQ==\n";
    let text = good.to_yaml().reveal().to_owned() + others;
    assert_eq!(Talosconfig::from_yaml(&text).unwrap(), good);
    let chosen = |name: &str| text.replacen("context: demo", &format!("context: {name}"), 1);
    let error = Talosconfig::from_yaml(&chosen("omni")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the context `omni` signs in by other means than certificates, as those of Omni do"
    );
    let error = Talosconfig::from_yaml(&chosen("torn")).unwrap_err();
    assert_eq!(error.source().unwrap().to_string(), "`contexts.torn.key` is missing");
    assert_eq!(Talosconfig::from_yaml(&chosen("gone")).unwrap().current(), None);
}

#[test]
fn a_kubeconfig_has_what_kubectl_needs() {
    let bundle = bundle(1);
    let admin = Identity::kubernetes_admin(&bundle, now(), &mut rng(2)).unwrap();
    let config = Kubeconfig::new("demo", "https://10.0.64.11:6443", &admin);
    let value: Value = serde_saphyr::from_str(config.yaml().reveal()).unwrap();
    assert_eq!(value["current-context"], "admin@demo");
    assert_eq!(value["contexts"][0]["context"]["cluster"], "demo");
    assert_eq!(value["contexts"][0]["context"]["user"], value["users"][0]["name"]);
    let cluster = &value["clusters"][0]["cluster"];
    assert_eq!(cluster["server"], "https://10.0.64.11:6443");
    let authority = decoded(&cluster["certificate-authority-data"]);
    assert_eq!(authority, bundle.kubernetes.certificate().pem());
    let user = &value["users"][0]["user"];
    let certificate = Certificate::from_pem(&decoded(&user["client-certificate-data"])).unwrap();
    assert_eq!(certificate.facts().organizations, ["system:masters"]);
    assert_eq!(certificate.facts().common_name.as_deref(), Some("admin"));
    assert!(certificate.is_signed_by(bundle.kubernetes.certificate()));
    let key = PrivateKey::from_pem(&decoded(&user["client-key-data"])).unwrap();
    assert_eq!((key.kind(), key.spki().unwrap()), (KeyKind::P256, certificate.spki()));
    assert!(!format!("{config:?}").contains("client-key-data"));
}

fn encoded(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn decoded(value: &Value) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(value.as_str().unwrap());
    String::from_utf8(bytes.unwrap()).unwrap()
}
