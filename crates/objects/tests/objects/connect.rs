//! Ways to the API, and ways that do not lead there.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use events::Arrival;
use objects::{Access, Timeouts, TlsProblem, Trouble, Unreachable};
use rig::need;
use rig::proxy::{Fault, Matching, Rule};
use tokio::io::AsyncWriteExt as _;
use tokio::net;

use crate::harbour::Harbour;

fn unreachable(error: &objects::ApiError) -> &Unreachable {
    match error.trouble() {
        Trouble::Unreachable(how) => how,
        other => panic!("expected no answer, got {other:?}"),
    }
}

#[tokio::test]
async fn a_kubeconfig_leads_to_version_and_health() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    assert!(harbour.cluster.version().await.unwrap().git_version.starts_with("v1."));
    let health = harbour.cluster.readyz().await.unwrap();
    assert!(health.ok && health.failing.is_empty(), "{health:?}");
    let metrics = harbour.cluster.raw("/metrics").await.unwrap();
    assert!(String::from_utf8(metrics).unwrap().contains("apiserver_request_total"));
}

#[tokio::test]
async fn certificates_lead_to_an_address_under_another_name() {
    let Some(namespace) = need::namespace() else { return };
    let access = namespace.access();
    let pem = |name: &str| fs::read_to_string(access.dir().join("pki").join(name)).unwrap();
    let (ca, certificate, key) =
        (pem("ca.crt"), pem("kubelet-client.crt"), pem("kubelet-client.key"));
    let by = Access::with_certificates("https://192.0.2.1:6443", &ca, &certificate, &key).unwrap();
    let there = by.clone().at(access.server(), Some("kubernetes.default"));
    there.connect().await.unwrap().version().await.unwrap();
    // The certificate does not carry every name.
    let wrong = by.clone().at(access.server(), Some("stranger.example"));
    let error = wrong.connect().await.unwrap().version().await.unwrap_err();
    let told = error.to_string();
    assert!(matches!(unreachable(&error), Unreachable::Tls(TlsProblem::Name { .. })), "{told}");
    assert!(told.contains("is for other names than stranger.example: "), "{told}");
    assert!(told.contains("kubernetes.default"), "{told}");
    assert_eq!(error.arrival(), Arrival::No);
    let nowhere = by.at("127.0.0.1", None).connect().await.unwrap_err();
    assert_eq!(nowhere.to_string(), "`127.0.0.1` is not an address such as https://192.0.2.1:6443");
}

#[tokio::test]
async fn another_authority_is_an_error_of_tls() {
    let Some(namespace) = need::namespace() else { return };
    let access = namespace.access();
    let pem = |name: &str| fs::read_to_string(access.dir().join("pki").join(name)).unwrap();
    // A certificate that is no authority of the server's.
    let stranger = pem("kubelet-client.crt");
    let by = Access::with_certificates(
        access.server(),
        &stranger,
        &stranger,
        &pem("kubelet-client.key"),
    );
    let error = by.unwrap().connect().await.unwrap().version().await.unwrap_err();
    assert_eq!(unreachable(&error), &Unreachable::Tls(TlsProblem::Authority), "{error}");
    assert!(error.to_string().contains("an authority that the kubeconfig does not trust"));
}

