//! Every wish: what goes over the wire, what is kept of the answer, and when
//! a look finds it fulfilled.

use clouds::Labels;
use clouds::hetzner::{
    AddSubnet, AddTarget, ApplyFirewall, AttachLoadBalancer, AttachServer, CreateFirewall,
    CreateLoadBalancer, CreateNetwork, CreateServer, CreateSshKey, Direction, Firewall,
    HealthCheck, HttpCheck, Id, Listed, LoadBalancer, Network, Ours, PowerOn, PublicAddresses,
    Resource, Rule, Server, Service, SetRules, SetService, Wish,
};
use events::{CallClass, Made};
use serde_json::{Value, json};

use crate::api::{Api, Seen, json};
use crate::permits::Permits;
use crate::wire;

/// Sends a wish, and returns what was sent and what is kept of the answer.
async fn send(wish: &impl Wish, answer: &Value) -> (Seen, Made) {
    let api = Api::playing([json(201, answer)]).await;
    let permit = Permits::new().wish(wish).await;
    let made = api.client().send(permit, wish).await.unwrap();
    let seen = api.seen();
    assert_eq!(seen.len(), 1, "one wish is one request");
    (seen[0].clone(), made)
}

async fn look(wish: &impl Wish, answer: &Value) -> Option<Made> {
    let api = Api::playing([json(200, answer)]).await;
    let made = api.client().look(wish).await.unwrap();
    assert!(api.lines().iter().all(|line| line.starts_with("GET ")), "a look only reads");
    made
}

/// What a look finds of a thing.
async fn ours<R: Resource>(body: &Value) -> Ours<R> {
    let api = Api::playing([json(200, &wire::list(R::PLURAL, std::slice::from_ref(body)))]).await;
    api.client().find(body["name"].as_str().unwrap()).await.unwrap().unwrap()
}

fn labels() -> Labels {
    [("seaworthy.dev/cluster".to_owned(), "demo".to_owned())].into()
}

#[tokio::test]
async fn a_network_is_made_with_our_id_on_it() {
    let wish = CreateNetwork {
        name: "demo".to_owned(),
        ip_range: "10.0.0.0/16".parse().unwrap(),
        labels: labels(),
    };
    assert_eq!(wish.call().to_string(), "create network demo");
    assert_eq!(wish.call().class, CallClass::Named);
    let there = wire::network(1, "demo", &wire::labels());
    let (seen, made) = send(&wish, &json!({ "network": there })).await;
    assert_eq!(seen.line, "POST /networks");
    let body = json!({ "name": "demo", "ip_range": "10.0.0.0/16", "labels": wire::labels() });
    assert_eq!(seen.body, body);
    assert_eq!(made, Made::id("network", "1"));
    assert_eq!(look(&wish, &wire::list("networks", &[])).await, None);
    let found = look(&wish, &wire::list("networks", std::slice::from_ref(&there))).await;
    assert_eq!(found, Some(Made::id("network", "1")));
    let other = CreateNetwork { ip_range: "10.8.0.0/16".parse().unwrap(), ..wish.clone() };
    assert_ne!(wish.call().request, other.call().request, "a changed wish is another one");
    let network = ours::<Network>(&there).await;
    assert!(wish.differences(&network).is_empty());
    assert_eq!(other.differences(&network), ["ip_range is 10.0.0.0/16, not 10.8.0.0/16"]);
}

#[tokio::test]
async fn a_subnet_is_told_by_its_addresses() {
    let there = wire::network(1, "demo", &wire::labels());
    let network = ours::<Network>(&there).await;
    let subnet = |range: &str| AddSubnet {
        network: network.clone(),
        ip_range: range.parse().unwrap(),
        network_zone: "eu-central".to_owned(),
    };
    let wish = subnet("10.0.64.128/25");
    let (seen, made) = send(&wish, &json!({ "action": wire::action(9, "running") })).await;
    assert_eq!(seen.line, "POST /networks/1/actions/add_subnet");
    let body =
        json!({ "type": "cloud", "ip_range": "10.0.64.128/25", "network_zone": "eu-central" });
    assert_eq!(seen.body, body);
    assert_eq!(made, Made::id("network", "1").action("9"));
    assert_eq!(look(&wish, &json!({ "network": there })).await, None);
    let found = look(&subnet("10.0.64.0/25"), &json!({ "network": there })).await;
    assert_eq!(found, Some(Made::id("network", "1")));
}

