//! A cluster's secrets and configurations, in the forms that Talos writes.

use base64::{Engine, prelude::BASE64_STANDARD};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, SignatureAlgorithm,
};

/// An authority with its key.
pub(crate) struct Authority {
    pub(crate) certificate: String,
    key: KeyPair,
    /// The key as Talos labels it.
    pub(crate) key_pem: String,
}

/// A certificate with its key, both as PEM.
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// The secrets of one cluster.
pub(crate) struct Secrets {
    pub(crate) talos: Authority,
    pub(crate) kubernetes: Authority,
    pub(crate) etcd: Authority,
    pub(crate) aggregator: Authority,
    pub(crate) id: String,
}

impl Authority {
    /// Ed25519 under Talos's own label.
    pub(crate) fn talos() -> Self {
        let mut authority = Self::new(&PKCS_ED25519, Some("talos"));
        let label = "ED25519 PRIVATE KEY";
        authority.key_pem = ed25519_pem(&authority.key).replace("PRIVATE KEY", label);
        authority
    }

    /// P-256 as SEC 1.
    fn kubernetes(organisation: Option<&str>) -> Self {
        let mut authority = Self::new(&PKCS_ECDSA_P256_SHA256, organisation);
        // What is left of PKCS #8 without its header is SEC 1.
        let sec1 = BASE64_STANDARD.encode(&authority.key.serialize_der()[29..]);
        authority.key_pem =
            format!("-----BEGIN EC PRIVATE KEY-----\n{sec1}\n-----END EC PRIVATE KEY-----\n");
        authority
    }

    fn new(algorithm: &'static SignatureAlgorithm, organisation: Option<&str>) -> Self {
        let key = KeyPair::generate_for(algorithm).unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        if let Some(organisation) = organisation {
            params.distinguished_name.push(DnType::OrganizationName, organisation);
        }
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
        let certificate = params.self_signed(&key).unwrap().pem();
        let key_pem = key.serialize_pem();
        Self { certificate, key, key_pem }
    }

    /// Signs a client certificate as talosctl does.
    pub(crate) fn client(&self, role: &str) -> Pair {
        self.client_for(role, vec![ExtendedKeyUsagePurpose::ClientAuth])
    }

    /// Signs a client certificate for other purposes too.
    pub(crate) fn client_for(&self, role: &str, purposes: Vec<ExtendedKeyUsagePurpose>) -> Pair {
        let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, role);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = purposes;
        let issuer = Issuer::from_ca_cert_pem(&self.certificate, &self.key).unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap().pem();
        Pair { certificate, key: ed25519_pem(&key) }
    }

    fn yaml(&self, indent: &str) -> String {
        let encode = |pem: &str| BASE64_STANDARD.encode(pem);
        format!(
            "{indent}crt: {}\n{indent}key: {}",
            encode(&self.certificate),
            encode(&self.key_pem)
        )
    }

    fn yaml_without_key(&self, indent: &str) -> String {
        let certificate = BASE64_STANDARD.encode(&self.certificate);
        format!("{indent}crt: {certificate}\n{indent}key: \"\"")
    }
}

impl Secrets {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            talos: Authority::talos(),
            kubernetes: Authority::kubernetes(Some("kubernetes")),
            etcd: Authority::kubernetes(Some("etcd")),
            aggregator: Authority::kubernetes(None),
            id: id.to_owned(),
        }
    }

    /// The configuration of a control plane, in the form that all versions take.
    pub(crate) fn control_plane(&self, hostname: &str) -> String {
        let machine = Self::machine("controlplane", &self.talos.yaml("    "));
        let cluster = self.cluster(&self.kubernetes.yaml("    "));
        let etcd = self.etcd.yaml("      ");
        let aggregator = self.aggregator.yaml("    ");
        let document = hostname_document(hostname);
        format!(
            "{machine}{cluster}  aggregatorCA:\n{aggregator}\n  etcd:\n    ca:\n{etcd}\n{document}"
        )
    }

    /// The configuration of a worker, which carries no key of an authority.
    pub(crate) fn worker(&self, hostname: &str) -> String {
        let machine = Self::machine("worker", &self.talos.yaml_without_key("    "));
        let cluster = self.cluster(&self.kubernetes.yaml_without_key("    "));
        format!("{machine}{cluster}{}", hostname_document(hostname))
    }

    fn machine(kind: &str, authority: &str) -> String {
        format!(
            "version: v1alpha1\ndebug: false\npersist: true\nmachine:\n  type: {kind}\n  \
             token: abcdef.0123456789abcdef\n  ca:\n{authority}\n  certSANs: [10.0.64.2]\n  \
             kubelet:\n    image: ghcr.io/siderolabs/kubelet:v1.36.3\n    nodeIP:\n      \
             validSubnets: [10.0.64.0/19]\n"
        )
    }

    fn cluster(&self, authority: &str) -> String {
        let id = &self.id;
        format!(
            "cluster:\n  id: {id}\n  secret: c2VjcmV0\n  controlPlane:\n    \
             endpoint: https://10.0.64.9:6443\n  clusterName: demo\n  network:\n    cni:\n      \
             name: none\n    podSubnets: [10.244.0.0/16]\n    serviceSubnets: [10.96.0.0/12]\n  \
             proxy:\n    disabled: true\n  externalCloudProvider:\n    enabled: true\n  \
             discovery:\n    enabled: true\n  token: fedcba.fedcba9876543210\n  ca:\n{authority}\n"
        )
    }
}

/// Writes a key as Talos does: in the first version of PKCS #8, without the
/// public key, the only one that openssl reads.
fn ed25519_pem(key: &KeyPair) -> String {
    let mut der = key.serialize_der()[..48].to_vec();
    (der[1], der[4]) = (0x2e, 0);
    let body = BASE64_STANDARD.encode(der);
    format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")
}

fn hostname_document(hostname: &str) -> String {
    format!(
        "---\napiVersion: v1alpha1\nkind: HostnameConfig\nauto: \"off\"\nhostname: {hostname}\n"
    )
}