#[tokio::test]
async fn doors_that_are_closed_are_told_apart() {
    let Some(namespace) = need::namespace() else { return };
    let kubeconfig = fs::read(namespace.access().kubeconfig()).unwrap();
    let quick = Timeouts {
        connect: Duration::from_millis(300),
        answer: Duration::from_secs(5),
        change: Duration::from_secs(5),
        silence: Duration::from_secs(5),
    };
    let access = Access::from_kubeconfig(&kubeconfig, None).unwrap().timeouts(quick);
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let refused = access.clone().at(format!("https://{closed}"), None);
    let error = refused.connect().await.unwrap().version().await.unwrap_err();
    let at = closed.to_string();
    assert_eq!(unreachable(&error), &Unreachable::NoConnection(peers::DialError::Refused { at }));
    let text = error.to_string();
    assert!(
        text.starts_with("could not ask https://127.0.0.1:") && text.contains("refused"),
        "{text}"
    );

    // A load balancer without a healthy target accepts and hangs up.
    let listener = net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let hanging = tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            drop(connection);
        }
    });
    let balancer = access.clone().at(format!("https://{address}"), None);
    let error = balancer.connect().await.unwrap().readyz().await.unwrap_err();
    assert_eq!(unreachable(&error), &Unreachable::HungUp, "{error:?}");
    hanging.abort();

    // A server of something else behind that port.
    let plain = net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = plain.local_addr().unwrap();
    let answering = tokio::spawn(async move {
        while let Ok((mut connection, _)) = plain.accept().await {
            let _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let other = access.clone().at(format!("https://{address}"), None);
    let error = other.connect().await.unwrap().readyz().await.unwrap_err();
    assert_eq!(unreachable(&error), &Unreachable::Tls(TlsProblem::NotSpoken), "{error:?}");
    answering.abort();

    // One that accepts and says nothing.
    let silent = net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let mute = access.at(format!("https://{address}"), None);
    let error = mute.connect().await.unwrap().readyz().await.unwrap_err();
    assert_eq!(unreachable(&error), &Unreachable::HandshakeTimedOut, "{error:?}");
    assert_eq!(error.arrival(), Arrival::No);
}

#[tokio::test]
async fn an_answer_that_is_late_is_given_up() {
    let Some(opening) = Harbour::open() else { return };
    let quick = Timeouts { answer: Duration::from_millis(300), ..Timeouts::default() };
    let harbour = opening.with(quick).await;
    let slow = Fault::Delay(Duration::from_secs(3));
    harbour.proxy.add(Rule::next(1, Matching::path("/version"), slow));
    let error = harbour.cluster.version().await.unwrap_err();
    assert_eq!(unreachable(&error), &Unreachable::AnswerTimedOut);
    assert_eq!(error.arrival(), Arrival::Maybe);

    // Webhooks look at a change, and may take longer.
    let slow = Fault::Delay(Duration::from_secs(1));
    harbour.proxy.add(Rule::next(1, Matching::class("patch", "configmaps"), slow));
    let map = harbour.config_map("a", serde_json::json!({}));
    let permit = harbour.permit().await;
    harbour.cluster.apply(permit, &map, objects::Ownership::Respect, None).await.unwrap();
}

#[tokio::test]
async fn a_health_that_is_bad_is_an_answer() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.proxy.add(Rule::next(1, Matching::path("/readyz"), Fault::Status(503)));
    let error = harbour.cluster.readyz().await.unwrap_err();
    assert!(matches!(error.trouble(), Trouble::Unavailable { code: 503, .. }), "{error:?}");
    assert!(error.class().is_retryable());
}

#[test]
fn a_broken_kubeconfig_says_so() {
    let error = Access::from_kubeconfig(b"\xFF", None).unwrap_err();
    assert_eq!(error.to_string(), "the kubeconfig is not valid UTF-8");
    let broken = b"clusters: []\nusers: [{name: a, user: {token: [hunter22]}}]\n";
    let error = Access::from_kubeconfig(broken, None).unwrap_err();
    let told = error.to_string();
    assert!(told.starts_with("the kubeconfig cannot be read: line 2, column "), "{told}");
    assert!(told.contains("expected"), "{told}");
    assert!(!format!("{error} {error:?}").contains("hunter22"));
}

#[tokio::test]
async fn a_context_that_is_not_there_says_so() {
    let text = b"users: [{name: a, user: {token: hunter22}}]\ncurrent-context: nowhere\n";
    let access = Access::from_kubeconfig(text, None).unwrap();
    assert!(!format!("{access:?}").contains("hunter22"));
    let error = access.connect().await.unwrap_err();
    assert_eq!(error.to_string(), "could not use the kubeconfig");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("nowhere"), "{source}");
}
