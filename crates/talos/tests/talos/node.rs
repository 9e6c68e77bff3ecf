//! A node that answers what a test wants it to answer, over real TLS.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::Frame;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, Issuer, KeyPair, PKCS_ED25519, SanType,
    date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use talos::pki::Authority;
use talos::secrets::Bundle;
use talos_proto::cosi::resource::state_server::StateServer;
use talos_proto::machine::image_service_server::ImageServiceServer;
use talos_proto::machine::lifecycle_service_server::LifecycleServiceServer;
use talos_proto::machine::machine_service_server::MachineServiceServer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Bytes;
use tonic::service::Routes;
use tower::ServiceExt;

use crate::answers::{Api, Script};

/// The years that a clock without a battery begins in, and one that was set wrongly.
pub(crate) const CLOCKS_OFF: [i32; 2] = [1980, 2090];

/// What listens on the port.
pub(crate) enum Face<'a> {
    /// A node in maintenance mode.
    Maintenance,
    /// A node in maintenance mode whose clock stands at the beginning of this year.
    MaintenanceIn(i32),
    /// A node with a config from this bundle.
    Configured(&'a Bundle),
    /// A node with a config from this bundle, whose certificate holds for the
    /// first day of this year only.
    ConfiguredIn(&'a Bundle, i32),
    /// A node with a config from this bundle, behind something that speaks no
    /// newer TLS than 1.2.
    OldTls(&'a Bundle),
    /// For a moment: the old server, which asks for nothing, with the new certificate.
    Window(&'a Bundle),
    /// A node with a config from this bundle, whose certificate names another address.
    Misnamed(&'a Bundle),
    /// Something that closes connections at once.
    Closing,
    /// Something that says nothing.
    Silent,
    /// Something that speaks, but not TLS.
    Babbling,
}

pub(crate) struct TestNode {
    pub(crate) address: SocketAddr,
    pub(crate) script: Arc<Mutex<Script>>,
    task: JoinHandle<()>,
}

impl TestNode {
    pub(crate) async fn start(face: Face<'_>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::<Mutex<Script>>::default();
        let open = matches!(face, Face::Maintenance | Face::MaintenanceIn(_) | Face::Window(_));
        let (cut, _) = tokio::sync::watch::channel(());
        let api = Api { script: script.clone(), admins_only: !open, cut };
        let task = match face {
            Face::Closing => tokio::spawn(async move {
                loop {
                    drop(listener.accept().await);
                }
            }),
            Face::Silent => tokio::spawn(async move {
                let mut held = Vec::new();
                loop {
                    held.push(listener.accept().await);
                }
            }),
            Face::Babbling => tokio::spawn(async move {
                loop {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").await;
                    let _ = stream.read(&mut [0; 64]).await;
                }
            }),
            face => tokio::spawn(serve(listener, tls(&face), api)),
        };
        Self { address, script, task }
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.script.lock().unwrap());
    }
}

impl Drop for TestNode {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The body of an answer of which nothing comes after its head.
struct Stalled;

impl http_body::Body for Stalled {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Poll::Pending
    }
}

async fn serve(listener: TcpListener, config: ServerConfig, api: Api) {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (acceptor, api) = (acceptor.clone(), api.clone());
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let mut cut = api.cut.subscribe();
            let script = api.script.clone();
            let routes = Routes::new(MachineServiceServer::new(api.clone()))
                .add_service(ImageServiceServer::new(api.clone()))
                .add_service(LifecycleServiceServer::new(api.clone()))
                .add_service(StateServer::new(api))
                .prepare();
            let routes = ServiceExt::<http::Request<Incoming>>::map_response(
                routes,
                move |answer: http::Response<Body>| {
                    let stalls = script.lock().unwrap().stall;
                    if stalls { answer.map(|_| Body::new(Stalled)) } else { answer }
                },
            );
            let builder = auto::Builder::new(TokioExecutor::new()).http2_only();
            let service = TowerToHyperService::new(routes);
            tokio::select! {
                _ = builder.serve_connection(TokioIo::new(stream), service) => {}
                _ = cut.changed() => {}
            }
        });
    }
}

fn tls(face: &Face<'_>) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let version = match face {
        Face::OldTls(_) => &rustls::version::TLS12,
        _ => &rustls::version::TLS13,
    };
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[version])
        .unwrap();
    let builder = match face {
        Face::Configured(bundle) | Face::ConfiguredIn(bundle, _) | Face::Misnamed(bundle) => {
            let mut roots = RootCertStore::empty();
            roots.add(bundle.os.certificate().der().to_vec().into()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
        _ => builder.with_no_client_auth(),
    };
    let (name, address, signer) = match face {
        Face::Configured(bundle)
        | Face::ConfiguredIn(bundle, _)
        | Face::OldTls(bundle)
        | Face::Window(bundle) => ("demo-cp-1", "127.0.0.1", Some(&bundle.os)),
        Face::Misnamed(bundle) => ("demo-cp-1", "10.0.64.11", Some(&bundle.os)),
        _ => ("maintenance-service.talos.dev", "127.0.0.1", None),
    };
    let mut params = of_server(name, address);
    if let Face::MaintenanceIn(year) | Face::ConfiguredIn(_, year) = face {
        params.not_before = date_time_ymd(*year, 1, 1);
        params.not_after = date_time_ymd(*year, 1, 2);
    }
    let (leaf, key) = leaf(&params, signer);
    let mut config = builder.with_single_cert(vec![leaf], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    config
}

fn of_server(name: &str, address: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.subject_alt_names = vec![SanType::IpAddress(address.parse().unwrap())];
    params.use_authority_key_identifier_extension = true;
    params
}

/// In maintenance mode an authority without a name signs.
fn leaf(
    params: &CertificateParams,
    signer: Option<&Authority>,
) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let leaf = if let Some(authority) = signer {
        let signing = KeyPair::from_pem(authority.key().pem().reveal()).unwrap();
        let der = CertificateDer::from(authority.certificate().der());
        params.signed_by(&key, &Issuer::from_ca_cert_der(&der, signing).unwrap()).unwrap()
    } else {
        let signing = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        let mut nameless = CertificateParams::default();
        nameless.distinguished_name = DistinguishedName::new();
        params.signed_by(&key, &Issuer::new(nameless, signing)).unwrap()
    };
    (leaf.der().clone(), PrivateKeyDer::try_from(key.serialize_der()).unwrap())
}

/// Deadlines that a test can wait for.
pub(crate) fn short() -> talos::client::Deadlines {
    let (connect, other) = (Duration::from_millis(800), Duration::from_millis(400));
    talos::client::Deadlines { connect, read: other, change: other, long: other }
}
