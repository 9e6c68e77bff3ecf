//! Servers, their power and their machines.

use std::time::Duration;

use serde_json::{Value, json};
use sim::hetzner::{Known, Shortage};

use crate::cloud::{Cloud, instant, server, slow};

async fn network(cloud: &Cloud) -> i64 {
    let subnet =
        json!({ "type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.64.0/25" });
    let order = json!({ "name": "demo", "ip_range": "10.0.0.0/16", "subnets": [subnet] });
    cloud.order("/networks", "network", order).await["id"].as_i64().unwrap()
}

#[tokio::test]
async fn a_server_runs_and_its_machine_knows_everything() {
    let cloud = instant().await;
    let network = network(&cloud).await;
    let more = json!({ "networks": [network], "labels": { "role": "cp" }, "user_data": "hello" });
    let made = cloud.order("/servers", "server", server("cp-1", more)).await;
    assert_eq!((&made["status"], &made["locked"]), (&json!("running"), &json!(false)));
    assert_eq!(made["location"]["name"], "fsn1");
    assert!(made.get("datacenter").is_none());
    assert_eq!(cloud.machines.told(1).await, [("runs", "cp-1".to_owned())]);
    let machine = cloud.machines.last();
    assert_eq!(json!(machine.id), made["id"]);
    assert_eq!(json!(machine.address), made["public_net"]["ipv4"]["ip"]);
    assert!(machine.address.is_loopback());
    assert_eq!(json!(machine.private[0].ip), made["private_net"][0]["ip"]);
    assert_eq!(json!(machine.private[0].mac), made["private_net"][0]["mac_address"]);
    assert_eq!(machine.user_data.as_deref(), Some("hello"));
    assert_eq!(json!(machine.metadata().instance_id), made["id"]);
    let ips = cloud.get("/primary_ips").await.ok();
    assert_eq!(ips["primary_ips"][0]["assignee_id"], made["id"]);
}

#[tokio::test]
async fn a_server_that_is_being_made_is_locked() {
    let cloud = slow().await;
    let network = network(&cloud).await;
    let order = server("one", json!({ "networks": [network] }));
    let made = cloud.post("/servers", order).await.ok();
    assert_eq!(made["server"]["status"], "initializing");
    assert_eq!(made["server"]["private_net"], json!([]), "it is attached later");
    let commands: Vec<&Value> =
        made["next_actions"].as_array().unwrap().iter().map(|it| &it["command"]).collect();
    assert_eq!(commands, ["attach_to_network", "start_server"]);
    assert!(made["root_password"].is_string(), "there was no SSH key");
    let path = format!("/servers/{}", made["server"]["id"]);
    let on = cloud.post(&format!("{path}/actions/poweron"), json!({})).await;
    assert_eq!((on.status.as_u16(), on.code()), (423, "locked"));
    assert_eq!(cloud.delete(&path).await.code(), "locked");
    assert_eq!(cloud.get(&path).await.ok()["server"]["locked"], true);
}

#[tokio::test]
async fn a_fixed_private_address_is_given_before_power() {
    let cloud = instant().await;
    let network = network(&cloud).await;
    let made = cloud
        .order("/servers", "server", server("one", json!({ "start_after_create": false })))
        .await;
    assert_eq!(made["status"], "off");
    let path = format!("/servers/{}", made["id"]);
    let attach = format!("{path}/actions/attach_to_network");
    let wish = |ip: &str| json!({ "network": network, "ip": ip });
    assert_eq!(cloud.post(&attach, wish("10.0.1.1")).await.code(), "no_subnet_available");
    assert_eq!(cloud.post(&attach, wish("nonsense")).await.code(), "invalid_input");
    cloud.act(&attach, wish("10.0.64.11")).await;
    assert_eq!(cloud.post(&attach, wish("10.0.64.12")).await.code(), "server_already_attached");
    cloud.act(&format!("{path}/actions/poweron"), json!({})).await;
    assert_eq!(cloud.get(&path).await.ok()["server"]["private_net"][0]["ip"], "10.0.64.11");
    assert_eq!(cloud.machines.told(1).await, [("runs", "one".to_owned())]);

    let other = cloud.order("/servers", "server", server("two", json!({}))).await;
    let attach = format!("/servers/{}/actions/attach_to_network", other["id"]);
    assert_eq!(cloud.post(&attach, wish("10.0.64.11")).await.code(), "ip_not_available");
    cloud.hetzner.turn(|knobs| knobs.wrong_private_ips = 1);
    cloud.act(&attach, wish("10.0.64.12")).await;
    let seen = cloud.get(&format!("/servers/{}", other["id"])).await.ok();
    assert_eq!(
        seen["server"]["private_net"][0]["ip"], "10.0.64.1",
        "not the one that was asked for"
    );
}

