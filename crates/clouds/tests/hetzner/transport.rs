//! Everything that can happen to a request before anybody understands its answer.

use std::error::Error as _;
use std::time::Duration;

use clouds::hetzner::{
    CreatePlacementGroup, Endpoint, Hetzner, HetznerError, Settings, SettingsError, Trust,
};
use events::{Arrival, Class, Failure, Secret};
use serde_json::json;

use crate::api::{Api, Reply, TOKEN, answer, json};
use crate::permits::Permits;
use crate::wire;

fn group() -> CreatePlacementGroup {
    CreatePlacementGroup { name: "demo-cp-spread-1".to_owned(), labels: [].into() }
}

/// Makes one call that ends badly, in a task of its own as the engine does.
async fn fail(client: &Hetzner) -> HetznerError {
    let (client, wish) = (client.clone(), group());
    let permit = Permits::new().wish(&wish).await;
    let call = tokio::spawn(async move { client.send(permit, &wish).await });
    call.await.unwrap().unwrap_err()
}

async fn fail_after(reply: Reply) -> HetznerError {
    let api = Api::playing([reply]).await;
    let error = fail(&api.client()).await;
    assert_eq!(api.lines(), ["POST /placement_groups"], "sent once, whatever happens");
    error
}

fn verdict(error: &HetznerError) -> (Class, Arrival) {
    (error.class(), error.arrival())
}

#[tokio::test]
async fn a_request_says_who_asks() {
    let api = Api::playing([json(200, &wire::list("locations", &[]))]).await;
    api.client().locations().await.unwrap();
    let head = &api.seen()[0].head;
    assert!(head.starts_with("GET /v1/locations?page=1&per_page=50 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("authorization: Bearer {TOKEN}\r\n")), "{head}");
    assert!(head.contains("user-agent: seaworthy/"), "{head}");
}

#[tokio::test]
async fn nobody_shows_the_token() {
    let api = Api::playing([json(401, &wire::error("unauthorized", "bad token"))]).await;
    let client = api.client();
    let error = client.locations().await.unwrap_err();
    let shown = format!("{client:?} {error:?} {error} {:?}", api.settings());
    assert!(!shown.contains(TOKEN), "{shown}");
    let broken = Settings { token: Secret::new(format!("{TOKEN}\n")), ..api.settings() };
    let error = Hetzner::new(broken).unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(TOKEN) && shown.contains("line break"), "{shown}");
}

#[tokio::test]
async fn connections_are_used_again() {
    let api = Api::playing([
        json(200, &wire::list("locations", &[])),
        json(200, &wire::list("locations", &[])),
    ])
    .await;
    let client = api.client();
    client.locations().await.unwrap();
    client.locations().await.unwrap();
    assert_eq!((api.lines().len(), api.connections()), (2, 1));
}

#[tokio::test]
async fn a_refused_connection_means_that_nothing_left() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let api = Api::playing([]).await;
    let endpoint = Endpoint::parse(&format!("https://{address}/v1")).unwrap();
    let error = fail(&Hetzner::new(Settings { endpoint, ..api.settings() }).unwrap()).await;
    assert!(matches!(error, HetznerError::Connect { .. }), "{error:?}");
    assert_eq!(verdict(&error), (Class::Transient, Arrival::No));
    let failure = Failure::from(error);
    let expected = format!(
        "could not create placement group demo-cp-spread-1: no connection to https://{address}/v1"
    );
    assert_eq!(failure.message, expected);
    assert!(failure.to_string().contains("refused"), "{failure}");
}

#[tokio::test]
async fn a_certificate_of_somebody_else_is_not_believed() {
    let (api, other) = (Api::playing([]).await, Api::playing([]).await);
    let trust = Trust::Only(other.authority.clone().into_bytes());
    let error = fail(&Hetzner::new(Settings { trust, ..api.settings() }).unwrap()).await;
    assert!(matches!(error, HetznerError::Certificate { .. }), "{error:?}");
    assert_eq!(verdict(&error), (Class::Permanent, Arrival::No));
    assert!(error.source().unwrap().to_string().contains("invalid peer certificate"), "{error:?}");
    assert!(api.seen().is_empty());
}

#[tokio::test]
async fn the_systems_authorities_do_not_know_ours() {
    let api = Api::playing([]).await;
    match Hetzner::new(Settings { trust: Trust::System, ..api.settings() }) {
        Ok(client) => {
            let error = fail(&client).await;
            assert!(matches!(error, HetznerError::Certificate { .. }), "{error:?}");
        }
        // A machine without any authority believes nobody.
        Err(error) => assert!(matches!(error, SettingsError::Tls { .. }), "{error:?}"),
    }
    assert!(api.seen().is_empty());
}

