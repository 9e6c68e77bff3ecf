//! Volumes.

use serde_json::{Value, json};

use crate::cloud::{instant, server};

#[tokio::test]
async fn a_volume_is_attached_written_down_and_detached() {
    let cloud = instant().await;
    let one = cloud.order("/servers", "server", server("one", json!({}))).await;
    let order = json!({ "name": "data", "size": 10, "location": "fsn1" });
    let volume = cloud.order("/volumes", "volume", order).await;
    assert_eq!((&volume["status"], &volume["server"]), (&json!("available"), &Value::Null));
    let path = format!("/volumes/{}", volume["id"]);
    let attach = format!("{path}/actions/attach");
    cloud.act(&attach, json!({ "server": one["id"] })).await;
    let seen = cloud.get(&format!("/servers/{}", one["id"])).await.ok();
    assert_eq!(seen["server"]["volumes"], json!([volume["id"]]));
    let again = cloud.post(&attach, json!({ "server": one["id"] })).await;
    assert_eq!(again.code(), "volume_already_attached");
    assert_eq!(cloud.delete(&path).await.code(), "resource_in_use");
    cloud.act(&format!("{path}/actions/detach"), json!({})).await;
    assert_eq!(cloud.delete(&path).await.status, 204);
    let small = json!({ "name": "small", "size": 9, "location": "fsn1" });
    assert_eq!(cloud.post("/volumes", small).await.code(), "invalid_input");
    let mounted = json!({ "name": "more", "size": 10, "server": one["id"], "automount": true });
    assert_eq!(cloud.post("/volumes", mounted).await.code(), "not_implemented");
}

#[tokio::test]
async fn a_server_that_goes_lets_go_of_its_volumes() {
    let cloud = instant().await;
    let one = cloud.order("/servers", "server", server("one", json!({}))).await;
    let order = json!({ "name": "data", "size": 10, "server": one["id"] });
    let volume = cloud.order("/volumes", "volume", order).await;
    assert_eq!(volume["server"], one["id"]);
    let said = cloud.delete(&format!("/servers/{}", one["id"])).await.ok();
    cloud.finish(&said).await;
    let seen = cloud.get(&format!("/volumes/{}", volume["id"])).await.ok();
    assert_eq!(seen["volume"]["server"], Value::Null);
}
