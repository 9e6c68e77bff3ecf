//! How control planes sign the certificates of workers; openssl makes the
//! request and judges the certificate.

use std::{fs, io, net::IpAddr, process::Command, sync::Arc};

use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use sim::talos::{Node, TRUSTD_PORT};
use talos_proto::securityapi::{
    CertificateRequest, CertificateResponse, security_service_client::SecurityServiceClient,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tonic::{Code, Request, Status, transport::Endpoint};
use tower::service_fn;

use crate::{
    client::trusting,
    secrets::Authority,
    world::{World, eventually},
};

/// The token of the configurations.
const TOKEN: &str = "abcdef.0123456789abcdef";

/// Asks as a worker does that trusts an authority.
async fn ask(
    node: &Node,
    authority: &Authority,
    token: Option<&str>,
    csr: &[u8],
) -> Result<CertificateResponse, Status> {
    let (address, tls) = (node.facts().address, Arc::new(trusting(authority)));
    let connector = service_fn(move |_| {
        let tls = TlsConnector::from(Arc::clone(&tls));
        async move {
            let stream = TcpStream::connect((address, TRUSTD_PORT)).await?;
            let name = ServerName::IpAddress(IpAddr::V4(address).into());
            io::Result::Ok(TokioIo::new(tls.connect(name, stream).await?))
        }
    });
    let endpoint = Endpoint::from_shared(format!("http://{address}:{TRUSTD_PORT}")).unwrap();
    let channel = endpoint.connect_with_connector(connector).await;
    let channel = channel.map_err(|error| Status::unavailable(format!("{error:?}")))?;
    let mut request = Request::new(CertificateRequest { csr: csr.to_vec() });
    if let Some(token) = token {
        request.metadata_mut().insert("token", token.parse().unwrap());
    }
    let answer = SecurityServiceClient::new(channel).certificate(request).await?;
    Ok(answer.into_inner())
}

fn openssl(args: &[&str]) -> Option<String> {
    let output = Command::new("openssl").args(args).output().ok()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
    Some(said)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_the_token_is_signed_for_a_server() {
    let world = World::new("trustd");
    let node = world.node("cp-1", [127, 90, 10, 1]);
    world.control_plane(&node).await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (key, csr) = (path("key"), path("csr"));
    // One that asks for an administrator's role, and for names.
    let made = openssl(&[
        "req",
        "-new",
        "-newkey",
        "ed25519",
        "-nodes",
        "-keyout",
        &key,
        "-out",
        &csr,
        "-subj",
        "/O=os:admin/CN=w-1",
        "-addext",
        "subjectAltName=DNS:w-1,IP:10.0.64.7",
    ]);
    if made.is_none() {
        let _: Option<()> = rig::need::skip("openssl is not installed");
        return;
    }
    let csr = fs::read(csr).unwrap();
    let ours = &world.secrets.talos;
    let signed =
        eventually("a certificate", async || ask(&node, ours, Some(TOKEN), &csr).await.ok()).await;
    assert_eq!(String::from_utf8(signed.ca.clone()).unwrap(), ours.certificate);
    let (ca, crt) = (path("ca"), path("crt"));
    fs::write(&ca, &signed.ca).unwrap();
    fs::write(&crt, &signed.crt).unwrap();
    openssl(&["verify", "-CAfile", &ca, "-purpose", "sslserver", &crt]);
    let text = openssl(&["x509", "-in", &crt, "-noout", "-text"]).unwrap();
    for part in ["CN = w-1", "DNS:w-1, IP Address:10.0.64.7", "TLS Web Server Authentication"] {
        assert!(text.replace("CN=w-1", "CN = w-1").contains(part), "{part}: {text}");
    }
    assert!(!text.contains("os:admin") && !text.contains("Client Authentication"), "{text}");
    let public = openssl(&["x509", "-in", &crt, "-noout", "-pubkey"]);
    assert_eq!(public, openssl(&["pkey", "-in", &key, "-pubout"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_no_token_or_trusts_another_authority_gets_nothing() {
    let world = World::new("trustd-refuses");
    let node = world.node("cp-1", [127, 90, 10, 2]);
    world.control_plane(&node).await;
    let ours = &world.secrets.talos;
    let rows = [
        (None, "", Code::Unauthenticated, "missing token"),
        (Some("xbcdef.0123456789abcdef"), "", Code::Unauthenticated, "invalid token"),
        (Some(TOKEN), "", Code::InvalidArgument, "failed to decode CSR"),
    ];
    for (token, csr, code, message) in rows {
        let refused = eventually("an answer", async || {
            let refused = ask(&node, ours, token, csr.as_bytes()).await.unwrap_err();
            (refused.code() != Code::Unavailable).then_some(refused)
        })
        .await;
        assert_eq!((refused.code(), refused.message()), (code, message));
    }
    let stranger = ask(&node, &Authority::talos(), Some(TOKEN), b"").await.unwrap_err();
    assert!(stranger.message().contains("InvalidCertificate"), "{stranger:?}");
}