#[tokio::test]
async fn an_answer_that_is_cut_off_leaves_a_doubt() {
    let whole = json!({ "placement_group": { "id": 5, "name": "demo-cp-spread-1" } }).to_string();
    let headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", whole.len());
    let half = format!("HTTP/1.1 201 Created\r\n{headers}\r\n{}", &whole[..20]);
    let head = "HTTP/1.1 201 Created\r\nContent-Ty".to_owned();
    let until_close = format!(
        "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n{}",
        &whole[..20]
    );
    let replies = [
        Reply::Close,
        Reply::Last(head.into_bytes()),
        Reply::Last(half.into_bytes()),
        Reply::Last(until_close.into_bytes()),
    ];
    for reply in replies {
        let error = fail_after(reply).await;
        assert!(matches!(error, HetznerError::Lost { .. }), "{error:?}");
        assert_eq!(verdict(&error), (Class::Transient, Arrival::Maybe));
    }
}

#[tokio::test]
async fn silence_ends_with_the_time_limit() {
    let api = Api::playing([Reply::Silence]).await;
    let settings = Settings { timeout: Duration::from_millis(200), ..api.settings() };
    let error = fail(&Hetzner::new(settings).unwrap()).await;
    assert!(matches!(error, HetznerError::TimedOut { .. }), "{error:?}");
    assert_eq!(verdict(&error), (Class::Transient, Arrival::Maybe));
    let expected = "could not create placement group demo-cp-spread-1: no answer within 0.2 s";
    assert_eq!(error.to_string(), expected);
    assert_eq!(api.lines().len(), 1);
}

#[tokio::test]
async fn a_proxys_page_is_not_the_api() {
    let html = "<html>\n<head><title>502 Bad Gateway</title></head>\n\u{1b}[31m</html>";
    for (status, class) in [
        (200, Class::Permanent),
        (403, Class::Permanent),
        (404, Class::Permanent),
        (502, Class::Transient),
        (503, Class::Transient),
        (429, Class::RateLimited { after_ms: None }),
    ] {
        let error = fail_after(answer(status, "Content-Type: text/html\r\n", html)).await;
        assert!(matches!(error, HetznerError::NotTheApi { .. }), "{error:?}");
        assert_eq!(verdict(&error), (class, Arrival::Maybe), "{status}");
        let text = error.to_string();
        assert!(text.contains("with text/html, not with JSON: <html> <head>"), "{text}");
        assert!(!text.contains('\u{1b}'), "fit for a terminal: {text:?}");
    }
}

/// A 404 that is not Hetzner's does not prove that something is gone.
#[tokio::test]
async fn a_proxys_page_proves_nothing_gone() {
    let api = Api::playing([answer(404, "Content-Type: text/html\r\n", "<html>")]).await;
    let error = api.client().find::<clouds::hetzner::Network>("demo").await.unwrap_err();
    assert!(!error.is_gone());
}

#[tokio::test]
async fn an_answer_of_another_form_names_the_field() {
    let body = json!({ "placement_group": { "id": "five", "name": "demo" } });
    let error = fail_after(json(201, &body)).await;
    assert_eq!(verdict(&error), (Class::Permanent, Arrival::Maybe));
    let failure = Failure::from(error);
    assert!(failure.message.ends_with("cannot be read at `placement_group.id`"), "{failure}");
    assert!(failure.to_string().contains("invalid type: string \"five\""), "{failure}");

    let mut wrong = wire::server(7, "demo-cp-1", "running", &wire::labels());
    wrong["private_net"][0]["ip"] = json!("10.0.64");
    let api = Api::playing([json(200, &wire::list("servers", &[wrong]))]).await;
    let error = api.client().ours::<clouds::hetzner::Server>().await.unwrap_err();
    let expected = "could not list our servers: the answer cannot be read at \
                    `servers[0].private_net[0].ip`";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_list_that_is_not_there_is_not_an_empty_list() {
    let api = Api::playing([json(200, &json!({ "meta": {} }))]).await;
    let error = api.client().ours::<clouds::hetzner::Server>().await.unwrap_err();
    assert!(matches!(error, HetznerError::Unreadable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_call_in_doubt_is_looked_for_and_found() {
    let group_body = json!({ "id": 5, "name": "demo-cp-spread-1", "type": "spread", "servers": [],
                             "labels": wire::labels(), "created": "2026-11-15T12:00:00Z" });
    let replies = [Reply::Close, json(200, &wire::list("placement_groups", &[group_body]))];
    let api = Api::playing(replies).await;
    let client = api.client();
    assert_eq!(fail(&client).await.arrival(), Arrival::Maybe);
    let made = client.look(&group()).await.unwrap().unwrap();
    assert_eq!(made, events::Made::id("placement group", "5"));
}

/// The laws of the engine are tested on a clock that jumps to the next timer
/// whenever nothing else is to be done; a call over loopback is never that.
#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_does_not_time_calls_out() {
    let api = Api::playing((0..40).map(|_| json(200, &wire::list("locations", &[])))).await;
    let client = api.client();
    for _ in 0..40 {
        client.locations().await.unwrap();
    }
    assert_eq!(api.lines().len(), 40);
}
