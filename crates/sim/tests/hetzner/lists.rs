//! Lists: pages, filters, order; and the catalogue.

use serde_json::{Value, json};
use sim::hetzner::{Known, Shortage};

use crate::cloud::instant;

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn pages_lead_to_the_next() {
    let cloud = instant().await;
    for number in 0..53 {
        let order = json!({ "name": format!("g{number:02}"), "type": "spread" });
        cloud.post("/placement_groups", order).await.ok();
    }
    let first = cloud.get("/placement_groups?per_page=99").await.ok();
    assert_eq!(first["placement_groups"].as_array().unwrap().len(), 50, "50 is the most");
    let pages = &first["meta"]["pagination"];
    assert_eq!(pages["next_page"], 2);
    assert_eq!((&pages["previous_page"], &pages["total_entries"]), (&Value::Null, &json!(53)));
    let last = cloud.get("/placement_groups?per_page=50&page=2").await.ok();
    assert_eq!(names(&last["placement_groups"]), ["g50", "g51", "g52"]);
    assert_eq!(last["meta"]["pagination"]["next_page"], Value::Null);
    assert_eq!(cloud.get("/placement_groups?page=0").await.code(), "invalid_input");
    let far = format!("/placement_groups?page={}&per_page=1107", u64::MAX);
    assert_eq!(cloud.get(&far).await.ok()["placement_groups"], json!([]));
}

#[tokio::test]
async fn labels_and_names_filter_and_fields_sort() {
    let cloud = instant().await;
    for (name, env) in [("b", "prod"), ("a", "dev"), ("c", "prod")] {
        let order = json!({ "name": name, "type": "spread", "labels": { "env": env } });
        cloud.post("/placement_groups", order).await.ok();
    }
    let list = async |query: &str| {
        let said = cloud.get(&format!("/placement_groups?{query}")).await.ok();
        names(&said["placement_groups"]).join(" ")
    };
    assert_eq!(list("label_selector=env%3Dprod").await, "b c");
    assert_eq!(list("label_selector=env%20in%20(dev,test)").await, "a");
    assert_eq!(list("label_selector=env!%3Dprod").await, "a");
    assert_eq!(list("name=c").await, "c");
    assert_eq!(list("sort=name").await, "a b c");
    assert_eq!(list("sort=name:desc").await, "c b a");
    assert_eq!(cloud.get("/servers?label_selector=a,,b").await.code(), "invalid_input");
    assert_eq!(cloud.get("/servers?sort=colour").await.code(), "invalid_input");
}

#[tokio::test]
async fn types_tell_where_they_can_be_had_and_what_they_cost() {
    let cloud = instant().await;
    let shortage = |known| Shortage {
        server_type: "cax11".to_owned(),
        location: Some("fsn1".to_owned()),
        known,
    };
    let available = async || {
        let said = cloud.get("/server_types?name=cax11").await.ok();
        let locations = said["server_types"][0]["locations"].as_array().unwrap().clone();
        locations.iter().find(|it| it["name"] == "fsn1").unwrap()["available"].clone()
    };
    assert_eq!(available().await, true);
    cloud.hetzner.turn(|knobs| knobs.shortages = vec![shortage(Known::OnlyWhenOrdered)]);
    assert_eq!(available().await, true);
    cloud.hetzner.turn(|knobs| knobs.shortages = vec![shortage(Known::Listed)]);
    assert_eq!(available().await, false);

    let pricing = cloud.get("/pricing").await.ok()["pricing"].clone();
    let types = pricing["server_types"].as_array().unwrap();
    let cax11 = types.iter().find(|it| it["name"] == "cax11").unwrap();
    assert_eq!(cax11["prices"][0]["price_monthly"]["net"], "3.7900");
    let old = cloud.get("/server_types?name=cx22").await.ok()["server_types"][0].clone();
    assert!(old["deprecation"]["unavailable_after"].is_string());
}

#[tokio::test]
async fn images_are_filtered_by_type_and_architecture() {
    let cloud = instant().await;
    let arm = cloud.get("/images?type=system&architecture=arm").await.ok();
    assert_eq!(names(&arm["images"]), ["debian-13", "ubuntu-24.04"]);
    let none = cloud.get("/images?type=snapshot").await.ok();
    assert_eq!(none["images"], json!([]));
    for empty in ["certificates", "floating_ips", "primary_ips"] {
        assert_eq!(cloud.get(&format!("/{empty}")).await.ok()[empty], json!([]));
    }
}
