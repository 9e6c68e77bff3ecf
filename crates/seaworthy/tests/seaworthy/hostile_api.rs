//! APIs that answer everything with what a test wants: Kubernetes over HTTP, and
//! Hetzner over TLS with an authority of its own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Answers a path with a status and a body of JSON.
pub(crate) type Answer = Arc<dyn Fn(&str) -> (u16, String) + Send + Sync>;

/// Serves Kubernetes without TLS, and returns its host and port.
pub(crate) fn kubernetes(answer: Answer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for caller in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            thread::spawn(move || serve(caller, &answer));
        }
    });
    place
}

/// Serves Hetzner, and returns its endpoint and the PEM of its authority.
pub(crate) fn hetzner(answer: Answer) -> (String, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("https://{}/v1", listener.local_addr().unwrap());
    let (config, authority) = tls();
    thread::spawn(move || {
        for caller in listener.incoming().map_while(Result::ok) {
            let (answer, config) = (Arc::clone(&answer), Arc::clone(&config));
            thread::spawn(move || {
                let connection = ServerConnection::new(config).unwrap();
                serve(StreamOwned::new(connection, caller), &answer);
            });
        }
    });
    (endpoint, authority)
}

/// Accepts connections and drips a byte at a time, for as long as anybody reads.
pub(crate) fn dripping() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for caller in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || drip(caller));
        }
    });
    place
}

#[expect(clippy::disallowed_methods, reason = "this server is slow on purpose")]
fn drip(mut caller: TcpStream) {
    if head(&mut caller).is_none() {
        return;
    }
    let _ = caller.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
    while caller.write_all(b" ").is_ok() {
        thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Reads the head of a request.
fn head(caller: &mut impl Read) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        caller.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

fn serve(mut caller: impl Read + Write, answer: &Answer) {
    let Some(head) = head(&mut caller) else { return };
    let (status, body) = answer(head.split(' ').nth(1).unwrap_or_default());
    let length = body.len();
    let _ = write!(
        caller,
        "HTTP/1.1 {status} S\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    let _ = caller.flush();
    // Whatever is still on its way must not turn into a reset before it was read.
    let _ = caller.read(&mut [0; 4096]);
}

/// TLS with a certificate for the loopback address, by an authority of its own.
fn tls() -> (Arc<ServerConfig>, String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (Arc::new(config), authority.pem())
}
