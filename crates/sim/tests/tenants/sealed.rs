//! Sealed secrets.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use rsa::pkcs8::{DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _, LineEnding};
use rsa::sha2::Sha256;
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey};
use serde_json::{Value, json};
use sim::kube::{PodRequest, Write};
use x509_parser::pem::Pem;

use crate::cluster::{Cluster, condition, deployment, status_of};

const LABEL: &str = "sealedsecrets.bitnami.com/sealed-secrets-key";

/// A key and its certificate.
struct Pair {
    certificate: String,
    private: String,
    public: RsaPublicKey,
}

impl Pair {
    /// Makes a key; `year` is the beginning of its certificate.
    fn new(year: i32) -> Self {
        let key = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap();
        let der = key.to_pkcs8_der().unwrap();
        let algorithm = &rcgen::PKCS_RSA_SHA256;
        let signer =
            rcgen::KeyPair::from_pkcs8_der_and_sign_algo(&der.as_bytes().into(), algorithm);
        let mut params = rcgen::CertificateParams::default();
        params.not_before = rcgen::date_time_ymd(year, 1, 1);
        let certificate = params.self_signed(&signer.unwrap()).unwrap().pem();
        let private = key.to_pkcs8_pem(LineEnding::LF).unwrap().to_string();
        Self { certificate, private, public: key.to_public_key() }
    }

    fn secret(&self, name: &str) -> Value {
        json!({ "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
            "metadata": { "name": name, "namespace": "kube-system", "labels": { LABEL: "active" } },
            "stringData": { "tls.crt": self.certificate, "tls.key": self.private } })
    }
}

fn seal(key: &RsaPublicKey, label: &str, value: &[u8]) -> String {
    let session = [7; 32];
    let padding = Oaep::new_with_label::<Sha256, _>(label);
    let wrapped = key.encrypt(&mut rsa::rand_core::OsRng, padding, &session).unwrap();
    let mut sealed = u16::try_from(wrapped.len()).unwrap().to_be_bytes().to_vec();
    sealed.extend(wrapped);
    let cipher = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &session).unwrap());
    let (nonce, mut value) = (Nonce::assume_unique_for_key([0; 12]), value.to_vec());
    cipher.seal_in_place_append_tag(nonce, Aad::empty(), &mut value).unwrap();
    sealed.extend(value);
    BASE64_STANDARD.encode(sealed)
}

fn sealed_secret(name: &str, value: &str) -> Value {
    json!({ "apiVersion": "bitnami.com/v1alpha1", "kind": "SealedSecret",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "encryptedData": { "word": value }, "template": {
            "metadata": { "labels": { "of": "test" } }, "type": "Opaque" } } })
}

async fn install(cluster: &Cluster) {
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let schema = json!({ "type": "object", "properties": { "spec": open, "status": open } });
    let names = json!({ "kind": "SealedSecret", "listKind": "SealedSecretList",
        "plural": "sealedsecrets", "singular": "sealedsecret" });
    let definition = json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "sealedsecrets.bitnami.com" },
        "spec": { "group": "bitnami.com", "scope": "Namespaced", "names": names,
            "versions": [{ "name": "v1alpha1", "served": true, "storage": true,
                "subresources": { "status": {} }, "schema": { "openAPIV3Schema": schema } }] } });
    cluster.put(definition).await;
    let labels = json!({ "app.kubernetes.io/name": "sealed-secrets" });
    cluster.put(deployment("kube-system", "sealed-secrets-controller", &labels)).await;
    let ready = |one: &Value| one["status"]["readyReplicas"] == 1;
    cluster.sees("deployments.apps", "kube-system", "sealed-secrets-controller", ready).await;
    cluster.settle().await;
}

/// Asks the controller for its certificate.
fn certificate(cluster: &Cluster) -> String {
    let pods = cluster.kube.all(&sim::kube::Key::core("pods"), "kube-system");
    let ours = |pod: &&std::sync::Arc<Value>| {
        pod["metadata"]["labels"]["app.kubernetes.io/name"] == "sealed-secrets"
    };
    let pod = pods.iter().find(ours).unwrap();
    cluster.kube.ask(pod, 8080, &PodRequest::read("/v1/cert.pem")).unwrap().body
}

