//! What goes over the wire, byte for byte where it matters.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use sim::kube::{Patch, Write};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::cluster::Cluster;

/// Sends a request on a connection of its own, and returns all that comes
/// back; the client shows a certificate of `authority` where one is given.
fn ask(
    cluster: &Cluster,
    authority: Option<&rig::pki::Authority>,
    request: &str,
    body: &str,
) -> String {
    let mut roots = RootCertStore::empty();
    let own = cluster.authority.pair().certificate.as_bytes();
    roots.add(CertificateDer::from_pem_slice(own).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config =
        config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let config = match authority {
        None => config.with_no_client_auth(),
        Some(authority) => {
            let identity = rig::pki::Identity { user: "admin", group: Some("system:masters") };
            let pair = authority.client(identity).unwrap();
            let chain = vec![CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
            config.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let address = cluster.address.trim_start_matches("https://");
    let text = format!(
        "{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    cluster.runtime.block_on(async {
        let stream = TcpStream::connect(address).await.unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let mut tls = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        tls.write_all(text.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // A connection that is cut ends with an error, after what has come.
        let _ = tls.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    })
}

/// Sends a request as the administrator.
pub(crate) fn admin(cluster: &Cluster, request: &str, body: &str) -> String {
    ask(cluster, Some(&cluster.authority), request, body)
}

fn status(answer: &str) -> u16 {
    answer.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn documents(answer: &str) -> Vec<Value> {
    answer
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(Value::is_object)
        .collect()
}

fn cluster() -> Cluster {
    let cluster = Cluster::start();
    let place = cluster.kube.place(&sim::kube::Key::core("namespaces"), "", "default").unwrap();
    while cluster.kube.get(&place).is_err() {
        cluster.runtime.block_on(async { cluster.kube.revision().changed().await.unwrap() });
    }
    cluster
}

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[test]
fn the_unknown_get_401_everywhere() {
    let (cluster, stranger) = (cluster(), rig::pki::Authority::new("other").unwrap());
    for path in ["/version", "/readyz", "/livez", "/api", "/api/v1/pods", "/nonsense"] {
        for authority in [None, Some(&stranger)] {
            let answer = ask(&cluster, authority, &format!("GET {path}"), "");
            assert_eq!(status(&answer), 401, "{answer}");
            assert!(answer.contains("\"reason\":\"Unauthorized\""), "{answer}");
        }
    }
    assert_eq!(status(&admin(&cluster, "GET /readyz", "")), 200);
    assert_eq!(status(&admin(&cluster, "GET /nonsense", "")), 404);
    assert_eq!(status(&admin(&cluster, "GET /api/v1/foos", "")), 404);
    assert_eq!(status(&admin(&cluster, "DELETE /api/v1/namespaces", "")), 405);
    assert_eq!(status(&admin(&cluster, "GET /api/v1/namespaces/default/pods/a/log", "")), 404);
    assert_eq!(status(&admin(&cluster, "GET /api/v1/namespaces/default/pods/a/exec", "")), 501);
}

#[test]
fn a_lost_answer_has_had_its_effect() {
    let cluster = cluster();
    cluster.effects.lose_next("create configmaps");
    let body = r#"{ "metadata": { "name": "a" } }"#;
    assert_eq!(admin(&cluster, &format!("POST {MAPS}"), body), "", "not a byte");
    let again = admin(&cluster, &format!("POST {MAPS}"), body);
    assert_eq!(status(&again), 409, "{again}");
    let effects = cluster.effects.all();
    assert_eq!(effects.len(), 1, "refused calls and controllers have none: {effects:?}");
    assert_eq!((effects[0].part, effects[0].subject.as_str()), ("kube", "default/a"));
    let dry = admin(&cluster, &format!("DELETE {MAPS}/a?dryRun=All"), "");
    assert_eq!(status(&dry), 200, "{dry}");
    assert_eq!(cluster.effects.all().len(), 1);
    assert_eq!(cluster.effects.counters().requests["kube"]["create configmaps"], 2);
}

#[test]
fn lists_go_page_by_page_at_one_version() {
    let cluster = cluster();
    for name in ["a", "b", "c"] {
        let body = format!("{{ \"metadata\": {{ \"name\": \"{name}\" }} }}");
        assert_eq!(status(&admin(&cluster, &format!("POST {SECRETS}"), &body)), 201);
    }
    let first = &documents(&admin(&cluster, &format!("GET {SECRETS}?limit=2"), ""))[0];
    assert_eq!(first["metadata"]["remainingItemCount"], 1);
    assert_eq!(status(&admin(&cluster, &format!("DELETE {SECRETS}/c"), "")), 200);
    let token = first["metadata"]["continue"].as_str().unwrap();
    let rest =
        &documents(&admin(&cluster, &format!("GET {SECRETS}?limit=2&continue={token}"), ""))[0];
    assert_eq!(rest["items"][0]["metadata"]["name"], "c", "as it was when the list began");
    assert_eq!(rest["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
}

#[test]
fn a_watch_tells_what_is_and_what_becomes() {
    let cluster = cluster();
    let body = r#"{ "metadata": { "name": "a", "labels": { "x": "1" } } }"#;
    admin(&cluster, &format!("POST {MAPS}"), body);
    let query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1&labelSelector=x%3D1";
    let events = documents(&admin(&cluster, &format!("GET {MAPS}?{query}"), ""));
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ADDED", "BOOKMARK", "BOOKMARK"]);
    let end = &events[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"];
    assert_eq!(end, "true");
    let version = events[1]["object"]["metadata"]["resourceVersion"].as_str().unwrap();
    let unlabelled = r#"{ "metadata": { "name": "a" } }"#;
    admin(&cluster, &format!("PUT {MAPS}/a"), unlabelled);
    let query = format!("watch=1&resourceVersion={version}&timeoutSeconds=1&labelSelector=x");
    let events = documents(&admin(&cluster, &format!("GET {MAPS}?{query}"), ""));
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["type"], "DELETED", "it does not match any more");
}

#[test]
fn a_watch_from_a_forgotten_version_ends_with_410() {
    let cluster = cluster();
    let maps = sim::kube::Key::core("configmaps");
    let (here, write) = (cluster.kube.place(&maps, "default", "").unwrap(), Write::by("test"));
    let map = cluster.kube.create(&here, json!({ "metadata": { "name": "a" } }), &write).unwrap();
    let place = cluster.kube.place_of(&map).unwrap();
    for number in 0..20_000 {
        let patch = Patch::Merge(json!({ "data": { "n": number.to_string() } }));
        cluster.kube.patch(&place, &patch, &write).unwrap();
    }
    let query = "watch=1&timeoutSeconds=5&resourceVersion=1";
    let events = documents(&admin(&cluster, &format!("GET {MAPS}?{query}"), ""));
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((&events[0]["type"], &events[0]["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(events[0]["object"]["reason"], "Expired");
}
