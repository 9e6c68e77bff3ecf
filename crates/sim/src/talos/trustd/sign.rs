//! The side of the control plane.

use std::sync::Arc;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{Issuer, KeyPair};
use ring::digest::{SHA256, digest};
use talos_proto::securityapi::{
    CertificateRequest, CertificateResponse,
    security_service_server::{SecurityService, SecurityServiceServer},
};
use tokio::{
    io::BufWriter,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use tonic::{Request, Response, Status, metadata::MetadataMap, service::Routes};
use tower::ServiceExt;

use super::TOKEN;
use crate::{
    Clock,
    talos::{MachineConfig, PkiError, pki, tls::Tls},
};

/// Signs what comes with the right token.
#[derive(Clone, Debug)]
pub(in crate::talos) struct Signer {
    token: String,
    issuer: Arc<Issuer<'static, KeyPair>>,
    /// The certificate of the authority, as PEM.
    authority: String,
    clock: Clock,
}

impl Signer {
    pub(in crate::talos) fn of(config: &MachineConfig, clock: &Clock) -> Result<Self, PkiError> {
        let (token, clock) = (config.token.clone(), clock.clone());
        let issuer = Arc::new(pki::issuer(&config.machine_ca)?);
        Ok(Self { token, issuer, authority: config.machine_ca.certificate.clone(), clock })
    }

    fn admit(&self, metadata: &MetadataMap) -> Result<(), Status> {
        let Some(token) = metadata.get(TOKEN) else {
            return Err(Status::unauthenticated("missing token"));
        };
        // How long the comparison takes says nothing of the token itself.
        let hash = |text: &[u8]| digest(&SHA256, text);
        if hash(token.as_bytes()).as_ref() != hash(self.token.as_bytes()).as_ref() {
            return Err(Status::unauthenticated("invalid token"));
        }
        Ok(())
    }
}

#[tonic::async_trait]
impl SecurityService for Signer {
    async fn certificate(
        &self,
        request: Request<CertificateRequest>,
    ) -> Result<Response<CertificateResponse>, Status> {
        self.admit(request.metadata())?;
        let request = String::from_utf8_lossy(&request.get_ref().csr).into_owned();
        if !request.contains("-----BEGIN ") {
            return Err(Status::invalid_argument("failed to decode CSR"));
        }
        let request = pki::Request::read(&request);
        let request =
            request.map_err(|error| refusal(Status::invalid_argument, "parse", &error))?;
        let crt = request.sign(&self.issuer, self.clock.now());
        let crt = crt.map_err(|error| refusal(Status::internal, "sign", &error))?;
        let ca = self.authority.clone().into_bytes();
        Ok(Response::new(CertificateResponse { ca, crt: crt.into_bytes() }))
    }
}

fn refusal(status: fn(String) -> Status, attempt: &str, error: &PkiError) -> Status {
    status(format!("failed to {attempt} CSR: {error}"))
}

/// Signs without end; all connections go when this is dropped.
pub(in crate::talos) async fn serve(listener: TcpListener, tls: &Tls, signer: Signer) {
    let acceptor = TlsAcceptor::from(Arc::clone(&tls.config));
    let routes = Routes::new(SecurityServiceServer::new(signer));
    let mut connections = JoinSet::new();
    loop {
        // A connection that broke before it was accepted is no reason to stop.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        connections.spawn(converse(stream, acceptor.clone(), routes.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn converse(stream: TcpStream, acceptor: TlsAcceptor, routes: Routes) {
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let service = hyper::service::service_fn(move |request| routes.clone().oneshot(request));
    let stream = TokioIo::new(BufWriter::new(stream));
    let served = http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service);
    // The caller has what it wanted, or not.
    let _ = served.await;
}