#[tokio::test]
async fn power_is_told_and_a_deleted_server_is_gone() {
    let cloud = instant().await;
    let made = cloud.order("/servers", "server", server("one", json!({}))).await;
    let path = format!("/servers/{}", made["id"]);
    for action in ["shutdown", "poweron", "reset", "poweroff", "request_console"] {
        cloud.act(&format!("{path}/actions/{action}"), json!({})).await;
    }
    assert_eq!(cloud.get(&path).await.ok()["server"]["status"], "off");
    let said = cloud.delete(&path).await.ok();
    cloud.finish(&said).await;
    assert_eq!(cloud.get(&path).await.code(), "not_found");
    let entries: Vec<&str> = cloud.machines.told(7).await.iter().map(|(what, _)| *what).collect();
    let power = ["runs", "stopped", "runs", "stopped", "runs", "stopped", "gone"];
    assert_eq!(entries, power);
    let again = cloud.order("/servers", "server", server("two", json!({}))).await;
    let address = |server: &Value| server["public_net"]["ipv4"]["ip"].clone();
    assert_eq!(address(&again), address(&made), "the address was given back");
}

#[tokio::test]
async fn orders_that_cannot_be_are_refused_and_leave_nothing() {
    let cloud = instant().await;
    let long = "x".repeat(32 * 1024 + 1);
    for (more, code) in [
        (json!({ "server_type": "cx99" }), "invalid_input"),
        (json!({ "server_type": "cx22" }), "invalid_server_type"),
        (json!({ "location": "ash" }), "invalid_input"),
        (json!({ "image": "windows" }), "invalid_input"),
        (json!({ "name": "under_score" }), "invalid_input"),
        (json!({ "ssh_keys": ["nobody"] }), "invalid_input"),
        (json!({ "networks": [1] }), "not_found"),
        (json!({ "firewalls": [{ "firewall": 1 }] }), "not_found"),
        (json!({ "placement_group": 1 }), "not_found"),
        (json!({ "user_data": long }), "invalid_input"),
        (json!({ "volumes": [1] }), "not_implemented"),
        (json!({ "labels": { "a b": "c" } }), "invalid_input"),
        (json!({ "labels": { "hetzner.cloud/a": "c" } }), "invalid_input"),
        (json!({ "datacenter": "fsn1-dc14" }), "invalid_input"),
        (json!({ "public_net": { "enable_ipv4": false, "enable_ipv6": false } }), "invalid_input"),
        (json!({ "automount": true }), "not_implemented"),
    ] {
        let said = cloud.post("/servers", server("one", more.clone())).await;
        assert_eq!(said.code(), code, "{more}");
    }
    assert_eq!(cloud.get("/servers").await.ok()["servers"], json!([]));
    assert!(cloud.effects.all().is_empty());
}

#[tokio::test]
async fn shortage_and_limits_stop_an_order() {
    let cloud = instant().await;
    let shortage =
        Shortage { server_type: "cx23".to_owned(), location: None, known: Known::OnlyWhenOrdered };
    cloud.hetzner.turn(|knobs| knobs.shortages.push(shortage));
    let said = cloud.post("/servers", server("one", json!({}))).await;
    assert_eq!(said.code(), "resource_unavailable");
    cloud.hetzner.turn(|knobs| {
        knobs.shortages.clear();
        knobs.server_limit = Some(1);
    });
    cloud.post("/servers", server("one", json!({}))).await.ok();
    let twice = cloud.post("/servers", server("one", json!({}))).await;
    assert_eq!(twice.code(), "uniqueness_error");
    let second = cloud.post("/servers", server("two", json!({}))).await;
    assert_eq!((second.status.as_u16(), second.code()), (403, "resource_limit_exceeded"));
}

#[tokio::test]
async fn an_action_can_end_with_an_error() {
    let cloud = instant().await;
    cloud.hetzner.turn(|knobs| {
        knobs.failing_actions.insert("create_server".to_owned(), 1);
    });
    let made = cloud.post("/servers", server("one", json!({}))).await.ok();
    let ended = cloud.outcome(made["action"]["id"].as_i64().unwrap()).await;
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("error"), &json!("action_failed"))
    );
    let next = cloud.outcome(made["next_actions"][0]["id"].as_i64().unwrap()).await;
    assert_eq!(next["status"], "error", "what follows cannot succeed");
    assert_eq!(cloud.get("/servers").await.ok()["servers"], json!([]));
    cloud.order("/servers", "server", server("one", json!({}))).await;
}

