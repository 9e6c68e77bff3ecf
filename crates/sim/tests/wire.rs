//! Serving on TLS, and losing answers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sim::wire::{Authority, LostAnswer, Serving, serve};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

async fn start(authority: &Authority) -> Serving {
    let router =
        Router::new().route("/kept", get(async || "kept")).route("/lost", get(async || LostAnswer));
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    serve(listener, Some(authority.server(&[LOOPBACK]).unwrap()), router).unwrap()
}

async fn connect(
    serving: &Serving,
    trusted: &Authority,
    protocol: &str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let stream = TcpStream::connect(serving.address()).await?;
    let name = ServerName::IpAddress(LOOPBACK.into());
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

fn ask(path: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("https://127.0.0.1{path}")).body(Empty::new()).unwrap()
}

#[tokio::test]
async fn http_1_answers_and_loses() {
    let authority = Authority::new("world").unwrap();
    let serving = start(&authority).await;
    let stream = connect(&serving, &authority, "http/1.1").await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let kept = sender.send_request(ask("/kept")).await.unwrap();
    assert_eq!(kept.into_body().collect().await.unwrap().to_bytes(), "kept");
    sender.ready().await.unwrap();
    assert!(sender.send_request(ask("/lost")).await.is_err());
    assert!(sender.ready().await.is_err());
}

#[tokio::test]
async fn http_2_answers_and_loses() {
    let authority = Authority::new("world").unwrap();
    let serving = start(&authority).await;
    let stream = connect(&serving, &authority, "h2").await.unwrap();
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let kept = sender.send_request(ask("/kept")).await.unwrap();
    assert_eq!(kept.into_body().collect().await.unwrap().to_bytes(), "kept");
    assert!(sender.send_request(ask("/lost")).await.is_err());
    assert!(sender.ready().await.is_err(), "the connection is cut, not only the stream");
}

#[tokio::test]
async fn another_authority_is_not_trusted() {
    let serving = start(&Authority::new("world").unwrap()).await;
    let stranger = Authority::new("stranger").unwrap();
    assert!(connect(&serving, &stranger, "http/1.1").await.is_err());
}

#[tokio::test]
async fn dropping_it_cuts_connections() {
    let authority = Authority::new("world").unwrap();
    let serving = start(&authority).await;
    let address = serving.address();
    let stream = connect(&serving, &authority, "http/1.1").await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender.send_request(ask("/kept")).await.unwrap();
    drop(serving);
    // The task ends at its next turn, which this waits for.
    while sender.ready().await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(TcpStream::connect(address).await.is_err());
}
