//! Load balancers with real ports and real health checks.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use http::StatusCode;
use serde_json::{Value, json};
use sim::hetzner::HealthChecks;
use sim::wire::{Authority, Serving, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::cloud::{Cloud, instant, server, slow};

const PORT: u16 = 16443;

/// A load balancer in a network, with two servers that its selector means.
struct Scene {
    cloud: Cloud,
    balancer: String,
    address: SocketAddr,
    servers: Vec<Ipv4Addr>,
}

async fn scene(health_check: Value) -> Scene {
    let cloud = instant().await;
    let subnet =
        json!({ "type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.64.0/24" });
    let order = json!({ "name": "demo", "ip_range": "10.0.0.0/16", "subnets": [subnet] });
    let network = cloud.order("/networks", "network", order).await["id"].clone();
    let order = json!({ "name": "api", "load_balancer_type": "lb11", "location": "fsn1" });
    let made = cloud.order("/load_balancers", "load_balancer", order).await;
    let balancer = format!("/load_balancers/{}", made["id"]);
    let act = async |action: &str, body: Value| {
        cloud.act(&format!("{balancer}/actions/{action}"), body).await;
    };
    act("attach_to_network", json!({ "network": network, "ip": "10.0.64.254" })).await;
    act("add_service", json!({
        "protocol": "tcp", "listen_port": PORT, "destination_port": PORT, "health_check": health_check,
    })).await;
    act("add_target", json!({
        "type": "label_selector", "label_selector": { "selector": "role=cp" }, "use_private_ip": true,
    })).await;
    let mut servers = Vec::new();
    for name in ["cp-1", "cp-2"] {
        let more = json!({ "labels": { "role": "cp" }, "networks": [network] });
        let made = cloud.order("/servers", "server", server(name, more)).await;
        servers.push(made["public_net"]["ipv4"]["ip"].as_str().unwrap().parse().unwrap());
    }
    let address = made["public_net"]["ipv4"]["ip"].as_str().unwrap().parse::<Ipv4Addr>().unwrap();
    Scene { cloud, balancer, address: (address, PORT).into(), servers }
}

fn http_check() -> Value {
    json!({
        "protocol": "http", "port": PORT, "interval": 3, "timeout": 2, "retries": 2,
        "http": { "path": "/version", "response": "Status", "status_codes": ["401"], "tls": true },
    })
}

/// Serves what an API server says to strangers, with a certificate that no
/// health check could verify.
async fn api_server(address: Ipv4Addr) -> Serving {
    let authority = Authority::new("cluster").unwrap();
    let version = get(async || (StatusCode::UNAUTHORIZED, r#"{"kind":"Status"}"#));
    let listener = TcpListener::bind((address, PORT)).await.unwrap();
    let router = Router::new().route("/version", version);
    serve(listener, Some(authority.server(&[address.into()]).unwrap()), router).unwrap()
}

impl Scene {
    async fn healths(&self) -> Vec<String> {
        let said = self.cloud.get(&self.balancer).await.ok();
        let targets = said["load_balancer"]["targets"][0]["targets"].as_array().unwrap().clone();
        let status = |it: &Value| it["health_status"][0]["status"].as_str().unwrap().to_owned();
        targets.iter().map(status).collect()
    }

    async fn until(&self, expected: [&str; 2]) {
        let reached = async {
            while self.healths().await != expected {
                tokio::task::yield_now().await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(20), reached).await.is_ok();
        assert!(in_time, "expected {expected:?}, got {:?}", self.healths().await);
    }
}

#[tokio::test]
async fn without_a_healthy_target_a_client_reads_the_end() {
    let scene = scene(http_check()).await;
    scene.until(["unhealthy", "unhealthy"]).await;
    let mut stream = TcpStream::connect(scene.address).await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0, "an end of file, not a reset");
}

#[tokio::test]
async fn a_healthy_target_is_forwarded_to() {
    let scene = scene(http_check()).await;
    let serving = api_server(scene.servers[1]).await;
    scene.until(["unhealthy", "healthy"]).await;
    let mut tls = sim::wire::trusting_anybody();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    let stream = TcpStream::connect(scene.address).await.unwrap();
    let name = rustls::pki_types::ServerName::IpAddress(scene.address.ip().into());
    let connector = tokio_rustls::TlsConnector::from(Arc::new(tls));
    let mut stream = connector.connect(name, stream).await.unwrap();
    stream
        .write_all(b"GET /version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    // The other side may leave without a farewell.
    let _ = stream.read_to_string(&mut answer).await;
    assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("Status"), "{answer}");
    drop(serving);
    scene.until(["unhealthy", "unhealthy"]).await;
}

#[tokio::test]
async fn a_broken_path_makes_good_servers_unhealthy() {
    let scene = scene(http_check()).await;
    let _one = api_server(scene.servers[0]).await;
    let _two = api_server(scene.servers[1]).await;
    scene.until(["healthy", "healthy"]).await;
    let turn = |checks| scene.cloud.hetzner.turn(|knobs| knobs.health_checks = checks);
    turn(HealthChecks::AskFor("/broken".to_owned()));
    scene.until(["unhealthy", "unhealthy"]).await;
    let said = scene.cloud.get(&scene.balancer).await.ok();
    let status = &said["load_balancer"]["targets"][0]["targets"][0]["health_status"][0];
    assert_eq!(status["detail"], "unexpected_http_status");
    assert_eq!(status["http_status_code"], 404);
    turn(HealthChecks::AsConfigured);
    scene.until(["healthy", "healthy"]).await;
    turn(HealthChecks::NeverHealthy);
    scene.until(["unhealthy", "unhealthy"]).await;
}

#[tokio::test]
async fn a_connection_is_enough_for_a_tcp_check_and_turns_alternate() {
    static GREETED: [AtomicU16; 2] = [AtomicU16::new(0), AtomicU16::new(0)];
    let check =
        json!({ "protocol": "tcp", "port": PORT, "interval": 3, "timeout": 2, "retries": 2 });
    let scene = scene(check).await;
    for (at, address) in scene.servers.iter().enumerate() {
        let listener = TcpListener::bind((*address, PORT)).await.unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut word = [0; 2];
                if stream.read_exact(&mut word).await.is_ok() {
                    GREETED[at].fetch_add(1, Ordering::Relaxed);
                    stream.write_all(b"ok").await.unwrap();
                }
            }
        });
    }
    scene.until(["healthy", "healthy"]).await;
    for _ in 0..6 {
        let mut stream = TcpStream::connect(scene.address).await.unwrap();
        stream.write_all(b"hi").await.unwrap();
        let mut word = [0; 2];
        stream.read_exact(&mut word).await.unwrap();
    }
    let greeted = GREETED.each_ref().map(|it| it.load(Ordering::Relaxed));
    assert_eq!(greeted, [3, 3]);
}

