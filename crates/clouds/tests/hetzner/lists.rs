//! Lists over several pages, and what is in them.

use clouds::hetzner::{
    ActionStatus, Architecture, HetznerError, Id, ImageStatus, Meaning, Sale, Server,
};
use events::Class;
use serde_json::{Value, json};

use crate::api::{Api, json};
use crate::wire;

fn servers(ids: std::ops::Range<u64>) -> Vec<Value> {
    let server = |id| wire::server(id, &format!("demo-w-{id}"), "running", &wire::labels());
    ids.map(server).collect()
}

#[tokio::test]
async fn all_pages_are_read() {
    let api = Api::playing([
        json(200, &wire::page("servers", &servers(1..51), Some(2), 120)),
        json(200, &wire::page("servers", &servers(51..101), Some(3), 120)),
        json(200, &wire::page("servers", &servers(101..121), None, 120)),
    ])
    .await;
    let all = api.client().ours::<Server>().await.unwrap();
    assert_eq!(all.len(), 120);
    let selector = "label_selector=seaworthy.dev%2Fcluster-id%3D";
    let lines = api.lines();
    assert!(lines.iter().all(|line| line.contains(selector)), "{lines:?}");
    assert!(lines[2].ends_with("&page=3&per_page=50"), "{lines:?}");
}

/// What goes while pages are read moves the next page's first item to the one
/// that was read already: nobody would see it.
#[tokio::test]
async fn a_list_that_changes_while_it_is_read_is_no_list() {
    let api = Api::playing([
        json(200, &wire::page("servers", &servers(1..51), Some(2), 60)),
        json(200, &wire::page("servers", &servers(52..61), None, 59)),
    ])
    .await;
    let error = api.client().ours::<Server>().await.unwrap_err();
    assert!(matches!(error, HetznerError::Shifted { .. }), "{error:?}");
    assert_eq!(error.class(), Class::Transient);
}

#[tokio::test]
async fn pages_that_go_in_circles_end() {
    let api = Api::playing([
        json(200, &wire::page("servers", &servers(1..51), Some(2), 60)),
        json(200, &wire::page("servers", &servers(51..61), Some(1), 60)),
    ])
    .await;
    assert!(api.client().ours::<Server>().await.is_err());
    assert_eq!(api.lines().len(), 2);
}

#[tokio::test]
async fn half_a_list_is_no_list() {
    let api = Api::playing([
        json(200, &wire::page("servers", &servers(1..51), Some(2), 60)),
        json(503, &wire::error("server_error", "try later")),
    ])
    .await;
    let error = api.client().ours::<Server>().await.unwrap_err();
    assert_eq!(error.class(), Class::Transient);
}

#[tokio::test]
async fn actions_are_read_in_batches() {
    let ids: Vec<_> = (1..=30).map(Id::new).collect();
    let batch = |ids: std::ops::RangeInclusive<u64>| {
        ids.map(|id| wire::action(id, "success")).collect::<Vec<_>>()
    };
    let api = Api::playing([
        json(200, &wire::list("actions", &batch(1..=25))),
        json(200, &wire::list("actions", &batch(26..=30))),
    ])
    .await;
    let actions = api.client().actions(&ids).await.unwrap();
    assert_eq!(actions.len(), 30);
    let lines = api.lines();
    assert_eq!(lines[0].matches("id=").count(), 25, "{lines:?}");
    assert_eq!(lines[1], "GET /actions?id=26&id=27&id=28&id=29&id=30&page=1&per_page=50");
}

#[tokio::test]
async fn an_action_tells_how_far_it_is_and_why_it_failed() {
    let all = [wire::action(1, "running"), wire::action(2, "error")];
    let api = Api::playing([json(200, &wire::list("actions", &all))]).await;
    let actions = api.client().actions(&[Id::new(1), Id::new(2)]).await.unwrap();
    assert_eq!((actions[0].status, actions[0].progress), (ActionStatus::Running, 50));
    assert_eq!(actions[1].status, ActionStatus::Error);
    assert_eq!(actions[1].error.as_ref().unwrap().meaning(), Meaning::SoldOut);
}

#[tokio::test]
async fn an_action_that_nobody_knows_is_an_error() {
    let known = [wire::action(1, "success")];
    let api = Api::playing([json(200, &wire::list("actions", &known))]).await;
    let error = api.client().actions(&[Id::new(1), Id::new(2)]).await.unwrap_err();
    assert_eq!(error.to_string(), "could not read actions: Hetzner does not know 2");
}