fn rule(port: &str) -> Rule {
    Rule {
        direction: Direction::In,
        protocol: "tcp".to_owned(),
        port: Some(port.to_owned()),
        source_ips: vec!["0.0.0.0/0".parse().unwrap()],
        destination_ips: vec![],
        description: Some("an API".to_owned()),
    }
}

#[tokio::test]
async fn a_firewall_is_made_without_a_label_selector() {
    let wish =
        CreateFirewall { name: "demo".to_owned(), rules: vec![rule("6443")], labels: labels() };
    let there = wire::firewall(3, "demo", &json!([]), &wire::labels());
    let actions = [wire::action(8, "running"), wire::action(9, "running")];
    let (seen, made) = send(&wish, &json!({ "firewall": there, "actions": actions })).await;
    assert_eq!(seen.line, "POST /firewalls");
    assert!(seen.body.get("apply_to").is_none(), "each server is ordered with its firewall");
    assert_eq!(seen.body["labels"], wire::labels());
    assert_eq!(made, Made::id("firewall", "3").action("8").action("9"));
    let firewall = ours::<Firewall>(&there).await;

    let wish = SetRules { firewall: firewall.clone(), rules: vec![rule("50000")] };
    assert_eq!(wish.call().class, CallClass::Idempotent);
    assert_eq!(look(&wish, &json!({ "firewall": there })).await, None);
    let (seen, _) = send(&wish, &json!({ "actions": actions })).await;
    assert_eq!(seen.line, "POST /firewalls/3/actions/set_rules");
    assert_eq!(seen.body["rules"][0]["port"], "50000");
    let wish = SetRules { firewall, rules: vec![rule("6443")] };
    assert!(look(&wish, &json!({ "firewall": there })).await.is_some());
}

#[tokio::test]
async fn a_firewall_is_put_on_a_server_that_has_lost_it() {
    let firewall = ours(&wire::firewall(3, "demo", &json!([]), &wire::labels())).await;
    let there = wire::server(7, "demo-cp-1", "off", &wire::labels());
    let wish = ApplyFirewall { firewall, server: ours(&there).await };
    assert!(look(&wish, &json!({ "server": there })).await.is_some());
    let mut bare = there.clone();
    bare["public_net"]["firewalls"] = json!([]);
    assert_eq!(look(&wish, &json!({ "server": bare })).await, None);
    let (seen, _) = send(&wish, &json!({ "actions": [wire::action(9, "running")] })).await;
    assert_eq!(seen.line, "POST /firewalls/3/actions/apply_to_resources");
    let to = json!([{ "type": "server", "server": { "id": 7 } }]);
    assert_eq!(seen.body, json!({ "apply_to": to }));
}

fn service(status: &str) -> Service {
    Service {
        protocol: "tcp".to_owned(),
        listen_port: 6443,
        destination_port: 6443,
        proxyprotocol: false,
        health_check: HealthCheck {
            protocol: "http".to_owned(),
            port: 6443,
            interval: 3,
            timeout: 2,
            retries: 2,
            http: Some(HttpCheck {
                domain: None,
                path: "/version".to_owned(),
                response: None,
                status_codes: vec![status.to_owned()],
                tls: true,
            }),
        },
    }
}

