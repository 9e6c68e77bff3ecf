//! The side of the worker.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use http::Uri;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{
    ClientConfig, RootCertStore, pki_types::ServerName, sign::CertifiedKey, version::TLS13,
};
use talos_proto::securityapi::{
    CertificateRequest, security_service_client::SecurityServiceClient,
};
use thiserror::Error;
use tokio::{io::BufWriter, net::TcpStream};
use tokio_rustls::TlsConnector;
use tonic::{Code, Request, Status, metadata::errors::InvalidMetadataValue};
use tower::service_fn;

use super::{TOKEN, TRUSTD_PORT};
use crate::talos::{MachineConfig, PkiError, pki, pki::Unsigned, tls};

/// A certificate with its key, and the authority that signed it.
#[derive(Clone, Debug)]
pub(in crate::talos) struct Signed {
    pub(in crate::talos) identity: Arc<CertifiedKey>,
    pub(in crate::talos) authority: String,
}

/// Why a control plane did not sign.
#[derive(Debug, Error)]
pub(in crate::talos) enum AskError {
    #[error("could not connect")]
    Connect(#[from] io::Error),
    #[error("could not speak HTTP/2")]
    Speak(#[from] hyper::Error),
    #[error("the token cannot be sent")]
    Token(#[from] InvalidMetadataValue),
    #[error("the control plane refused")]
    Refused(#[from] Status),
    #[error("the answer is of no use")]
    Answer(#[from] PkiError),
}

impl AskError {
    /// Says whether the same question may have another answer.
    pub(in crate::talos) fn is_lost(&self) -> bool {
        match self {
            Self::Connect(_) | Self::Speak(_) => true,
            Self::Refused(status) => status.code() != Code::Unauthenticated,
            Self::Token(_) | Self::Answer(_) => false,
        }
    }
}

/// Asks a control plane to sign a request.
pub(in crate::talos) async fn ask(
    address: Ipv4Addr,
    config: &MachineConfig,
    unsigned: &Unsigned,
) -> Result<Signed, AskError> {
    let mut requests = connect(address, trusting(&config.machine_ca.certificate)?).await?;
    let control_plane = service_fn(move |request| requests.send_request(request));
    let origin = Uri::builder().scheme("https").authority(format!("{address}:{TRUSTD_PORT}"));
    let origin = origin.path_and_query("/").build().expect("an address makes a URI");
    let csr = unsigned.request.clone().into_bytes();
    let mut request = Request::new(CertificateRequest { csr });
    request.metadata_mut().insert(TOKEN, config.token.parse()?);
    let mut trustd = SecurityServiceClient::with_origin(control_plane, origin);
    let answer = trustd.certificate(request).await?.into_inner();
    let identity = unsigned.certified(&String::from_utf8_lossy(&answer.crt))?;
    Ok(Signed { identity, authority: String::from_utf8_lossy(&answer.ca).into_owned() })
}

/// Speaks HTTP/2 with a control plane, for one question.
async fn connect(
    address: Ipv4Addr,
    tls: ClientConfig,
) -> Result<SendRequest<tonic::body::Body>, AskError> {
    let stream = TcpStream::connect((address, TRUSTD_PORT)).await?;
    stream.set_nodelay(true)?;
    let name = ServerName::IpAddress(IpAddr::V4(address).into());
    let stream = TlsConnector::from(Arc::new(tls)).connect(name, stream).await?;
    let stream = TokioIo::new(BufWriter::new(stream));
    let (requests, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
    // It ends with the question.
    tokio::spawn(connection);
    Ok(requests)
}

/// Trusts control planes with a certificate of the cluster's authority.
fn trusting(authorities: &str) -> Result<ClientConfig, PkiError> {
    let mut roots = RootCertStore::empty();
    for certificate in pki::certificates(authorities)? {
        roots.add(certificate)?;
    }
    let mut config = ClientConfig::builder_with_provider(tls::provider())
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}
