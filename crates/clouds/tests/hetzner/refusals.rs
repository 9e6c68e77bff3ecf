//! What Hetzner says no with, and what follows from it.

use clouds::hetzner::{CreatePlacementGroup, HetznerError, Meaning};
use events::{Arrival, Class, Failure};
use serde_json::json;

use crate::api::{Api, Reply, answer, json};
use crate::permits::Permits;
use crate::wire;

async fn refused(reply: Reply) -> HetznerError {
    let api = Api::playing([reply]).await;
    let wish = CreatePlacementGroup { name: "demo".to_owned(), labels: [].into() };
    let permit = Permits::new().wish(&wish).await;
    let error = api.client().send(permit, &wish).await.unwrap_err();
    assert_eq!(api.lines().len(), 1, "nothing is sent twice");
    error
}

/// The status is of no account: all come with the same one.
#[tokio::test]
async fn the_code_decides() {
    for (code, class, arrival) in [
        ("uniqueness_error", Class::Conflict, Arrival::No),
        ("server_already_attached", Class::Conflict, Arrival::No),
        ("target_already_defined", Class::Conflict, Arrival::No),
        ("locked", Class::Transient, Arrival::No),
        ("conflict", Class::Transient, Arrival::No),
        ("firewall_managed_by_label_selector", Class::Transient, Arrival::No),
        ("maintenance", Class::Transient, Arrival::No),
        ("resource_in_use", Class::Transient, Arrival::No),
        ("timeout", Class::Transient, Arrival::Maybe),
        ("server_error", Class::Transient, Arrival::Maybe),
        ("unavailable", Class::Transient, Arrival::Maybe),
        ("rate_limit_exceeded", Class::RateLimited { after_ms: None }, Arrival::No),
        ("resource_unavailable", Class::Permanent, Arrival::No),
        ("placement_error", Class::Permanent, Arrival::No),
        ("unauthorized", Class::Permanent, Arrival::No),
        ("token_readonly", Class::Permanent, Arrival::No),
        ("resource_limit_exceeded", Class::Permanent, Arrival::No),
        ("protected", Class::Permanent, Arrival::No),
        ("deprecated_api_endpoint", Class::Permanent, Arrival::No),
        ("an_error_of_tomorrow", Class::Permanent, Arrival::Maybe),
    ] {
        let error = refused(json(418, &wire::error(code, "no"))).await;
        assert_eq!((error.class(), error.arrival()), (class, arrival), "{code}");
    }
}

#[tokio::test]
async fn an_unknown_code_is_retried_if_its_status_says_that_the_backend_failed() {
    for (status, class) in [(500, Class::Transient), (503, Class::Transient)] {
        let error = refused(json(status, &wire::error("an_error_of_tomorrow", "no"))).await;
        assert_eq!((error.class(), error.arrival()), (class, Arrival::Maybe), "{status}");
    }
    let error = refused(json(503, &wire::error("resource_limit_exceeded", "no"))).await;
    assert_eq!(error.class(), Class::Permanent, "a known code counts, whatever the status");
}

#[tokio::test]
async fn what_is_sold_out_may_be_had_elsewhere() {
    for code in [
        "resource_unavailable",
        "placement_error",
        "no_space_left_in_location",
        "invalid_server_type",
    ] {
        let error = refused(json(422, &wire::error(code, "no room"))).await;
        assert!(error.is_sold_out(), "{code}");
    }
    let error = refused(json(403, &wire::error("resource_limit_exceeded", "limit"))).await;
    assert_eq!(error.meaning(), Some(Meaning::OverQuota));
    assert!(!error.is_sold_out(), "a quota is the same everywhere");
}

#[tokio::test]
async fn a_refusal_says_what_was_tried_what_answered_and_what_to_do() {
    let body = json!({ "error": { "code": "protected", "message": "is protected",
                                  "details": null } });
    let headers = "Content-Type: application/json\r\nX-Correlation-Id: 5f3a\r\n";
    let error = refused(answer(423, headers, &body.to_string())).await;
    assert_eq!(
        error.to_string(),
        "could not create placement group demo: Hetzner answers protected: is protected \
         (correlation id 5f3a); lift its delete protection in the Hetzner Console if it may go"
    );
}

#[tokio::test]
async fn an_invalid_input_names_its_fields() {
    let body = json!({ "error": { "code": "invalid_input", "message": "invalid input", "details": {
        "fields": [{ "name": "name", "messages": ["too long", "not a hostname"] }] } } });
    let error = refused(json(422, &body)).await;
    assert_eq!(
        error.to_string(),
        "could not create placement group demo: Hetzner answers invalid_input: invalid input; \
         name: too long, not a hostname"
    );
}

/// The test's clock says 2026-11-15T12:00:00Z, which is 1794744000.
#[tokio::test]
async fn too_many_calls_say_how_long_to_pause() {
    let headers = |reset: u64| {
        format!(
            "Content-Type: application/json\r\nRateLimit-Limit: 3600\r\n\
             RateLimit-Remaining: 0\r\nRateLimit-Reset: {reset}\r\n"
        )
    };
    let body = wire::error("rate_limit_exceeded", "limit of 3600 requests per hour reached");
    let error = refused(answer(429, &headers(1_794_744_003), &body.to_string())).await;
    let pause = error.class().pause().unwrap().as_millis();
    assert!((2_000..=3_000).contains(&pause), "{pause}");
    assert_eq!(error.arrival(), Arrival::No);
    let error = refused(answer(429, &headers(1_794_747_600), &body.to_string())).await;
    assert_eq!(error.class().pause().unwrap().as_secs(), 60, "calls come back one by one");
}

#[tokio::test]
async fn the_calls_that_are_left_are_known() {
    let headers = "Content-Type: application/json\r\nRateLimit-Limit: 3600\r\n\
                   RateLimit-Remaining: 3598\r\nRateLimit-Reset: 1794744002\r\n";
    let body = wire::list("locations", &[]).to_string();
    let api = Api::playing([answer(200, headers, &body)]).await;
    let client = api.client();
    assert_eq!(client.rate_limit(), None);
    client.locations().await.unwrap();
    assert_eq!(client.rate_limit().unwrap().remaining, 3598);
}

#[tokio::test]
async fn a_permit_for_another_call_is_not_used() {
    let api = Api::playing([]).await;
    let wish = CreatePlacementGroup { name: "demo".to_owned(), labels: [].into() };
    let other = CreatePlacementGroup { name: "other".to_owned(), labels: [].into() };
    let permit = Permits::new().wish(&other).await;
    let error = api.client().send(permit, &wish).await.unwrap_err();
    assert_eq!(
        Failure::from(error).message,
        "a permit to create placement group other was used to create placement group demo, \
         which is a bug in seaworthy"
    );
    assert!(api.seen().is_empty());
}
