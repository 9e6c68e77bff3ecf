//! The proxy's certificates, towards clients and towards the server.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Both ends of the proxy's TLS.
#[derive(Clone)]
pub(super) struct Tls {
    pub(super) acceptor: TlsAcceptor,
    as_proxy: TlsConnector,
    as_nobody: TlsConnector,
    upstream: String,
}

/// What is wrong with the certificates.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file could not be read.
    #[error("could not read a certificate or key")]
    Pem(#[from] rustls::pki_types::pem::Error),
    /// They do not fit together.
    #[error("the certificates do not fit together")]
    Config(#[from] rustls::Error),
    /// The authority cannot vouch for clients.
    #[error("could not verify clients with the authority")]
    Verifier(#[from] VerifierBuilderError),
}

/// Who a client's certificate says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) user: String,
    pub(super) groups: Vec<String>,
}

impl Tls {
    pub(super) fn load(pki: &Path, server: &str) -> Result<Self, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let authority = CertificateDer::from_pem_file(pki.join("ca.crt"))?;
        let mut roots = RootCertStore::empty();
        roots.add(authority)?;
        let roots = Arc::new(roots);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone())
            .allow_unauthenticated()
            .build()?;
        let (chain, key) = pair(pki, "proxy")?;
        let mut accepting = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)?;
        accepting.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let connecting = || -> Result<_, TlsError> {
            Ok(ClientConfig::builder_with_provider(provider.clone())
                .with_safe_default_protocol_versions()?
                .with_root_certificates(roots.clone()))
        };
        let (chain, key) = pair(pki, "proxy-client")?;
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(accepting)),
            as_proxy: http2(connecting()?.with_client_auth_cert(chain, key)?),
            as_nobody: http2(connecting()?.with_no_client_auth()),
            upstream: server.trim_start_matches("https://").to_owned(),
        })
    }

    /// Returns the server's host and port.
    pub(super) fn upstream(&self) -> &str {
        &self.upstream
    }

    /// Connects to the server: as the proxy where it speaks for a client,
    /// otherwise without a certificate, so that only a token counts.
    pub(super) async fn connect(
        &self,
        client: Option<&Client>,
    ) -> io::Result<TlsStream<TcpStream>> {
        let connector = if client.is_some() { &self.as_proxy } else { &self.as_nobody };
        let host = self.upstream.rsplit_once(':').map_or(self.upstream.as_str(), |(host, _)| host);
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        connector.connect(name, TcpStream::connect(&self.upstream).await?).await
    }
}

impl Client {
    /// Reads a client's certificate, which the handshake has verified.
    pub(super) fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
        let subject = certificate.subject();
        let user = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
        let groups = subject.iter_organization().filter_map(|group| group.as_str().ok());
        Some(Self { user, groups: groups.map(str::to_owned).collect() })
    }
}

fn http2(mut config: ClientConfig) -> TlsConnector {
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsConnector::from(Arc::new(config))
}

type Loaded = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn pair(pki: &Path, name: &str) -> Result<Loaded, TlsError> {
    let certificate = CertificateDer::from_pem_file(pki.join(format!("{name}.crt")))?;
    let key = PrivateKeyDer::from_pem_file(pki.join(format!("{name}.key")))?;
    Ok((vec![certificate], key))
}
