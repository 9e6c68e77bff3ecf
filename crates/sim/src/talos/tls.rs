//! TLS of a node's API: 1.3 only, HTTP/2 only, no tickets.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, ServerConfig,
    SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, UnixTime},
    server::{
        NoServerSessionStorage, WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
    sign::{CertifiedKey, SingleCertAndKey},
    version::TLS13,
};
use x509_parser::{certificate::X509Certificate, extensions::ExtendedKeyUsage, prelude::FromDer};

use super::{pki, pki::PkiError, role::Roles};

/// How callers prove who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// Not at all: everybody is a reader.
    Open,
    /// With a certificate of the cluster.
    Certificate,
}

/// The TLS side of a listener, which may change while it listens.
#[derive(Clone, Debug)]
pub(super) struct Tls {
    pub(super) config: Arc<ServerConfig>,
    pub(super) admission: Admission,
}

impl Tls {
    /// Asks for no certificate.
    pub(super) fn open(identity: Arc<CertifiedKey>) -> Result<Self, PkiError> {
        let builder = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])?
            .with_no_client_auth();
        let config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(identity)));
        Ok(Self { config: settled(config), admission: Admission::Open })
    }

    /// Insists on a client certificate of one of these authorities; one that is
    /// deaf never gets to see any.
    pub(super) fn mutual(
        identity: Arc<CertifiedKey>,
        authorities: &str,
        deaf: bool,
    ) -> Result<Self, PkiError> {
        let verifier = Arc::new(ClientVerifier::new(authorities, deaf)?);
        let builder = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(verifier);
        let config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(identity)));
        Ok(Self { config: settled(config), admission: Admission::Certificate })
    }

    /// Returns what a caller with these certificates may do.
    pub(super) fn roles(&self, certificates: Option<&[CertificateDer<'_>]>) -> Roles {
        match self.admission {
            Admission::Open => Roles::reader(),
            Admission::Certificate => certificates
                .and_then(<[_]>::first)
                .and_then(|leaf| X509Certificate::from_der(leaf).ok())
                .map(|(_, leaf)| {
                    let organisations = leaf.subject().iter_organization();
                    Roles::of(organisations.filter_map(|name| name.as_str().ok()))
                })
                .unwrap_or_default(),
        }
    }
}

/// Returns the cryptography of all sides.
pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn settled(mut config: ServerConfig) -> Arc<ServerConfig> {
    config.alpn_protocols = vec![b"h2".to_vec()];
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Arc::new(config)
}

/// Checks client certificates as a node does, with the alerts that it sends.
#[derive(Debug)]
struct ClientVerifier {
    chain: Arc<dyn ClientCertVerifier>,
    deaf: bool,
}

impl ClientVerifier {
    fn new(authorities: &str, deaf: bool) -> Result<Self, PkiError> {
        let mut roots = RootCertStore::empty();
        for certificate in pki::certificates(authorities)? {
            roots.add(certificate)?;
        }
        let chain = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
            .build()
            .map_err(|error| Error::General(error.to_string()))?;
        Ok(Self { chain, deaf })
    }
}

impl ClientCertVerifier for ClientVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.chain.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.chain.verify_client_cert(leaf, intermediates, now);
        let verified = verified.map_err(as_a_node_alerts)?;
        if serves_clients_only(leaf) { Ok(verified) } else { Err(bad_certificate()) }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.verify_tls13_signature(message, certificate, signature)
    }

    /// A caller that has no key for any of these presents no certificate.
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        if self.deaf {
            return vec![SignatureScheme::RSA_PSS_SHA512];
        }
        self.chain.supported_verify_schemes()
    }
}

/// The error for which the alert `bad_certificate` is sent, the one that a
/// node sends for a certificate of the right authority and the wrong purpose.
fn bad_certificate() -> Error {
    Error::InvalidCertificate(CertificateError::BadEncoding)
}

fn as_a_node_alerts(error: Error) -> Error {
    match error {
        Error::InvalidCertificate(
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. },
        ) => bad_certificate(),
        // Signed by a stranger who bears our authority's name, as every Talos
        // cluster's authority does.
        Error::InvalidCertificate(CertificateError::BadSignature) => {
            Error::InvalidCertificate(CertificateError::UnknownIssuer)
        }
        other => other,
    }
}

/// Says whether a certificate is for clients and for nothing else.
fn serves_clients_only(leaf: &CertificateDer<'_>) -> bool {
    let Ok((_, leaf)) = X509Certificate::from_der(leaf) else { return false };
    let Ok(Some(usage)) = leaf.extended_key_usage() else { return false };
    let ExtendedKeyUsage {
        any,
        server_auth,
        client_auth,
        code_signing,
        email_protection,
        time_stamping,
        ocsp_signing,
        other,
    } = usage.value;
    *client_auth
        && other.is_empty()
        && ![*any, *server_auth, *code_signing, *email_protection, *time_stamping, *ocsp_signing]
            .contains(&true)
}
