//! A server that plays what a test has written down, byte by byte where it must.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clouds::hetzner::{Endpoint, Hetzner, Settings, Trust};
use events::{Clock, ClusterId, Secret};
use peers::Route;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub(crate) const TOKEN: &str = "canary-token-4c1e0f";

/// What the server does with a request.
pub(crate) enum Reply {
    /// Answers with these bytes, and keeps the connection.
    Bytes(Vec<u8>),
    /// Answers with these bytes, and closes the connection.
    Last(Vec<u8>),
    /// Says nothing and closes the connection.
    Close,
    /// Says nothing.
    Silence,
    /// Answers with these bytes, then repeats the piece after each pause until nobody reads.
    Endless(Vec<u8>, Vec<u8>, Duration),
}

/// A request that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub line: String,
    pub head: String,
    pub body: Value,
}

pub(crate) struct Api {
    pub address: SocketAddr,
    pub authority: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
}

/// An answer with a JSON body.
pub(crate) fn json(status: u16, body: &Value) -> Reply {
    answer(status, "Content-Type: application/json\r\n", &body.to_string())
}

/// An answer with these header lines.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> Reply {
    let length = body.len();
    let text = format!("HTTP/1.1 {status} S\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
    Reply::Bytes(text.into_bytes())
}

impl Api {
    /// A server that answers requests with `replies`, one after the other, and
    /// closes connections when they are used up.
    pub(crate) async fn playing(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (acceptor, authority) = tls();
        let replies = Arc::new(Mutex::new(replies.into_iter().collect::<VecDeque<_>>()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let (notes, count) = (Arc::clone(&seen), Arc::clone(&connections));
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (acceptor, replies) = (acceptor.clone(), Arc::clone(&replies));
                tokio::spawn(serve(tcp, acceptor, replies, Arc::clone(&notes)));
            }
        });
        Self { address, authority, seen, connections }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            endpoint: Endpoint::parse(&format!("https://{}/v1", self.address)).unwrap(),
            token: Secret::new(TOKEN),
            trust: Trust::Only(self.authority.clone().into_bytes()),
            timeout: Duration::from_secs(10),
            cluster: cluster(),
            route: Route::Direct,
            clock: Clock::starting_at("2026-11-15T12:00:00Z".parse().unwrap()),
        }
    }

    pub(crate) fn client(&self) -> Hetzner {
        Hetzner::new(self.settings()).unwrap()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The requests' methods and paths.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.line).collect()
    }
}

pub(crate) fn cluster() -> ClusterId {
    ClusterId::new(7)
}

async fn serve(
    tcp: TcpStream,
    acceptor: TlsAcceptor,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    notes: Arc<Mutex<Vec<Seen>>>,
) {
    let Ok(mut stream) = acceptor.accept(tcp).await else { return };
    while let Some(seen) = request(&mut stream).await {
        notes.lock().unwrap().push(seen);
        let reply = replies.lock().unwrap().pop_front().unwrap_or(Reply::Close);
        match reply {
            Reply::Bytes(bytes) => stream.write_all(&bytes).await.unwrap(),
            Reply::Last(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                return stream.shutdown().await.unwrap();
            }
            Reply::Close => return,
            Reply::Silence => std::future::pending().await,
            Reply::Endless(head, piece, pause) => {
                stream.write_all(&head).await.unwrap();
                return drip(&mut stream, &piece, pause).await;
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this server is slow on purpose")]
async fn drip(stream: &mut TlsStream<TcpStream>, piece: &[u8], pause: Duration) {
    while stream.write_all(piece).await.is_ok() {
        tokio::time::sleep(pause).await;
    }
}

async fn request(stream: &mut TlsStream<TcpStream>) -> Option<Seen> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(bytes).unwrap();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1").replace("/v1/", "/");
    Some(Seen { line, head, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

/// TLS with a certificate for the loopback address and a name, by an authority of its own.
fn tls() -> (TlsAcceptor, String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params =
        CertificateParams::new(vec!["127.0.0.1".to_owned(), "cloud.test".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), authority.pem())
}
