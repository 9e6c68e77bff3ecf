//! Firewalls and placement groups.

use serde_json::json;

use crate::cloud::{instant, server, slow};

#[tokio::test]
async fn a_firewall_is_in_use_until_it_is_removed() {
    let cloud = instant().await;
    let one =
        cloud.order("/servers", "server", server("one", json!({ "labels": { "a": "b" } }))).await;
    let selector = json!({ "type": "label_selector", "label_selector": { "selector": "a=b" } });
    let rule = json!({ "direction": "in", "protocol": "tcp", "port": "6443", "source_ips": ["0.0.0.0/0"] });
    let order = json!({ "name": "wall", "rules": [rule], "apply_to": [selector] });
    let wall = cloud.order("/firewalls", "firewall", order).await;
    assert_eq!(wall["rules"][0]["port"], "6443");
    assert_eq!(wall["applied_to"][0]["applied_to_resources"][0]["server"]["id"], one["id"]);
    let seen = cloud.get(&format!("/servers/{}", one["id"])).await.ok();
    let expected = json!([{ "id": wall["id"], "status": "applied" }]);
    assert_eq!(seen["server"]["public_net"]["firewalls"], expected);

    let path = format!("/firewalls/{}", wall["id"]);
    assert_eq!(cloud.delete(&path).await.code(), "resource_in_use");
    let apply = format!("{path}/actions/apply_to_resources");
    let again = cloud.post(&apply, json!({ "apply_to": [selector] })).await;
    assert_eq!(again.code(), "firewall_already_applied");
    let remove = format!("{path}/actions/remove_from_resources");
    let server = json!({ "type": "server", "server": { "id": one["id"] } });
    let managed = cloud.post(&remove, json!({ "remove_from": [server] })).await;
    assert_eq!(managed.code(), "firewall_managed_by_label_selector");
    cloud.act(&remove, json!({ "remove_from": [selector] })).await;
    let twice = cloud.post(&remove, json!({ "remove_from": [selector] })).await;
    assert_eq!((twice.status.as_u16(), twice.code()), (404, "firewall_resource_not_found"));
    assert_eq!(cloud.delete(&path).await.status, 204);
}

#[tokio::test]
async fn rules_can_be_replaced() {
    let cloud = instant().await;
    let wall = cloud.order("/firewalls", "firewall", json!({ "name": "wall" })).await;
    let set = format!("/firewalls/{}/actions/set_rules", wall["id"]);
    let rule = json!({ "direction": "in", "protocol": "icmp", "source_ips": ["::/0"] });
    cloud.act(&set, json!({ "rules": [rule] })).await;
    let bad = json!({ "direction": "in", "protocol": "tcp", "source_ips": ["::/0"] });
    let said = cloud.post(&set, json!({ "rules": [rule, bad] })).await;
    assert_eq!(said.body["error"]["details"]["fields"][0]["name"], "rules.1.port");
    let seen = cloud.get(&format!("/firewalls/{}", wall["id"])).await.ok();
    assert_eq!(seen["firewall"]["rules"].as_array().unwrap().len(), 1, "refused as a whole");
}

#[tokio::test]
async fn a_placement_group_spreads_ten() {
    let cloud = slow().await;
    let order = json!({ "name": "group", "type": "spread" });
    let group = cloud.post("/placement_groups", order).await.ok()["placement_group"].clone();
    let more = json!({ "placement_group": group["id"] });
    for number in 0..10 {
        cloud.post("/servers", server(&format!("s{number}"), more.clone())).await.ok();
    }
    let full = cloud.post("/servers", server("s10", more)).await;
    assert_eq!((full.status.as_u16(), full.code()), (422, "placement_error"));
    let path = format!("/placement_groups/{}", group["id"]);
    assert_eq!(
        cloud.get(&path).await.ok()["placement_group"]["servers"].as_array().unwrap().len(),
        10
    );
    assert_eq!(cloud.delete(&path).await.code(), "resource_in_use");
}

#[tokio::test]
async fn ssh_keys_are_unique_by_name_and_by_key() {
    let cloud = instant().await;
    let key = |name: &str, key: &str| json!({ "name": name, "public_key": key });
    let (one, two) = ("ssh-ed25519 AAAAC3Nz me", "ssh-ed25519 AAAAC3N0 me");
    let made = cloud.post("/ssh_keys", key("a", one)).await.ok();
    assert_eq!(made["ssh_key"]["public_key"], one);
    assert_eq!(cloud.post("/ssh_keys", key("b", one)).await.code(), "uniqueness_error");
    assert_eq!(cloud.post("/ssh_keys", key("a", two)).await.code(), "uniqueness_error");
    assert_eq!(cloud.post("/ssh_keys", key("c", "hello")).await.code(), "invalid_input");
}