#[tokio::test]
async fn a_load_balancer_is_made_then_attached_then_given_targets() {
    let wish = CreateLoadBalancer {
        name: "demo-api".to_owned(),
        load_balancer_type: "lb11".to_owned(),
        location: "fsn1".to_owned(),
        public_interface: true,
        service: service("401"),
        labels: labels(),
    };
    let bare = wire::load_balancer(4, "demo-api", &json!([]), &wire::labels());
    let answer = json!({ "load_balancer": bare, "action": wire::action(9, "running") });
    let (seen, made) = send(&wish, &answer).await;
    assert_eq!(seen.line, "POST /load_balancers");
    let http = &seen.body["services"][0]["health_check"]["http"];
    assert_eq!(http["status_codes"], json!(["401"]));
    assert_eq!(http.get("domain"), Some(&Value::Null), "required, and null sends no Host header");
    assert_eq!(made, Made::id("load balancer", "4").action("9"));

    let balancer = ours::<LoadBalancer>(&bare).await;
    assert_eq!(wish.differences(&balancer), ["nothing listens on port 6443"]);
    let (network, ip) = (Id::new(1), "10.0.64.139".parse().unwrap());
    let wish = AttachLoadBalancer { load_balancer: balancer.clone(), network, ip };
    assert_eq!(look(&wish, &json!({ "load_balancer": bare })).await, None);
    let (seen, _) = send(&wish, &json!({ "action": wire::action(10, "running") })).await;
    assert_eq!(seen.line, "POST /load_balancers/4/actions/attach_to_network");
    assert_eq!(seen.body, json!({ "network": 1, "ip": "10.0.64.139" }));
    let net = json!([{ "network": 1, "ip": "10.0.64.139" }]);
    let attached = wire::load_balancer(4, "demo-api", &net, &wire::labels());
    assert!(look(&wish, &json!({ "load_balancer": attached })).await.is_some());

    let selector = "role=control-plane".to_owned();
    let wish = AddTarget { load_balancer: balancer, selector };
    assert_eq!(look(&wish, &json!({ "load_balancer": attached })).await, None);
    let (seen, _) = send(&wish, &json!({ "action": wire::action(11, "running") })).await;
    assert_eq!(seen.line, "POST /load_balancers/4/actions/add_target");
    assert_eq!(seen.body["use_private_ip"], true);
}

