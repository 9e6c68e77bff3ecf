//! Networks, subnets and routes.

use serde_json::{Value, json};

use crate::cloud::{Cloud, instant, server, slow};

async fn network(cloud: &Cloud) -> i64 {
    let order = json!({ "name": "demo", "ip_range": "10.0.0.0/16", "labels": { "a": "b" } });
    let network = cloud.order("/networks", "network", order).await;
    assert_eq!(network["subnets"], json!([]));
    network["id"].as_i64().unwrap()
}

fn subnet(ip_range: &str) -> Value {
    json!({ "type": "cloud", "network_zone": "eu-central", "ip_range": ip_range })
}

#[tokio::test]
async fn subnets_come_with_their_action_and_never_overlap() {
    let cloud = instant().await;
    let path = format!("/networks/{}", network(&cloud).await);
    let add = format!("{path}/actions/add_subnet");
    cloud.act(&add, subnet("10.0.64.0/25")).await;
    let seen = cloud.get(&path).await.ok()["network"]["subnets"].clone();
    assert_eq!(
        (&seen[0]["ip_range"], &seen[0]["gateway"]),
        (&json!("10.0.64.0/25"), &json!("10.0.0.1"))
    );
    for refused in ["10.0.64.0/24", "10.0.64.64/26", "10.1.0.0/24", "10.0.3.1/24", "10.0.3.0/31"] {
        assert_eq!(cloud.post(&add, subnet(refused)).await.code(), "invalid_input", "{refused}");
    }
    let mut elsewhere = subnet("10.0.65.0/24");
    elsewhere["network_zone"] = json!("us-east");
    assert_eq!(cloud.post(&add, elsewhere).await.code(), "invalid_input");
    cloud
        .act(&format!("{path}/actions/delete_subnet"), json!({ "ip_range": "10.0.64.0/25" }))
        .await;
    assert_eq!(cloud.get(&path).await.ok()["network"]["subnets"], json!([]));
}

#[tokio::test]
async fn a_network_changes_one_thing_at_a_time() {
    let cloud = slow().await;
    let path = format!("/networks/{}", network(&cloud).await);
    let said = cloud.post(&format!("{path}/actions/add_subnet"), subnet("10.0.1.0/24")).await.ok();
    assert_eq!(
        (&said["action"]["status"], &said["action"]["progress"]),
        (&json!("running"), &json!(0))
    );
    assert_eq!(cloud.get(&path).await.ok()["network"]["subnets"], json!([]), "not yet");
    let second = cloud.post(&format!("{path}/actions/add_subnet"), subnet("10.0.2.0/24")).await;
    assert_eq!((second.status.as_u16(), second.code()), (409, "conflict"));
    assert_eq!(cloud.delete(&path).await.code(), "conflict");
}

#[tokio::test]
async fn routes_stay_clear_of_subnets() {
    let cloud = instant().await;
    let path = format!("/networks/{}", network(&cloud).await);
    cloud.act(&format!("{path}/actions/add_subnet"), subnet("10.0.64.0/25")).await;
    let add = format!("{path}/actions/add_route");
    let route = |destination: &str, gateway: &str| json!({ "destination": destination, "gateway": gateway });
    cloud.act(&add, route("10.0.128.0/24", "10.0.64.2")).await;
    for refused in [
        route("10.0.64.0/24", "10.0.64.2"),
        route("10.0.128.0/25", "10.0.64.2"),
        route("10.0.129.0/24", "10.0.0.1"),
        route("10.0.129.0/24", "192.168.0.1"),
        route("0.0.0.0/0", "10.0.64.2"),
    ] {
        assert_eq!(cloud.post(&add, refused.clone()).await.code(), "invalid_input", "{refused}");
    }
    let remove = format!("{path}/actions/delete_route");
    assert_eq!(cloud.post(&remove, route("10.9.0.0/24", "10.0.64.2")).await.code(), "not_found");
    cloud.act(&remove, route("10.0.128.0/24", "10.0.64.2")).await;
    assert_eq!(cloud.get(&path).await.ok()["network"]["routes"], json!([]));
    let range = json!({ "ip_range": "10.0.0.0/8" });
    assert_eq!(cloud.post(&format!("{path}/actions/change_ip_range"), range).await.status, 501);
}

