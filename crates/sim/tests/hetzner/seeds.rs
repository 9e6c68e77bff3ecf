//! What a project holds already.

use serde_json::json;
use sim::hetzner::{Architecture, ForeignCluster, ImageStatus, Labels, Snapshot};

use crate::cloud::{instant, server};

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn talos(status: ImageStatus) -> Snapshot {
    Snapshot {
        description: "talos".to_owned(),
        architecture: Architecture::Arm,
        disk: 40,
        status,
        labels: labels(&[("os", "talos")]),
    }
}

#[tokio::test]
async fn snapshots_are_found_and_booted() {
    let cloud = instant().await;
    let id = cloud.hetzner.add_snapshot(talos(ImageStatus::Available));
    let found = cloud.get("/images?type=snapshot&label_selector=os%3Dtalos").await.ok();
    assert_eq!(
        (&found["images"][0]["id"], &found["images"][0]["name"]),
        (&json!(id), &json!(null))
    );
    let order = |server_type: &str| json!({ "image": id.to_string(), "server_type": server_type });
    let wrong = cloud.post("/servers", server("one", order("cx23"))).await;
    assert_eq!(wrong.code(), "invalid_input", "an ARM image on x86");
    cloud.order("/servers", "server", server("one", order("cax11"))).await;
    cloud.machines.told(1).await;
    assert_eq!(cloud.machines.last().image.labels, labels(&[("os", "talos")]));
}

#[tokio::test]
async fn a_snapshot_that_is_still_made_cannot_be_used() {
    let cloud = instant().await;
    let id = cloud.hetzner.add_snapshot(talos(ImageStatus::Creating));
    let order = server("one", json!({ "image": id, "server_type": "cax11" }));
    assert_eq!(cloud.post("/servers", order).await.code(), "invalid_input");
}

#[tokio::test]
async fn snapshots_are_made_and_can_get_stuck() {
    let cloud = instant().await;
    let one = cloud.order("/servers", "server", server("one", json!({}))).await;
    let create = format!("/servers/{}/actions/create_image", one["id"]);
    let made =
        cloud.post(&create, json!({ "description": "x", "labels": { "a": "b" } })).await.ok();
    cloud.finish(&made).await;
    let status = async |id: &serde_json::Value| {
        cloud.get(&format!("/images/{id}")).await.ok()["image"]["status"].clone()
    };
    assert_eq!(status(&made["image"]["id"]).await, "available");
    cloud.hetzner.turn(|knobs| knobs.stuck_snapshots = true);
    let stuck = cloud.post(&create, json!({})).await.ok();
    cloud.finish(&stuck).await;
    assert_eq!(status(&stuck["image"]["id"]).await, "creating");
}

#[tokio::test]
async fn a_foreign_cluster_stands_in_the_same_project() {
    let cloud = instant().await;
    let foreign = ForeignCluster {
        name: "other".to_owned(),
        labels: labels(&[("cluster", "other")]),
        servers: 3,
    };
    cloud.hetzner.add_foreign_cluster(&foreign);
    for kind in ["servers", "networks", "firewalls", "load_balancers"] {
        let found = cloud.get(&format!("/{kind}?label_selector=cluster%3Dother")).await.ok();
        let count = if kind == "servers" { 3 } else { 1 };
        assert_eq!(found[kind].as_array().unwrap().len(), count, "{kind}");
    }
    assert!(cloud.machines.entries().is_empty(), "no machine stands behind it");
    assert!(cloud.effects.all().is_empty(), "nobody asked for it");
}
