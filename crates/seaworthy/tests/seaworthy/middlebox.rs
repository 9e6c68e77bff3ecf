//! Something on the way to a node that ends TLS: it has a certificate that the
//! cluster's authority has signed, and no client certificate to show to the
//! node. The alert that the node answers with is passed on as it came.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{cipher_suite::TLS13_AES_256_GCM_SHA384, default_provider};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{
    AlertDescription, ClientConfig, ClientConnection, ConnectionTrafficSecrets, RootCertStore,
    ServerConfig, ServerConnection, Stream,
};
use talos::secrets::Bundle;

use crate::rehearsal::Stage;
use crate::workplace::{Ran, Workplace};

/// A fatal alert is a record of this type.
const ALERT: u8 = 21;
const FATAL: u8 = 2;

/// Puts one before a node, for as long as the test's process lives.
pub(crate) fn before(node: SocketAddr, listener: TcpListener, secrets: &Path) {
    let bundle = Bundle::load(secrets).unwrap();
    let address = listener.local_addr().unwrap().ip();
    let server = Arc::new(towards_clients(&bundle, address));
    let client = Arc::new(towards_node(&bundle));
    thread::spawn(move || {
        for caller in listener.incoming() {
            let (server, client) = (Arc::clone(&server), Arc::clone(&client));
            // Whoever only knocks is no matter.
            thread::spawn(move || drop(relay(caller.unwrap(), server, client, node)));
        }
    });
}

fn relay(
    mut caller: TcpStream,
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
    node: SocketAddr,
) -> io::Result<()> {
    let mut here = ServerConnection::new(server).unwrap();
    while here.is_handshaking() {
        here.complete_io(&mut caller)?;
    }
    let mut there = ClientConnection::new(client, ServerName::from(node.ip())).unwrap();
    let mut socket = TcpStream::connect(node)?;
    // The node looks for a certificate once the handshake is over on this side.
    let refused = Stream::new(&mut there, &mut socket).read(&mut [0; 64]).unwrap_err();
    let alert = match refused.downcast::<rustls::Error>() {
        Ok(rustls::Error::AlertReceived(alert)) => alert,
        other => panic!("the node has let it in: {other:?}"),
    };
    caller.write_all(&record(here, alert))
}

/// Returns an alert as a record of a connection.
fn record(connection: ServerConnection, alert: AlertDescription) -> Vec<u8> {
    let (number, secrets) = connection.dangerous_extract_secrets().unwrap().tx;
    let ConnectionTrafficSecrets::Aes256Gcm { key, iv } = secrets else {
        panic!("another cipher than the one that was offered")
    };
    let mut nonce: [u8; 12] = iv.as_ref().try_into().unwrap();
    for (byte, more) in nonce[4..].iter_mut().zip(number.to_be_bytes()) {
        *byte ^= more;
    }
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.as_ref()).unwrap());
    let mut sealed = vec![FATAL, alert.into(), ALERT];
    let length = u8::try_from(sealed.len() + AES_256_GCM.tag_len()).unwrap();
    let header = [23, 3, 3, 0, length];
    let nonce = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(nonce, Aad::from(header), &mut sealed).unwrap();
    [&header[..], &sealed].concat()
}

fn provider() -> Arc<CryptoProvider> {
    let cipher_suites = vec![TLS13_AES_256_GCM_SHA384];
    Arc::new(CryptoProvider { cipher_suites, ..default_provider() })
}

fn towards_clients(bundle: &Bundle, address: IpAddr) -> ServerConfig {
    let authority = bundle.os.key().pem().reveal().replace("ED25519 PRIVATE", "PRIVATE");
    let authority = KeyPair::from_pem(&authority).unwrap();
    let issuer = Issuer::from_ca_cert_pem(bundle.os.certificate().pem(), authority).unwrap();
    let mut params = CertificateParams::new(vec![address.to_string()]).unwrap();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    config.send_tls13_tickets = 0;
    config.enable_secret_extraction = true;
    config
}

fn towards_node(bundle: &Bundle) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(bundle.os.certificate().der().to_vec().into()).unwrap();
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    config
}

/// Asks the members of etcd through something that ends TLS, and wants the
/// node's answer to that named first. The kubeconfig and the talosconfig are in
/// the workplace.
pub(crate) fn a_lost_client_certificate_is_named(place: &Workplace, node: &str, secrets: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let between = listener.local_addr().unwrap();
    before(format!("{node}:50000").parse().unwrap(), listener, secrets);
    let around = place.read("talosconfig").replace(node, &between.to_string());
    place.write("around", around);
    let verify = |talosconfig| -> Ran {
        let files = ["verify", "--kubeconfig", "kubeconfig", "--talosconfig", talosconfig];
        place.run(files.iter().chain(&["--gate", "etcd"]))
    };
    let ran = verify("around");
    assert_eq!(ran.exit, 3, "{ran}");
    let first = ran.stderr.lines().find(|line| line.contains("error[")).unwrap_or_default();
    assert!(first.contains("error[SW0303]: 127.0.0.1"), "{ran}");
    assert!(ran.stderr.contains("certificate required"), "{ran}");
    let ran = verify("talosconfig");
    assert_eq!(ran.exit, 0, "without it all is well: {ran}");
}

#[test]
fn a_client_certificate_that_a_simulated_node_does_not_see_is_named() {
    let stage = Stage::new();
    stage.place.write("cluster.yaml", ONE);
    let (exit, text) =
        stage.rehearse(&["cluster.yaml", "--keep", "--speed", "60", "--until", "api"]);
    assert_eq!(exit, 0, "{text}");
    for command in ["kubeconfig", "talosconfig"] {
        let ran = stage.place.run([command, "cluster.yaml", "--rehearsal", "--out", command]);
        assert_eq!(ran.exit, 0, "{ran}");
    }
    let config = stage.place.read("talosconfig");
    let config = talos::credentials::Talosconfig::from_yaml(&config).unwrap();
    let endpoint = config.current().unwrap().endpoints[0].clone();
    let secrets = stage.place.path().join(".seaworthy/demo.rehearsal-1/secrets.yaml");
    a_lost_client_certificate_is_named(&stage.place, &endpoint, &secrets);
}

/// A cluster of a single node.
const ONE: &str = "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: { name: demo }
spec:
  cloud:
    hetzner: { location: fsn1, network: 10.0.0.0/16 }
  talos: { version: v1.14.1 }
  kubernetes: { version: v1.36.3 }
  controlPlane: { count: 1, type: cax11 }
  addons:
    cilium: {}
    hcloud-ccm: {}
";