#[tokio::test]
async fn a_health_check_that_differs_is_set() {
    let mut there = wire::load_balancer(4, "demo-api", &json!([]), &wire::labels());
    there["services"] = json!([{
        "protocol": "tcp", "listen_port": 6443, "destination_port": 6443, "proxyprotocol": false,
        "health_check": { "protocol": "http", "port": 6443, "interval": 3, "timeout": 2,
            "retries": 2, "http": { "domain": null, "path": "/version", "response": "",
                                    "status_codes": ["401"], "tls": true } },
    }]);
    let load_balancer = ours::<LoadBalancer>(&there).await;
    let create = |status, location: &str| CreateLoadBalancer {
        name: "demo-api".to_owned(),
        load_balancer_type: "lb11".to_owned(),
        location: location.to_owned(),
        public_interface: true,
        service: service(status),
        labels: labels(),
    };
    assert!(create("401", "fsn1").differences(&load_balancer).is_empty());
    let differences = create("200", "hel1").differences(&load_balancer);
    assert_eq!(differences[0], "location is fsn1, not hel1");
    assert!(differences[1].contains(r#""status_codes":["401"]"#), "{differences:?}");
    assert!(differences[1].contains(r#""status_codes":["200"]"#), "{differences:?}");
    let wish =
        |status| SetService { load_balancer: load_balancer.clone(), service: service(status) };
    assert!(look(&wish("401"), &json!({ "load_balancer": there })).await.is_some());
    assert_eq!(look(&wish("200"), &json!({ "load_balancer": there })).await, None);
    let (seen, _) = send(&wish("200"), &json!({ "action": wire::action(9, "running") })).await;
    assert_eq!(seen.line, "POST /load_balancers/4/actions/update_service");
    assert_eq!(seen.body["listen_port"], 6443);
}

fn create_server() -> CreateServer {
    CreateServer {
        name: "demo-cp-1".to_owned(),
        server_type: "cax11".to_owned(),
        location: "fsn1".to_owned(),
        image: Id::new(1042),
        ssh_keys: vec![Id::new(2)],
        firewalls: vec![Id::new(3)],
        placement_group: Some(Id::new(5)),
        public: PublicAddresses { ipv4: true, ipv6: true },
        labels: labels(),
    }
}

#[tokio::test]
async fn a_server_is_made_behind_its_firewall_and_does_not_start() {
    let there = wire::server(7, "demo-cp-1", "off", &wire::labels());
    let answer = json!({
        "server": there, "action": wire::action(20, "running"),
        "next_actions": [wire::action(21, "running")], "root_password": null,
    });
    let (seen, made) = send(&create_server(), &answer).await;
    assert_eq!(seen.line, "POST /servers");
    let server = ours::<Server>(&there).await;
    assert!(create_server().differences(&server).is_empty());
    let other =
        CreateServer { server_type: "cax21".to_owned(), placement_group: None, ..create_server() };
    let differences = ["server_type is cax11, not cax21", "placement_group is 5, not none"];
    assert_eq!(other.differences(&server), differences);
    assert_eq!(
        seen.body,
        json!({
            "name": "demo-cp-1", "server_type": "cax11", "location": "fsn1", "image": "1042",
            "ssh_keys": [2], "firewalls": [{ "firewall": 3 }], "placement_group": 5,
            "public_net": { "enable_ipv4": true, "enable_ipv6": true },
            "start_after_create": false, "labels": wire::labels(),
        })
    );
    assert_eq!(made, Made::id("server", "7").action("20").action("21"));
}

/// A password that Hetzner makes up must not reach a journal.
#[tokio::test]
async fn a_root_password_is_not_kept() {
    let there = wire::server(7, "demo-cp-1", "off", &wire::labels());
    let answer = json!({ "server": there, "action": null, "root_password": "hunter22hunter22" });
    let (_, made) = send(&create_server(), &answer).await;
    assert!(!format!("{made:?}").contains("hunter22"));
}

#[tokio::test]
async fn a_server_is_attached_at_its_address_and_started() {
    let mut there = wire::server(7, "demo-cp-1", "off", &wire::labels());
    let server = ours::<Server>(&there).await;
    let (network, ip) = (Id::new(2), "10.0.64.11".parse().unwrap());
    let wish = AttachServer { server: server.clone(), network, ip };
    assert_eq!(wish.call().to_string(), "attach server demo-cp-1 (7) to network 2");
    assert_eq!(look(&wish, &json!({ "server": there })).await, None, "in another network");
    let (seen, _) = send(&wish, &json!({ "action": wire::action(30, "running") })).await;
    assert_eq!(seen.line, "POST /servers/7/actions/attach_to_network");
    assert_eq!(seen.body, json!({ "network": 2, "ip": "10.0.64.11" }));
    let wish = AttachServer { network: Id::new(1), ..wish };
    assert!(look(&wish, &json!({ "server": there })).await.is_some());

    let wish = PowerOn { server };
    assert_eq!(look(&wish, &json!({ "server": there })).await, None);
    let (seen, made) = send(&wish, &json!({ "action": wire::action(31, "running") })).await;
    assert_eq!(seen.line, "POST /servers/7/actions/poweron");
    assert_eq!(made, Made::id("server", "7").action("31"));
    there["status"] = json!("starting");
    assert!(look(&wish, &json!({ "server": there })).await.is_some());
}

#[tokio::test]
async fn a_server_tells_how_it_is_reached() {
    let mut there = wire::server(7, "demo-cp-1", "running", &wire::labels());
    let server = ours::<Server>(&there).await;
    assert_eq!(server.public_address(), Some("127.77.3.11".parse().unwrap()));
    assert_eq!(server.address_in(Id::new(1)), Some("10.0.64.11".parse().unwrap()));
    assert!(server.is_behind(Id::new(3)) && !server.is_behind(Id::new(4)));
    there["public_net"]["ipv4"] = Value::Null;
    there["public_net"]["firewalls"][0]["status"] = json!("pending");
    there["status"] = json!("a status of tomorrow");
    let server = ours::<Server>(&there).await;
    assert_eq!(server.public_address(), Some("2001:db8:1::1".parse().unwrap()));
    assert!(!server.is_behind(Id::new(3)), "not yet in force");
}

#[tokio::test]
async fn a_key_spares_the_password() {
    let public_key = "ssh-ed25519 AAAA demo".to_owned();
    let wish = CreateSshKey { name: "demo".to_owned(), public_key, labels: labels() };
    let there = json!({ "id": 2, "name": "demo", "fingerprint": "b7:2f", "labels": wire::labels(),
                        "public_key": "ssh-ed25519 AAAA demo", "created": "2026-11-15T12:00:00Z" });
    let (seen, made) = send(&wish, &json!({ "ssh_key": there })).await;
    assert_eq!(seen.line, "POST /ssh_keys");
    assert_eq!(made, Made::id("ssh key", "2"));
    assert!(look(&wish, &wire::list("ssh_keys", &[there])).await.is_some());
}