#[tokio::test]
async fn names_are_unique_and_deletion_can_be_forbidden() {
    let cloud = instant().await;
    let id = network(&cloud).await;
    let again = json!({ "name": "demo", "ip_range": "10.1.0.0/16" });
    assert_eq!(cloud.post("/networks", again).await.code(), "uniqueness_error");
    for range in ["8.8.8.0/24", "10.0.0.0/25", "10.0.0.1/16", "10.0.0.0/7", "nonsense"] {
        let said = cloud.post("/networks", json!({ "name": "x", "ip_range": range })).await;
        assert_eq!(said.code(), "invalid_input", "{range}");
    }
    let path = format!("/networks/{id}");
    let protect = format!("{path}/actions/change_protection");
    cloud.act(&protect, json!({ "delete": true })).await;
    assert_eq!(cloud.delete(&path).await.code(), "protected");
    cloud.act(&protect, json!({ "delete": false })).await;
    assert_eq!(cloud.delete(&path).await.status, 204);
    assert_eq!(cloud.get(&path).await.code(), "not_found");
    let actions = cloud.get(&format!("{path}/actions")).await.ok();
    assert_eq!(actions["actions"].as_array().unwrap().len(), 2, "actions outlive their resource");
}

#[tokio::test]
async fn a_subnet_that_is_lived_in_stays() {
    let cloud = instant().await;
    let id = network(&cloud).await;
    cloud.act(&format!("/networks/{id}/actions/add_subnet"), subnet("10.0.64.0/25")).await;
    let order = server("one", json!({ "networks": [id] }));
    let server = cloud.order("/servers", "server", order).await;
    assert_eq!(server["private_net"][0]["ip"], "10.0.64.1");
    let delete = format!("/networks/{id}/actions/delete_subnet");
    let said = cloud.post(&delete, json!({ "ip_range": "10.0.64.0/25" })).await;
    assert_eq!(said.code(), "service_error");
    let seen = cloud.get(&format!("/networks/{id}")).await.ok();
    assert_eq!(seen["network"]["servers"], json!([server["id"]]));
}

#[tokio::test]
async fn labels_are_changed_and_checked() {
    let cloud = instant().await;
    let path = format!("/networks/{}", network(&cloud).await);
    let said = cloud.put(&path, json!({ "name": "new", "labels": { "c": "d" } })).await.ok();
    assert_eq!(
        (&said["network"]["name"], &said["network"]["labels"]),
        (&json!("new"), &json!({ "c": "d" }))
    );
    assert_eq!(cloud.put(&path, json!({ "labels": { "c": "ä" } })).await.code(), "invalid_input");
}

#[tokio::test]
async fn a_network_lists_its_members_and_exposes_routes_where_asked() {
    let cloud = instant().await;
    let subnet =
        json!({ "type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.64.0/24" });
    let order = json!({ "name": "demo", "ip_range": "10.0.0.0/16", "subnets": [subnet],
                        "expose_routes_to_vswitch": true });
    let made = cloud.order("/networks", "network", order).await;
    assert_eq!(made["expose_routes_to_vswitch"], true);
    let path = format!("/networks/{}", made["id"]);
    let changed = cloud.put(&path, json!({ "expose_routes_to_vswitch": false })).await.ok();
    assert_eq!(changed["network"]["expose_routes_to_vswitch"], false);
    let one = server("one", json!({ "networks": [made["id"]] }));
    let one = cloud.order("/servers", "server", one).await;
    let said = cloud.get(&format!("{path}/members?type=server&status=ok")).await.ok();
    let member = json!({ "type": "server", "id": one["id"], "ip": one["private_net"][0]["ip"],
                         "status": "ok", "alias_ips": [], "subnet": "10.0.64.0/24" });
    assert_eq!(said["members"], json!([member]));
    let none = cloud.get(&format!("{path}/members?type=load_balancer")).await.ok();
    assert_eq!(none["members"], json!([]));
}
