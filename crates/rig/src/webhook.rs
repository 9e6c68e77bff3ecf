//! An admission webhook on loopback that says what a test wants it to.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::pki::{Authority, Pair};
use crate::serving::Serving;

/// A running webhook; dropping it stops it.
#[derive(Debug)]
pub struct Webhook {
    serving: Serving,
    authority: String,
}

/// What a webhook says to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// Yes.
    Allow,
    /// No, and why.
    Deny(String),
    /// Nothing, for ever.
    Silence,
}

type Judge = Arc<dyn Fn(&str) -> Admission + Send + Sync>;

impl Webhook {
    /// Starts a webhook that judges objects by their names.
    pub fn start(judge: impl Fn(&str) -> Admission + Send + Sync + 'static) -> io::Result<Self> {
        let authority = Authority::new("webhook").map_err(io::Error::other)?;
        let hosts = ["127.0.0.1".to_owned()];
        let pair = authority.server("webhook", &hosts).map_err(io::Error::other)?;
        let acceptor = acceptor(&pair)?;
        let judge: Judge = Arc::new(judge);
        let serving = Serving::start(move |listener| serve(listener, acceptor, judge))?;
        Ok(Self { serving, authority: authority.pair().certificate.clone() })
    }

    /// Returns what a webhook's `clientConfig` says to find this one.
    pub fn client_config(&self) -> Value {
        let url = format!("https://{}/", self.serving.address());
        json!({ "url": url, "caBundle": STANDARD.encode(&self.authority) })
    }
}

fn acceptor(pair: &Pair) -> io::Result<TlsAcceptor> {
    let certificate = CertificateDer::from_pem_slice(pair.certificate.as_bytes());
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes());
    let (certificate, key) =
        (certificate.map_err(io::Error::other)?, key.map_err(io::Error::other)?);
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|it| it.with_no_client_auth().with_single_cert(vec![certificate], key))
        .map_err(io::Error::other)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, judge: Judge) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, judge) = (acceptor.clone(), Arc::clone(&judge));
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = service_fn(|request| answer(request, Arc::clone(&judge)));
            let server = auto::Builder::new(TokioExecutor::new());
            // A client that hangs up is not our concern.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    judge: Judge,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default();
    let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    let asked = &review["request"];
    let (allowed, message) = match judge(asked["name"].as_str().unwrap_or_default()) {
        Admission::Allow => (true, String::new()),
        Admission::Deny(message) => (false, message),
        Admission::Silence => std::future::pending().await,
    };
    let response = json!({ "apiVersion": review["apiVersion"], "kind": review["kind"],
        "response": { "uid": asked["uid"], "allowed": allowed,
            "status": { "message": message } } });
    let mut response = Response::new(Full::from(response.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
