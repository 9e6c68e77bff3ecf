//! What every call passes.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::json;
use sim::Tempo;
use sim::hetzner::{Access, Busy, Throttle};

use crate::cloud::{Cloud, instant};

#[tokio::test]
async fn a_wrong_token_is_refused() {
    let cloud = instant().await.with_token("another");
    let said = cloud.get("/servers").await;
    assert_eq!((said.status.as_u16(), said.code()), (401, "unauthorized"));
}

#[tokio::test]
async fn a_read_only_token_reads() {
    let cloud = instant().await;
    cloud.hetzner.turn(|knobs| knobs.access = Access::ReadOnly);
    cloud.get("/servers").await.ok();
    let said = cloud.post("/networks", json!({ "name": "a", "ip_range": "10.0.0.0/16" })).await;
    assert_eq!((said.status.as_u16(), said.code()), (403, "forbidden"));
    assert!(cloud.effects.all().is_empty());
}

#[tokio::test]
async fn every_answer_has_the_limits_and_a_correlation_id() {
    let cloud = Cloud::start(Tempo::times(1), 3600).await;
    let first = cloud.get("/locations").await;
    let second = cloud.get("/nowhere").await;
    assert_eq!(first.headers["ratelimit-limit"], "3600");
    assert_eq!(first.headers["ratelimit-remaining"], "3599");
    assert!(first.headers.contains_key("ratelimit-reset"));
    assert_eq!(second.headers["ratelimit-remaining"], "3598");
    assert_ne!(first.headers["x-correlation-id"], second.headers["x-correlation-id"]);
}

#[tokio::test]
async fn too_many_calls_are_refused() {
    let cloud = Cloud::start(Tempo::times(1), 2).await;
    cloud.get("/locations").await.ok();
    cloud.get("/locations").await.ok();
    let said = cloud.get("/locations").await;
    assert_eq!((said.status.as_u16(), said.code()), (429, "rate_limit_exceeded"));
    assert_eq!(said.headers["ratelimit-remaining"], "0");
}

#[tokio::test]
async fn the_throttle_says_when_to_come_back() {
    let cloud = instant().await;
    let throttle = Throttle { calls: 1, reset: Duration::from_secs(3) };
    cloud.hetzner.turn(|knobs| knobs.throttle = Some(throttle));
    assert_eq!(cloud.get("/locations").await.code(), "rate_limit_exceeded");
    cloud.get("/locations").await.ok();
}

#[tokio::test]
async fn the_gateway_can_be_bad_for_a_while() {
    let cloud = instant().await;
    cloud.hetzner.turn(|knobs| knobs.bad_gateways = 2);
    assert_eq!(cloud.get("/locations").await.status, 502);
    assert_eq!(cloud.get("/locations").await.status, 502);
    cloud.get("/locations").await.ok();
}

#[tokio::test]
async fn actions_can_meet_something_busy() {
    let cloud = instant().await;
    let network = json!({ "name": "a", "ip_range": "10.0.0.0/16" });
    let id = cloud.order("/networks", "network", network).await["id"].clone();
    let subnet =
        json!({ "type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.1.0/24" });
    let path = format!("/networks/{id}/actions/add_subnet");
    cloud.hetzner.turn(|knobs| knobs.busy = Some((Busy::Conflict, 1)));
    assert_eq!(cloud.post(&path, subnet.clone()).await.code(), "conflict");
    cloud.hetzner.turn(|knobs| knobs.busy = Some((Busy::Locked, 1)));
    assert_eq!(cloud.post(&path, subnet.clone()).await.code(), "locked");
    cloud.act(&path, subnet).await;
}

#[tokio::test]
async fn what_is_not_there_says_so() {
    let cloud = instant().await;
    let missing = cloud.get("/servers/99").await;
    assert_eq!((missing.status.as_u16(), missing.code()), (404, "not_found"));
    let gone = cloud.get("/datacenters").await;
    assert_eq!((gone.status.as_u16(), gone.code()), (410, "deprecated_api_endpoint"));
    assert_eq!(cloud.get("/actions").await.status, 410, "ids are required");
    for path in ["/storage_boxes", "/servers/1/metrics", "/zones/1"] {
        let said = cloud.get(path).await;
        assert_eq!((said.status.as_u16(), said.code()), (501, "not_implemented"), "{path}");
    }
    assert_eq!(cloud.delete("/locations/1").await.status, 501);
    let rescue = cloud.post("/servers/1/actions/enable_rescue", json!({})).await;
    let message = "POST /servers/{id}/actions/enable_rescue is not simulated";
    assert_eq!((rescue.status.as_u16(), &rescue.body["error"]["message"]), (501, &json!(message)));
}

#[tokio::test]
async fn broken_bodies_are_named() {
    let cloud = instant().await;
    let broken = cloud.call(Method::POST, "/networks", Bytes::from("{")).await.unwrap();
    assert_eq!((broken.status.as_u16(), broken.code()), (400, "json_error"));
    let said = cloud.post("/networks", json!({ "name": "a" })).await;
    assert_eq!((said.status.as_u16(), said.code()), (422, "invalid_input"));
    assert_eq!(said.body["error"]["details"]["fields"][0]["name"], "ip_range");
}

#[tokio::test]
async fn a_lost_answer_leaves_its_effect() {
    let cloud = instant().await;
    cloud.effects.lose_next("POST /networks");
    let order = json!({ "name": "a", "ip_range": "10.0.0.0/16" }).to_string();
    assert!(cloud.call(Method::POST, "/networks", order.into()).await.is_err());
    let found = cloud.get("/networks?name=a").await.ok();
    assert_eq!(found["networks"].as_array().unwrap().len(), 1);
    let effects = cloud.effects.all();
    assert_eq!(effects.len(), 1);
    assert_eq!(
        (effects[0].call.as_str(), effects[0].subject.as_str()),
        ("POST /networks", "network a")
    );
}

#[tokio::test]
async fn requests_are_counted_by_route() {
    let cloud = instant().await;
    cloud.get("/servers/1").await;
    cloud.get("/servers/2").await;
    cloud.get("/pricing").await.ok();
    let counts = cloud.hetzner.requests();
    assert_eq!(counts["GET /servers/{id}"], 2);
    assert_eq!(counts["GET /pricing"], 1);
}