#[tokio::test]
async fn what_is_sealed_for_a_seeded_key_becomes_a_secret() {
    let cluster = Cluster::with_nodes(1).await;
    let (old, new) = (Pair::new(2024), Pair::new(2026));
    cluster.put(new.secret("new")).await;
    cluster.put(old.secret("old")).await;
    install(&cluster).await;
    assert_eq!(certificate(&cluster), new.certificate, "the newest is sealed for");
    for (name, pair) in [("one", &old), ("two", &new)] {
        let value = seal(&pair.public, &format!("default/{name}"), b"ahoy");
        cluster.put(sealed_secret(name, &value)).await;
        let done = |one: &Value| status_of(one, "Synced") == "True";
        let sealed = cluster.sees("sealedsecrets.bitnami.com", "default", name, done).await;
        assert_eq!(sealed["status"]["observedGeneration"], sealed["metadata"]["generation"]);
        let secret = cluster.get("secrets", "default", name).unwrap();
        assert_eq!(secret["data"]["word"], BASE64_STANDARD.encode("ahoy"));
        assert_eq!(secret["metadata"]["labels"]["of"], "test");
        assert_eq!(secret["metadata"]["ownerReferences"][0]["uid"], sealed["metadata"]["uid"]);
    }
    cluster.delete("secrets", "default", "one");
    cluster.sees("secrets", "default", "one", |_| true).await;
    cluster.delete("sealedsecrets.bitnami.com", "default", "one");
    let gone = || cluster.get("secrets", "default", "one").is_none().then_some(());
    cluster.until("the secret goes with what it came of", gone).await;
}

#[tokio::test]
async fn what_no_key_opens_is_said_and_leaves_nothing() {
    let cluster = Cluster::with_nodes(1).await;
    let (ours, other) = (Pair::new(2025), Pair::new(2025));
    cluster.put(ours.secret("ours")).await;
    install(&cluster).await;
    let foreign = seal(&other.public, "default/foreign", b"ahoy");
    let moved = seal(&ours.public, "default/elsewhere", b"ahoy");
    let mut broken = BASE64_STANDARD.decode(seal(&ours.public, "default/broken", b"ahoy")).unwrap();
    *broken.last_mut().unwrap() ^= 1;
    let broken = BASE64_STANDARD.encode(broken);
    for (name, value) in [("foreign", foreign), ("moved", moved), ("broken", broken)] {
        cluster.put(sealed_secret(name, &value)).await;
        let said = |one: &Value| status_of(one, "Synced") == "False";
        let sealed = cluster.sees("sealedsecrets.bitnami.com", "default", name, said).await;
        let message = &condition(&sealed, "Synced")["message"];
        assert_eq!(*message, "no key could decrypt secret (word)");
        assert!(cluster.get("secrets", "default", name).is_none());
    }
}

#[tokio::test]
async fn a_key_that_comes_late_needs_a_restart() {
    let cluster = Cluster::with_nodes(1).await;
    install(&cluster).await;
    let own = certificate(&cluster);
    let (pem, _) = Pem::read(std::io::Cursor::new(own.as_bytes())).unwrap();
    let own_key = pem.parse_x509().unwrap().public_key().raw.to_vec();
    RsaPublicKey::from_public_key_der(&own_key).unwrap();
    let late = Pair::new(2026);
    cluster.put(late.secret("late")).await;
    let value = seal(&late.public, "default/one", b"ahoy");
    cluster.put(sealed_secret("one", &value)).await;
    let said = |one: &Value| status_of(one, "Synced") == "False";
    cluster.sees("sealedsecrets.bitnami.com", "default", "one", said).await;
    assert_ne!(own_key, late.public.to_public_key_der().unwrap().as_bytes());

    let pods = cluster.kube.all(&sim::kube::Key::core("pods"), "kube-system");
    let ours = |pod: &&std::sync::Arc<Value>| {
        pod["metadata"]["labels"]["app.kubernetes.io/name"] == "sealed-secrets"
    };
    let pod = pods.iter().find(ours).unwrap();
    cluster.delete("pods", "kube-system", pod["metadata"]["name"].as_str().unwrap());
    let done = |one: &Value| status_of(one, "Synced") == "True";
    cluster.sees("sealedsecrets.bitnami.com", "default", "one", done).await;
}

#[tokio::test]
async fn a_secret_of_somebody_else_is_left_alone() {
    let cluster = Cluster::with_nodes(1).await;
    let ours = Pair::new(2025);
    cluster.put(ours.secret("ours")).await;
    install(&cluster).await;
    let foreign = json!({ "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": "one", "namespace": "default" }, "stringData": { "word": "mine" } });
    let place = cluster.kube.place_of(&foreign).unwrap();
    let place = sim::kube::Place { name: String::new(), ..place };
    cluster.kube.create(&place, foreign, &Write::by("somebody")).unwrap();
    let value = seal(&ours.public, "default/one", b"ahoy");
    cluster.put(sealed_secret("one", &value)).await;
    let said = |one: &Value| status_of(one, "Synced") == "False";
    let sealed = cluster.sees("sealedsecrets.bitnami.com", "default", "one", said).await;
    assert_eq!(
        condition(&sealed, "Synced")["message"],
        "Resource \"one\" already exists and is not managed by SealedSecret"
    );
    let secret = cluster.get("secrets", "default", "one").unwrap();
    assert_eq!(secret["data"]["word"], BASE64_STANDARD.encode("mine"));
}