#[tokio::test]
async fn no_actions_are_read_without_a_request() {
    let api = Api::playing([]).await;
    assert!(api.client().actions(&[]).await.unwrap().is_empty());
    assert!(api.seen().is_empty());
}

#[tokio::test]
async fn types_are_sold_per_location() {
    let cax11 = json!({
        "id": 45, "name": "cax11", "architecture": "arm", "cores": 2, "memory": 4.0, "disk": 40,
        "prices": [],
        "locations": [
            { "id": 1, "name": "fsn1", "available": true, "recommended": true, "deprecation": null },
            { "id": 2, "name": "nbg1", "available": false, "recommended": false },
            { "id": 3, "name": "hel1", "available": true, "deprecation": {
                "announced": "2026-06-01T00:00:00+00:00",
                "unavailable_after": "2026-12-01T00:00:00+00:00" } },
        ],
    });
    let api = Api::playing([json(200, &wire::list("server_types", &[cax11]))]).await;
    let types = api.client().server_types().await.unwrap();
    assert_eq!(types[0].architecture, Architecture::Arm);
    let end = "2026-12-01T00:00:00Z".parse().unwrap();
    let now = "2026-11-30T23:59:59Z".parse().unwrap();
    assert_eq!(types[0].sale("fsn1", now), Sale::Available { until: None });
    assert_eq!(types[0].sale("nbg1", now), Sale::SoldOut);
    assert_eq!(types[0].sale("hel1", now), Sale::Available { until: Some(end) });
    let sold_in = ["fsn1", "nbg1", "hel1"].map(str::to_owned).to_vec();
    assert_eq!(types[0].sale("ash", now), Sale::NotSold { sold_in });
    assert_eq!(types[0].sale("hel1", end), Sale::Ended { since: end }, "though it is listed");
    let sold_in = ["fsn1", "nbg1"].map(str::to_owned).to_vec();
    assert_eq!(types[0].sale("ash", end), Sale::NotSold { sold_in });
}

#[tokio::test]
async fn prices_are_net_and_exact() {
    let price = |location: &str, net: &str| {
        json!({ "location": location, "price_hourly": { "net": "0.0060000000", "gross": "0.0071" },
                "price_monthly": { "net": net, "gross": "9999.0" } })
    };
    let pricing = json!({ "pricing": {
        "currency": "EUR", "vat_rate": "19.00",
        "server_types": [{ "id": 45, "name": "cax11",
            "prices": [price("fsn1", "3.2900000000"), price("hel1", "3.1900000000")] }],
        "load_balancer_types": [{ "id": 1, "name": "lb11", "prices": [price("fsn1", "5.3900")] }],
        "primary_ips": [{ "type": "ipv6", "prices": [price("fsn1", "0.0000")] },
                        { "type": "ipv4", "prices": [price("fsn1", "0.5000")] }],
        "volume": { "price_per_gb_month": { "net": "0.0440", "gross": "0.05" } },
    } });
    let api = Api::playing([json(200, &pricing)]).await;
    let prices = api.client().prices().await.unwrap();
    assert_eq!(prices.currency(), "EUR");
    assert_eq!(prices.server("cax11", "fsn1").unwrap().cents(), 329);
    assert_eq!(prices.server("cax11", "hel1").unwrap().millionths(), 3_190_000);
    assert_eq!(prices.server("cax11", "ash"), None);
    assert_eq!(prices.load_balancer("lb11", "fsn1").unwrap().cents(), 539);
    assert_eq!(prices.ipv4("fsn1").unwrap().cents(), 50);
}

#[tokio::test]
async fn snapshots_are_told_by_labels_and_architecture() {
    let image = |id: u64, architecture: &str, version: &str| {
        json!({ "id": id, "status": "available", "type": "snapshot", "name": null,
                "description": "Talos", "image_size": 0.2, "disk_size": 40,
                "architecture": architecture, "labels": { "os": "talos", "version": version } })
    };
    let images = [image(1, "arm", "v1"), image(2, "x86", "v1"), image(3, "arm", "v2")];
    let api = Api::playing([json(200, &wire::list("images", &images))]).await;
    let labels = [("os", "talos"), ("version", "v1")];
    let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let found = api.client().snapshots(&labels, Architecture::Arm).await.unwrap();
    assert_eq!(found.iter().map(|image| image.id.number()).collect::<Vec<_>>(), [1]);
    assert_eq!(found[0].status, ImageStatus::Available);
    let expected = "GET /images?type=snapshot&sort=created%3Adesc\
                    &label_selector=os%3Dtalos%2Cversion%3Dv1&page=1&per_page=50";
    assert_eq!(api.lines(), [expected]);
}