#[tokio::test]
async fn a_shortage_may_show_only_in_the_action() {
    let cloud = instant().await;
    let shortage =
        Shortage { server_type: "cx23".to_owned(), location: None, known: Known::OnlyInTheAction };
    cloud.hetzner.turn(|knobs| knobs.shortages.push(shortage));
    let made = cloud.post("/servers", server("one", json!({}))).await.ok();
    let ended = cloud.outcome(made["action"]["id"].as_i64().unwrap()).await;
    assert_eq!(ended["error"]["code"], "resource_unavailable");
    assert_eq!(cloud.get("/servers").await.ok()["servers"], json!([]));
}

#[tokio::test]
async fn a_type_that_has_ended_may_still_be_called_available() {
    let cloud = instant().await;
    let location = Some("fsn1".to_owned());
    let ended = Shortage { server_type: "cx23".to_owned(), location, known: Known::Ended };
    cloud.hetzner.turn(|knobs| knobs.shortages.push(ended));
    let said = cloud.get("/server_types?name=cx23").await.ok();
    let here = &said["server_types"][0]["locations"][0];
    assert_eq!((&here["name"], &here["available"]), (&json!("fsn1"), &json!(true)));
    assert_eq!(here["deprecation"]["unavailable_after"], "2026-01-01T00:00:00Z");
    assert_eq!(said["server_types"][0]["locations"][1]["deprecation"], Value::Null);
    let order = cloud.post("/servers", server("one", json!({}))).await;
    assert_eq!(order.code(), "invalid_server_type");
}

#[tokio::test]
async fn a_server_is_protected_from_deletion_and_rebuild_at_once() {
    let cloud = instant().await;
    let made = cloud.order("/servers", "server", server("one", json!({}))).await;
    let path = format!("/servers/{}", made["id"]);
    let protect = format!("{path}/actions/change_protection");
    for unequal in [json!({ "delete": true }), json!({ "delete": true, "rebuild": false })] {
        assert_eq!(cloud.post(&protect, unequal).await.code(), "invalid_input");
    }
    cloud.act(&protect, json!({ "delete": true, "rebuild": true })).await;
    let seen = cloud.get(&path).await.ok();
    assert_eq!(seen["server"]["protection"], json!({ "delete": true, "rebuild": true }));
    let refused = cloud.delete(&path).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (423, "protected"));
}

#[tokio::test]
async fn a_server_can_vanish() {
    let cloud = instant().await;
    let made = cloud.order("/servers", "server", server("one", json!({}))).await;
    assert!(cloud.hetzner.vanish("one"));
    assert!(!cloud.hetzner.vanish("one"));
    assert_eq!(cloud.get(&format!("/servers/{}", made["id"])).await.code(), "not_found");
    assert_eq!(cloud.machines.told(2).await[1], ("gone", "one".to_owned()));
}

#[tokio::test]
async fn actions_are_listed_by_id_by_server_and_by_kind() {
    let cloud = instant().await;
    let made = cloud.order("/servers", "server", server("one", json!({}))).await;
    let path = format!("/servers/{}", made["id"]);
    let mine = cloud.get(&format!("{path}/actions?sort=id:desc")).await.ok();
    let commands: Vec<&Value> =
        mine["actions"].as_array().unwrap().iter().map(|it| &it["command"]).collect();
    assert_eq!(commands, ["start_server", "create_server"]);
    let id = &mine["actions"][0]["id"];
    let by_id = cloud.get(&format!("/actions?id={id}&id=1&sort=status&sort=id")).await.ok();
    assert_eq!(by_id["actions"].as_array().unwrap().len(), 1);
    assert_eq!(by_id["actions"][0]["progress"], 100);
    assert_eq!(cloud.get("/servers/actions").await.ok()["actions"].as_array().unwrap().len(), 2);
    assert_eq!(cloud.get(&format!("{path}/actions/{id}")).await.ok()["action"]["id"], *id);
}

#[tokio::test]
async fn a_network_is_joined_once() {
    let cloud = instant().await;
    let network = network(&cloud).await;
    let order = server("one", json!({ "networks": [network, network] }));
    assert_eq!(cloud.post("/servers", order).await.code(), "invalid_input");
}

/// A minute of simulated time passes at once where the clock is discrete.
#[tokio::test(start_paused = true)]
async fn a_discrete_clock_will_do() {
    let cloud = slow().await;
    let network = network(&cloud).await;
    let before = tokio::time::Instant::now();
    let order = server("one", json!({ "networks": [network] }));
    let said = cloud.post("/servers", order).await.ok();
    cloud.finish(&said).await;
    assert!(before.elapsed() >= Duration::from_mins(1));
    let seen = cloud.get(&format!("/servers/{}", said["server"]["id"])).await.ok();
    assert_eq!(seen["server"]["status"], "running");
}