#[tokio::test]
async fn services_and_targets_are_checked_and_changed() {
    let scene = scene(http_check()).await;
    let path = |action: &str| format!("{}/actions/{action}", scene.balancer);
    let post = async |action: &str, body: Value| scene.cloud.post(&path(action), body).await;
    let service = |port: u16, check: Value| json!({ "protocol": "tcp", "listen_port": port, "destination_port": 1, "health_check": check });
    assert_eq!(
        post("add_service", service(PORT, http_check())).await.code(),
        "source_port_already_used"
    );
    let https = json!({ "protocol": "https", "port": 1 });
    assert_eq!(post("add_service", service(2, https)).await.code(), "invalid_input");
    let quick = json!({ "protocol": "tcp", "interval": 2 });
    assert_eq!(post("add_service", service(2, quick)).await.code(), "invalid_input");
    for retries in [0, 6] {
        let check = json!({ "protocol": "tcp", "retries": retries });
        assert_eq!(post("add_service", service(2, check)).await.code(), "invalid_input");
    }
    let check = json!({ "protocol": "http", "http": { "domain": null, "path": "/a b" } });
    assert_eq!(post("add_service", service(2, check)).await.code(), "invalid_input");
    let target = json!({ "type": "label_selector", "label_selector": { "selector": "role=cp" } });
    assert_eq!(post("add_target", target.clone()).await.code(), "target_already_defined");
    assert_eq!(post("update_service", json!({ "listen_port": 3 })).await.code(), "not_found");
    let update = json!({ "listen_port": PORT, "health_check": { "http": { "path": "/readyz" } } });
    scene.cloud.act(&path("update_service"), update).await;
    let seen = scene.cloud.get(&scene.balancer).await.ok()["load_balancer"].clone();
    let check = &seen["services"][0]["health_check"];
    assert_eq!((&check["http"]["path"], &check["interval"]), (&json!("/readyz"), &json!(3)));
    assert_eq!(check["http"]["domain"], Value::Null);
    let update = json!({ "listen_port": PORT, "health_check": { "protocol": "tcp" } });
    scene.cloud.act(&path("update_service"), update).await;
    let seen = scene.cloud.get(&scene.balancer).await.ok()["load_balancer"].clone();
    let check = &seen["services"][0]["health_check"];
    assert_eq!(check.get("http"), None, "a check of connections has no such field");
    scene.cloud.act(&path("remove_target"), target).await;
    scene.cloud.act(&path("delete_service"), json!({ "listen_port": PORT })).await;
    let seen = scene.cloud.get(&scene.balancer).await.ok()["load_balancer"].clone();
    assert_eq!((&seen["services"], &seen["targets"]), (&json!([]), &json!([])));
    let said = scene.cloud.delete(&scene.balancer).await;
    assert_eq!(said.status, 201);
    scene.cloud.finish(&said.ok()).await;
    assert_eq!(scene.cloud.get(&scene.balancer).await.code(), "not_found");
}

#[tokio::test]
async fn a_busy_load_balancer_answers_with_a_conflict() {
    let cloud = slow().await;
    let order = json!({ "name": "api", "load_balancer_type": "lb11", "location": "fsn1" });
    let made = cloud.post("/load_balancers", order).await.ok()["load_balancer"].clone();
    let path = format!("/load_balancers/{}", made["id"]);
    let service = json!({ "protocol": "tcp", "listen_port": 1, "destination_port": 1 });
    let busy = cloud.post(&format!("{path}/actions/add_service"), service).await;
    assert_eq!((busy.status.as_u16(), busy.code()), (409, "conflict"));
    assert_eq!(cloud.delete(&path).await.code(), "conflict");
    for address in ["ipv4", "ipv6"] {
        let public = &made["public_net"][address];
        assert!(public["id"].is_i64() && public["blocked"] == false, "{public}");
    }
}
